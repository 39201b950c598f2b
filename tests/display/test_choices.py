"""What else a Doc's heads, entities and links could have been."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_decoders.display.choices import (
    difference,
    head_ranking,
    link_ranking,
    named_spans,
    parses_of,
)

#: Runs of tokens: how many, and of what kind; None is no entity.
RUNS = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["PER", "LOC", None])), max_size=8)


@given(RUNS, st.integers(0, 50))
def test_named_spans_are_where_they_were_put(runs, start):
    labels, wanted = [], []
    for length, kind in runs:
        begin = start + len(labels)
        if kind is None:
            labels += ["O"] * length
        else:
            labels += [f"B-{kind}", *[f"I-{kind}"] * (length - 1)]
            wanted.append(((begin, begin + length), kind))
    assert list(named_spans(labels, start)) == wanted


def test_a_link_costs_the_log_odds_of_its_rival(doc):
    ranking = link_ranking(doc)
    (choice,) = ranking.choices
    (rival,) = choice.options
    assert (choice.chosen, rival.value, choice.margin) == ("Jaguar", "Jaguar Cars", None)
    assert rival.loss == pytest.approx(math.log(0.8 / 0.2))


def test_heads_cost_what_the_next_tree_is_worth_less(doc):
    (span,) = doc.sents
    parses = parses_of(doc, span)
    ranking = head_ranking(doc, parses)
    assert ranking.loss == 0.5
    assert difference(span, parses, 1) == {0: (2, "det")}


def test_trees_of_other_heads_are_none(doc):
    (span,) = doc.sents
    doc._.parses = [[{**parse, "heads": [2] * len(doc)} for parse in doc._.parses[0]]]
    assert parses_of(doc, span) == []
    assert head_ranking(doc, []) is None
