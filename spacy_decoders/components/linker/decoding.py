"""Decoding the links of mentions jointly, and writing them in plain types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Floats
from ...budget import Budget
from ...certificate import Certificate
from ...models.calibration import Calibration, sigmoid
from ...models.linker.confidence import Decided
from ...models.linker.evidence import of_types
from ...models.linker.together import link_problem
from ..factories.graph_entity_linker import LinkerOptions
from .mentions import Mentions

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["OF_GRAPHS", "Links", "decode_links", "windows_of"]

#: Decoders whose candidates can only be vertices of a graph.
OF_GRAPHS = ("Degree", "PageRank", "SpanningTree")
#: The keys of ``ent._.link`` that describe the concept, where nothing is linked.
_NOTHING: Mapping[str, Any] = {
    "id": "",
    "qid": None,
    "title": "",
    "type": None,
    "description": "",
    "url": None,
}


@dataclass(frozen=True)
class Links:
    """The decoded links of a document."""

    mentions: Mentions
    #: The value of ``ent._.link`` for each.
    links: list[dict[str, Any]]
    #: One for each window, and for each conflict.
    certificates: list[Certificate]
    #: For each the log-odds that the choice is right, and whether it is NIL; None without
    #: candidates.
    odds: list[tuple[float, bool] | None]


def decode_links(
    given: Sequence[Mentions], weights: Floats, options: LinkerOptions, calibration: Calibration
) -> list[Links]:
    """Choose the concepts of each document jointly, NIL where none fits.

    `weights` are those of the features, **shape** ``(14,)``.
    """
    cuts = [windows_of(len(mentions.own), options.window) for mentions in given]
    parts = [
        mentions.of(window)
        for mentions, windows in zip(given, cuts, strict=True)
        for window in windows
    ]
    solved = [_decoded(part, weights, options) for part in parts]
    written: Iterator[Any] = iter(())
    if parts:
        decided = Decided.together([of_window for _, of_window in solved])
        written = _links([part.table for part in parts], decided, options, calibration)
    proofs = iter([certificate for certificate, _ in solved])
    links = []
    for mentions, windows in zip(given, cuts, strict=True):
        certificates = [*islice(proofs, len(windows))]
        if len(windows) > 1:
            certificates = [replace(one, scope="pruned") for one in certificates]
        if mentions.conflicts:  # a mention with contradictory demands is linked to nothing
            failed = Certificate.infeasible(type(options.decoder).__name__)
            certificates += [failed] * len(mentions.conflicts)
        of_units = [*islice(written, len(mentions.own))]
        each = [
            of_units[unit] if unit >= 0 else (_link_to_nothing(), None) for unit in mentions.units
        ]
        of_doc, odds = [link for link, _ in each], [odds for _, odds in each]
        links.append(Links(mentions, of_doc, certificates, odds))
    return links


def windows_of(count: int, size: int) -> list[range]:
    """Divide mentions into windows of `size`, of which the last may be smaller."""
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def _decoded(
    mentions: Mentions, weights: Floats, options: LinkerOptions
) -> tuple[Certificate, Decided]:
    """Decode a window; return its certificate, and the choices with what their odds need."""
    table, count = mentions.table, len(mentions.own)
    scores = mentions.features.astype(np.float64) @ weights
    # a candidate with a prior below 0 is listed but never chosen
    forbidden = table.priors < 0
    if options.types is not None and table.base is not None:
        forbidden |= ~of_types([known.type for known in table.known], options.types)
    scores[table.places[forbidden]] = -np.inf
    joint = link_problem(
        table,
        options.pairs,
        scores,
        weights,
        form_weight=options.form_weight,
        nothing=type(options.decoder).__name__ not in OF_GRAPHS,
    )
    limits = Budget(options.seconds, options.iterations)
    solution = options.decoder.decode(joint.problem, budget=limits)
    chosen = joint.chosen(solution.choices)
    # the weight of a form is divided among its mentions
    costs = joint.conditional_costs(chosen) * table.repeats[joint.own]
    return solution.certificate, Decided(
        offsets=joint.offsets,
        choices=chosen,
        scores=-costs,
        local=scores,
        features=mentions.features,
        margins=solution.margins.astype(np.float64),
        exact=solution.exact_margins,
        repeats=table.repeats,
        coverage=np.full(count, table.coverage),
    )


# --- the values of `ent._.link`, in plain types --------------------------------------------


def _link_to_nothing() -> dict[str, Any]:
    """The link of a mention without candidates."""
    sure = {"score": 1.0, "prob": 1.0, "nil_prob": 1.0, "margin": None, "exact_margin": False}
    return {**_NOTHING, **sure, "candidates": []}


def _links(
    tables: Sequence[CandidateTable],
    decided: Decided,
    options: LinkerOptions,
    calibration: Calibration,
) -> Iterator[tuple[dict[str, Any], tuple[float, bool]]]:
    """Yield the link of each mention of some windows, and the log-odds of its choice.

    Its `score` is its probability given all other links, `prob` the calibrated probability that it
    is right; for NIL, that linking nothing is right.
    """
    right = calibration.apply(sigmoid(decided.odds / calibration.temperature))
    shares, probs = decided.given_others, decided.probabilities(right)
    chosen, sizes = decided.rows, decided.sizes - 1
    known = [*chain.from_iterable(table.known for table in tables)]
    priors = np.concatenate([table.priors for table in tables])
    own = np.arange(len(sizes)).repeat(sizes)
    # the rows of the candidates among all choices, which include NIL
    places = np.arange(len(own)) + own
    # for each mention the choice first, then the others by their share
    others = places != chosen[own]
    ranked = np.lexsort((-shares[places], others, own))
    ranks = places - decided.offsets[own]
    shown = ranked[ranks < options.shown]
    candidates = [
        {
            "id": one.id,
            "qid": one.qid,
            "title": one.title,
            "type": one.type or None,
            "score": score,
            "prob": prob,
            "prior": prior,
        }
        for one, score, prob, prior in zip(
            map(known.__getitem__, shown.tolist()),
            shares[places[shown]].tolist(),
            probs[places[shown]].tolist(),
            priors[shown].tolist(),
            strict=True,
        )
    ]
    ends = [0, *accumulate(np.minimum(sizes, options.shown).tolist())]
    base = tables[0].base
    columns = (chosen, decided.offsets[1:] - 1, decided.margins, decided.exact, decided.odds)
    for place, (choice, nothing, margin, exact, odds) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        link, prob, nil_prob = dict(_NOTHING), float(probs[choice]), float(probs[nothing])
        if choice != nothing and prob >= options.min_prob:
            best = known[choice - place]
            link["id"], link["qid"], link["title"] = best.id, best.qid, best.title
            link["type"], link["description"] = best.type or None, best.description
            link["url"] = None if base is None else base.url(best)
        elif choice != nothing:  # too unlikely
            prob = nil_prob
        link |= {
            "score": float(shares[choice]),
            "prob": prob,
            "nil_prob": nil_prob,
            # a single candidate has no margin
            "margin": margin if isfinite(margin) else None,
            "exact_margin": exact,
            "candidates": candidates[ends[place] : ends[place + 1]],
        }
        yield link, (odds, choice == nothing)
