"""CoNLL-U, CoNLL-X and column files become Examples."""

from dataclasses import replace

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_decoders import ProblemError
from spacy_decoders.registry.readers import column_corpus, conllu_corpus, joined_corpus

from .files import COLUMNS, CONLLU, CONLLX, written


def test_conllu_corpus_makes_docs_of_sentences_within_documents(tmp_path):
    nlp = spacy.blank("en")
    path = written(tmp_path, "tiny.conllu", CONLLU)
    examples = list(conllu_corpus(path, n_sents=5)(nlp))
    assert [len(list(example.reference.sents)) for example in examples] == [2, 1]
    reference = examples[0].reference
    assert reference.text == "Don't go! # stay "
    assert [token.head.i for token in reference] == [2, 2, 2, 2, 5, 5]
    assert [token.dep_ for token in reference][2] == "ROOT"
    predicted = examples[0].predicted
    assert [token.text for token in predicted] == [token.text for token in reference]
    assert not predicted.has_annotation("TAG")
    assert not predicted.has_annotation("SENT_START")
    shown = next(iter(conllu_corpus(path, n_sents=2, gold_sents=True)(nlp)))
    assert [sent.start for sent in shown.predicted.sents] == [0, 4]
    raw = next(iter(conllu_corpus(path, n_sents=1, gold_tokens=False)(nlp)))
    assert raw.predicted.text == raw.reference.text


@pytest.mark.parametrize("format", ["conllu", "conllx"])
def test_a_comment_apart_from_its_sentence_begins_a_document(tmp_path, format):
    row = "1\tword\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    content = f"{row}# newdoc id = b\n\n# license = none\n\n{row}{row}# newdoc\n\n\n{row}"
    path = written(tmp_path, f"apart.{format}", content)
    corpus = conllu_corpus(path, n_sents=0)
    assert [len(document) for document in corpus.documents()] == [1, 2, 1]


def test_random_documents_are_alike_in_every_run_and_cut_anew_in_every_pass(tmp_path):
    content = "".join(f"1\tw{i}\t_\tX\t_\t_\t0\troot\t_\t_\n\n" for i in range(60))
    path = written(tmp_path, "many.conllu", content)
    corpora = [conllu_corpus(path, n_sents=10, random_sents=True) for _ in range(2)]
    passes = [[[len(d) for d in corpus.documents()] for _ in range(3)] for corpus in corpora]
    assert passes[0] == passes[1]
    assert passes[0][0] != passes[0][1]
    assert all(sum(sizes) == 60 and max(sizes) <= 10 for sizes in passes[0])


def test_some_documents_show_their_boundaries(tmp_path):
    path = written(tmp_path, "a.conllu", CONLLU * 30)
    options = {"n_sents": 2, "gold_sents": True}
    corpora = [conllu_corpus(path, gold_sents_share=0.5, **options) for _ in range(2)]
    shown = [
        [example.predicted.has_annotation("SENT_START") for example in corpus(spacy.blank("en"))]
        for corpus in corpora
    ]
    assert shown[0] == shown[1]
    assert 0.2 < sum(shown[0]) / len(shown[0]) < 0.8
    for share in (0.0, 1.0):
        corpus = conllu_corpus(path, gold_sents_share=share, **options)
        assert all(
            example.predicted.has_annotation("SENT_START") == share
            for example in corpus(spacy.blank("en"))
        )


def test_conllx_keeps_boundaries_despite_two_roots_and_crossing_arcs(tmp_path):
    nlp = spacy.blank("da")
    corpus = conllu_corpus(written(tmp_path, "tiny.conll", CONLLX), n_sents=2)
    reference = next(iter(corpus(nlp))).reference
    assert [sent.start for sent in reference.sents] == [0, 2]
    assert [token.tag_ for token in reference] == ["PP3", "VAD", "NC", "NC", "NC", "NC"]
    assert [token.head.i for token in reference] == [0, 1, 4, 5, 4, 4]
    assert not reference.has_annotation("MORPH")


def test_column_corpus_reads_tags_and_entities(tmp_path):
    nlp = spacy.blank("en")
    path = written(tmp_path, "tiny.tsv.gz", COLUMNS)
    corpus = column_corpus(path, ["form", "tag", "ent"], n_sents=0)
    (example,) = corpus(nlp)
    assert [token.text for token in example.reference] == [
        "Mercury", "shines", "#", "New", "York",
    ]  # fmt: skip
    assert [(ent.text, ent.label_) for ent in example.reference.ents] == [
        ("Mercury", "PLANET"),
        ("New York", "LOC"),
    ]
    assert not example.predicted.ents


