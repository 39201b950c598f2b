"""Documents get white space, and keep all else."""

from random import Random

import pytest
import spacy

from spacy_decoders.components.parser.gold import collect_labels, read_gold
from spacy_decoders.readers.sentences import Sentence
from spacy_decoders.readers.white_space import with_white_space
from spacy_decoders.registry.readers import column_corpus, conllu_corpus

from .files import CONLLU, written

#: The second word heads all others, and the name may not be parted.
LONG = Sentence(
    words=tuple(f"word{i}" for i in range(40)),
    spaces=(True,) * 40,
    tags=("NN",) * 40,
    heads=(2, 0, *[2] * 38),
    deps=("dep", "ROOT", *["dep"] * 38),
    ents=("B-PER", *["I-PER"] * 29, *["O"] * 10),
)


@pytest.mark.parametrize("seed", range(30))
def test_words_keep_their_annotation(seed):
    for sentence in with_white_space([LONG, LONG, LONG], Random(seed)):
        words = [i for i, word in enumerate(sentence.words) if not word.isspace()]
        assert [sentence.words[i] for i in words] == list(LONG.words)
        assert [sentence.tags[i] for i in words] == list(LONG.tags)
        assert [sentence.ents[i] for i in words] == list(LONG.ents)
        heads = [sentence.heads[i] for i in words]
        assert [h and words.index(h - 1) + 1 for h in heads] == list(LONG.heads)
        for i in set(range(len(sentence))) - set(words):
            assert sentence.heads[i] is None and sentence.tags[i] == sentence.ents[i] == ""
            assert not sentence.spaces[i]
            assert sentence.spaces[i - 1] == (sentence.words[i] == " ")


def test_a_share_of_the_documents_has_white_space_that_teaches_no_heads(tmp_path):
    path = written(tmp_path, "a.conllu", CONLLU * 40)
    nlp = spacy.blank("en")
    examples = list(conllu_corpus(path, n_sents=2, gold_sents=True, white_space=0.5)(nlp))
    spaced = [any(t.is_space for t in example.predicted) for example in examples]
    assert 0.1 < sum(spaced) / len(spaced) < 0.6
    plain = list(conllu_corpus(path, n_sents=2)(nlp))
    for example, other in zip(examples, plain, strict=True):
        kept = [token for token in example.reference if not token.is_space]
        assert [token.text for token in kept] == [token.text for token in other.reference]
        assert [token.head.text for token in kept] == [t.head.text for t in other.reference]
        assert len(list(example.reference.sents)) == len(list(other.reference.sents))
    labels, tags, _ = collect_labels(examples)
    assert (labels, tags) == collect_labels(plain)[:2]
    gold, _ = read_gold(examples, labels, tags)
    blank = [token.is_space for example in examples for token in example.predicted]
    assert (gold.heads[blank] == -2).all() and (gold.tags[blank] == -2).all()
    assert (gold.starts[blank] == 0).all()


def test_entities_are_not_parted(tmp_path):
    rows = "".join(f"{i}\tEsther\t{'B' if i == 1 else 'I'}-PER\n" for i in range(1, 60))
    path = written(tmp_path, "a.tsv", (rows + "\n") * 8)
    corpus = column_corpus(path, ["-", "form", "ent"], n_sents=2, white_space=1.0)
    for example in corpus(spacy.blank("en")):
        assert [len(ent) for ent in example.reference.ents] == [59, 59]
