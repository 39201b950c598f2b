"""An alias leads to its concepts, whatever its case, the most frequent first."""

from collections import Counter

import numpy as np
import pytest

from spacy_decoders import ConceptBase
from spacy_decoders.knowledge.aliases import normalise
from spacy_decoders.knowledge.concepts import Concept


def base_of(aliases, concepts, counts, size=9):
    """A base, and the concepts in it by their place."""
    ids = [str(i) for i in range(size)]
    known: list[Counter] = [Counter() for _ in ids]
    for alias, concept, count in zip(aliases, concepts, counts, strict=True):
        known[concept][alias] += count
    base = ConceptBase.build(map(Concept, ids, ids, known))
    return base, base.ids.find(ids)


def test_against_plain_counting(rng):
    names = ["Jaguar", "JAGUAR", "jaguar ", "Java", "java  island", "Java Island", "Ḿ"]
    aliases = [names[i] for i in rng.integers(len(names), size=300)]
    concepts = rng.integers(9, size=300)
    counts = rng.integers(1, 5, size=300)
    base, numbers = base_of(aliases, concepts, counts)
    table = base.aliases
    expected: dict[str, Counter] = {}
    for alias, concept, count in zip(aliases, numbers[concepts], counts, strict=True):
        expected.setdefault(normalise(alias), Counter())[int(concept)] += int(count)
    assert len(table) == len(expected)
    for alias, counted in expected.items():
        found, priors = table.candidates(alias)
        assert set(found.tolist()) == set(counted)
        assert (np.diff(priors) <= 0).all()
        total = sum(counted.values())
        for concept, prior in zip(found.tolist(), priors.tolist(), strict=True):
            assert prior == pytest.approx(counted[concept] / total)


def test_unknown_and_empty_aliases_have_no_candidates():
    base, _ = base_of(["a", "O'Hare", "  "], [1, 1, 2], [1, 1, 1])
    table = base.aliases
    assert "A" in table and "O’Hare" in table and "b" not in table
    for alias in ("b", "", "  ", "\ud800", "a\0", "x" * 10_000):
        assert table.candidates(alias)[0].size == 0


def test_in_which_case_a_name_is_written():
    names = ["Mercury", "mercury", "MERCURY", "mercury", "Hg"]
    base, numbers = base_of(names, [1, 1, 1, 2, 2], [5, 4, 1, 1, 1])
    found = base.aliases.all_of("mercury")
    assert found.concepts.tolist() == numbers[[1, 2]].tolist()
    for mention, shares in (("Mercury", [0.5, 0]), ("mercury", [0.4, 1]), ("mErcury", [0, 0])):
        np.testing.assert_allclose(found.written(mention), shares, atol=1e-6)
    assert base.aliases.all_of("hg").written("Hg").tolist() == [1.0]


def test_what_could_not_be_read_is_not_unknown(monkeypatch):
    base, _ = base_of(["Java", "Jaguar"], [0, 1], [1, 1])
    table = base.aliases

    def interrupted(self, aliases):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(type(table), "_read", interrupted)
        table.find(["java"])
    assert table.find(["java"])[0] is not None