def test_a_folder_is_read_in_the_order_of_names(tmp_path):
    written(tmp_path, "b.conllu", CONLLU)
    written(tmp_path, "a.conllu.gz", CONLLU.replace("stay", "leave"))
    written(tmp_path, "notes.md", "no corpus")
    corpus = conllu_corpus(tmp_path)
    assert len(corpus.sentences) == 6
    assert "leave" in corpus.sentences[1].words
    assert len(list(conllu_corpus(tmp_path, limit=4).documents())) == 4


def test_spacys_own_files_are_read_like_those_they_were_made_of(tmp_path):
    nlp = spacy.blank("en")
    trees, table = written(tmp_path, "a.conllu", CONLLU), written(tmp_path, "a.tsv", COLUMNS)
    columns = ["form", "tag", "ent"]
    corpora = conllu_corpus(trees, n_sents=2), column_corpus(table, columns, n_sents=2)
    packed = tmp_path / "same.spacy"
    for corpus in corpora:
        docs = [example.reference for example in corpus(nlp)]
        DocBin(docs=docs).to_disk(packed)
        read = [example.reference for example in replace(corpus, path=packed)(nlp)]
        assert [doc.to_json() for doc in read] == [doc.to_json() for doc in docs]
        assert len(replace(corpus, path=packed, limit=1).sentences) == 1
    renamed = replace(corpora[-1], path=packed, types={"PLANET": "STAR"})
    assert [e.label_ for example in renamed(nlp) for e in example.reference.ents] == ["STAR"]
    DocBin(docs=[nlp("No boundary. None")]).to_disk(packed)
    assert [len(sentence) for sentence in conllu_corpus(packed).sentences] == [4]


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        (None, {}, "path: no corpus given"),
        (".", {}, "path: .* no folder with a file that ends with .conllu"),
        (".", {"white_space": -0.1}, "white_space: expected a share from 0 to 1"),
        ("x.conllu", {}, "x.conllu, line 1: 2 columns, without lemma"),
        ("x.conllu", {"columns": ["form", "colour"]}, "columns: expected 'form'"),
    ],
)
def test_bad_corpora_are_refused_by_name(tmp_path, path, options, message):
    where = path and tmp_path / path
    if path == "x.conllu":
        written(tmp_path, path, "one\ttwo\n\n")
    with pytest.raises(ProblemError, match=message):
        make = column_corpus if "columns" in options else conllu_corpus
        list(make(where, **options)(spacy.blank("xx")))


@pytest.mark.data
def test_real_corpora_are_read_whole(data):
    nlp = spacy.blank("xx")
    ewt = conllu_corpus(data / "parsing/UD_English-EWT/en_ewt-ud-dev.conllu.gz", n_sents=10)
    danish = conllu_corpus(data / "parsing/cdt-danish-ddt/da_ddt_dev.conll.gz", n_sents=3)
    names = column_corpus(
        data / "tagging/UNER_English-EWT/en_ewt-ud-dev.iob2", ["-", "form", "ent", "-", "-"]
    )
    for corpus, sentences, tokens in ((ewt, 2001, 25147), (danish, 627, 10058)):
        references = [example.reference for example in corpus(nlp)]
        assert sum(len(list(doc.sents)) for doc in references) == sentences
        assert sum(map(len, references)) == tokens
    assert sum(len(example.reference.ents) for example in names(nlp)) > 500


def test_corpora_whose_types_differ(tmp_path):
    (tmp_path / "a.tsv").write_text("Kim\tB-PER\nsaw\tO\n\n")
    (tmp_path / "b.tsv").write_text("IBM\tB-firm\nCorp\tI-firm\nx\tB-game\nAlien\tB-film\n\n")
    columns, types = ["form", "ent"], {"firm": "ORG", "game": "O"}
    corpus = joined_corpus(
        {
            "a": column_corpus(tmp_path / "a.tsv", columns),
            "b": column_corpus(tmp_path / "b.tsv", columns, types=types),
        }
    )
    found = [example.get_aligned_ner() for example in corpus(spacy.blank("en"))]
    assert found == [["U-PER", "O"], ["B-ORG", "L-ORG", "O", None]]
    misspelt = column_corpus(
        tmp_path / "b.tsv", columns, types={**types, "Film": "WORK", "book": "O"}
    )
    with pytest.warns(
        UserWarning, match=r"types: b.tsv has no entity 'Film'; did you mean 'film'"
    ):
        list(misspelt(spacy.blank("en")))
    with pytest.raises(ProblemError, match="corpora: expected at least one"):
        joined_corpus({})
