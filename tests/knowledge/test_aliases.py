"""An alias leads to its concepts, whatever its case, the most frequent first."""

import pickle
from collections import Counter

import numpy as np
import pytest

from spacy_decoders import ProblemError
from spacy_decoders.knowledge.aliases import AliasTable, normalise, normalised
from spacy_decoders.knowledge.letter_case import letter_case, letter_cases


def test_against_plain_counting(rng, tmp_path):
    names = ["Jaguar", "JAGUAR", "jaguar ", "Java", "java  island", "Java Island", "Ḿ"]
    aliases = [names[i] for i in rng.integers(len(names), size=300)]
    concepts = rng.integers(9, size=300)
    counts = rng.integers(1, 5, size=300)
    AliasTable.build(aliases, concepts, counts).save(tmp_path)
    table = AliasTable.open(tmp_path)
    expected: dict[str, Counter] = {}
    for alias, concept, count in zip(aliases, concepts, counts, strict=True):
        expected.setdefault(normalise(alias), Counter())[int(concept)] += int(count)
    assert len(table) == len(expected)
    for alias, counted in expected.items():
        found, priors = table.candidates(alias)
        assert set(found.tolist()) == set(counted)
        assert (np.diff(priors) <= 0).all()
        total = sum(counted.values())
        for concept, prior in zip(found.tolist(), priors.tolist(), strict=True):
            assert prior == pytest.approx(counted[concept] / total)


@pytest.mark.parametrize(
    "texts",
    [[], [""], ["A", "b c"], [" a"], ["a "], ["a\nb", "c"], ["a\u2028b"], ["ﬁ", "\u0301x"]],
)
def test_batches_arenormalised_as_single_aliases_are(texts):
    assert normalised(texts) == [normalise(text) for text in texts]


def test_unknown_and_empty_aliases_have_no_candidates():
    table = AliasTable.build(["a", "  "], [1, 2], [1, 1])
    assert "A" in table
    assert "b" not in table
    for alias in ("b", "", "  "):
        assert table.candidates(alias)[0].size == 0


def test_ties_do_not_follow_the_order_of_the_input():
    concepts = np.arange(50)
    one = AliasTable.build(["x"] * 50, concepts, np.ones(50))
    two = AliasTable.build(["x"] * 50, concepts[::-1], np.ones(50))
    np.testing.assert_array_equal(one.candidates("x")[0], two.candidates("x")[0])
    assert one.candidates("x")[0].tolist() != concepts.tolist()


def test_an_empty_table_knows_nothing():
    table = AliasTable.build([], np.empty(0, int), [])
    assert len(table) == 0
    assert table.find(["a"]).tolist() == [-1]


@pytest.mark.parametrize("counts, message", [([0], "counts"), ([np.nan], "counts"), ([], "shape")])
def test_counts_are_checked(counts, message):
    with pytest.raises(ProblemError, match=message):
        AliasTable.build(["a"], [0], counts)


def test_what_is_normalised_already_is_found_without_doing_it_again():
    table = AliasTable.build(["Big  Cat", "x"], [1, 2], [1, 1])
    texts = ["BIG cat", "X", "y"]
    rows = table.find(texts)
    assert rows.tolist() == table.find_normalised(normalised(texts)).tolist()
    assert (rows >= 0).tolist() == [True, True, False]
    assert table.find_normalised(["Big  Cat"]).tolist() == [-1]


def test_cases_of_many_are_those_of_each(rng):
    texts = ["", "a", "A", "NASA", "Steve Jobs", "Bank of England", "iPod", "42", "A B", "Ǆ", "ǅ"]
    texts += ["".join(rng.choice(list("aB ߀é1"), size=rng.integers(6))) for _ in range(300)]
    assert letter_cases(texts).tolist() == [letter_case(text) for text in texts]


def test_in_which_case_a_name_is_written():
    names = ["Mercury", "mercury", "MERCURY", "mercury", "Hg"]
    table = AliasTable.build(names, [1, 1, 1, 2, 2], [5, 4, 1, 1, 1], cases=[1, 0, 2, 0, -1])
    row = table.find_one("mercury")
    assert table.row(row)[0].tolist() == [1, 2]
    for mention, shares in (("Mercury", [0.5, 0]), ("mercury", [0.4, 1]), ("mErcury", [0, 0])):
        np.testing.assert_allclose(table.written(row, mention), shares, atol=0.004)
    assert np.isnan(table.written(table.find_one("hg"), "Hg")).all()
    assert pickle.loads(pickle.dumps(table)).find_one("Hg") == table.find_one("hg")
