"""Texts for the teacher: words become text again, with the places of their entities."""

import sys
from pathlib import Path

from spacy_decoders.readers.sentences import read_conllu
from tests.corpora import conllu

sys.path.append(str(Path(__file__).parents[2] / "projects" / "english" / "scripts"))
import free_texts
import tree_data


def test_words_become_text_with_the_places_of_entities():
    rows = [
        ("@", "B-PER"), ("kim", "B-PER"), ("wo", "O"), ("n't", "O"), ("leave", "O"),
        ("(", "O"), ("New", "B-LOC"), ("York", "I-LOC"), (")", "O"), ("!", "O"), ("!", "O"),
        ("``", "O"), ("Lumen", "B-product"), ("''", "O"),
    ]  # fmt: skip
    text, entities = free_texts.as_text(rows)
    assert text == '@kim won\'t leave (New York)!! "Lumen"'
    assert [(text[start:end], kind) for start, end, kind in entities] == [
        ("@kim", "PER"),
        ("New York", "LOC"),
    ]


def test_articles_know_their_sentences(tmp_path):
    file = tmp_path / "wikigold.conll.txt"
    file.write_text(
        "-DOCSTART- O\n\nKim I-PER\nran O\n. O\n\nIn O\nParis I-LOC\n. O\n\n"
        "-DOCSTART- O\n\nEnd O\n",
        encoding="utf8",
    )
    first, second = free_texts.articles([file])
    assert first == {
        "text": "Kim ran. In Paris.",
        "entities": [[0, 3, "PER"], [12, 17, "LOC"]],
        "starts": [0, 9],
    }
    assert second["text"] == "End"


def test_the_treebank_stands_beside_the_trees_of_the_teacher(tmp_path):
    treebank, folder = tmp_path / "gold.conllu", tmp_path / "trees"
    treebank.write_text(conllu(12), encoding="utf8")
    tree_data.main(treebank, tmp_path / "silver", folder)
    assert sorted(file.name for file in folder.iterdir()) == ["gold-0.conllu", "names-0.conllu"]
    (tmp_path / "silver").mkdir()
    (tmp_path / "silver" / "tweets.conllu").write_text("silver", encoding="utf8")
    tree_data.main(treebank, tmp_path / "silver", folder)
    assert sorted(file.name for file in folder.iterdir()) == [
        *(f"gold-{times}.conllu" for times in range(3)),
        *(f"names-{times}.conllu" for times in range(2)),
        "silver-tweets.conllu",
    ]
    given = {sentence.words: sentence for sentence in read_conllu(treebank)}
    longer = [*read_conllu(folder / "names-0.conllu")]
    assert longer
    for sentence in longer:
        at = sentence.words.index("-")
        left = [i for i in range(len(sentence)) if i not in (at, at + 1)]
        before = given[tuple(sentence.words[i] for i in left)]
        moved = {0: 0} | {i + 1: place for place, i in enumerate(left, start=1)}
        assert before.heads == tuple(moved[sentence.heads[i]] for i in left)
        assert before.deps == tuple(sentence.deps[i] for i in left)
        assert (sentence.heads[at], sentence.heads[at + 1]) == (at + 2, at)
        assert sentence.deps[at : at + 2] == ("punct", "flat")
        assert sentence.tags[at : at + 2] == ("HYPH", "NNP")
        assert not any(sentence.spaces[at - 1 : at + 1])
