"""From mentions and their candidates to links: decoded together, in plain types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Span

from ...budget import Budget
from ...certificate import Certificate
from ...models.calibration import Calibration
from ...models.linker.confidence import Decided
from ...models.linker.evidence import of_types
from ...models.linker.together import link_problem
from ..factories.graph_entity_linker import LinkerOptions
from .mentions import Mentions

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["OF_GRAPHS", "Links", "decode_links", "windows_of"]

#: Decoders that know no candidate but the vertices of a graph.
OF_GRAPHS = ("Degree", "PageRank", "SpanningTree")
#: What stands for a concept where nothing is linked.
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
    """What was decided."""

    #: The mentions, and what is written of each.
    spans: list[Span]
    links: list[dict[str, Any]]
    #: One of each window, and of each contradiction.
    certificates: list[Certificate]
    #: Of each span what was chosen in its window and its place there; None without candidates.
    choices: list[tuple[Decided, int] | None]
    #: Demands on links that contradict each other.
    conflicts: Sequence[dict[str, Any]] = ()


def decode_links(
    mentions: Mentions,
    weights: NDArray[np.float64],
    options: LinkerOptions,
    calibration: Calibration,
) -> Links:
    """Choose the best concepts of a document together, and nothing where nothing fits.

    `weights` are those of the features, **shape** ``(14,)``.
    """
    table = mentions.table
    scores = mentions.features.astype(np.float64) @ weights
    # what has a prior below 0 is shown, and never chosen
    forbidden = table.priors < 0
    if options.types is not None and table.base is not None:
        forbidden |= ~of_types([known.type for known in table.known], options.types)
    scores[table.places[forbidden]] = -np.inf
    links: dict[int, dict[str, Any]] = {}
    places: dict[int, tuple[Decided, int]] = {}
    certificates = []
    windows = windows_of(len(table.mentions), options.window)
    for window, kept in windows:
        part = table if len(windows) == 1 else table.of(window)
        certificate, decided = _decoded(mentions, part, window, scores, weights, options)
        if len(windows) > 1:
            certificate = replace(certificate, scope="pruned")
        certificates.append(certificate)
        written = _links(part, decided, options, calibration)
        for mention in kept:
            place = mention - window.start
            links[mention] = written[place]
            places[mention] = decided, place
    for _ in mentions.conflicts:  # what contradicts itself is linked to nothing
        certificates.append(Certificate.infeasible(type(options.decoder).__name__))
    return Links(
        mentions.spans,
        [links[unit] if unit >= 0 else _link_to_nothing() for unit in mentions.units],
        certificates,
        [*map(places.get, mentions.units)],
        mentions.conflicts,
    )


def windows_of(count: int, size: int) -> list[tuple[range, list[int]]]:
    """Cut mentions into windows of at most `size` that overlap by half; none without mentions.

    Returns
    -------
    The mentions of each window, and for which of them it decides: each is decided in the one
    window whose middle it is nearest to, where it has most context.
    """
    if count <= size:
        return [(range(count), list(range(count)))] if count else []
    starts = [*range(0, count - size, max(1, size // 2)), count - size]
    middles = np.array(starts) + (size - 1) / 2
    nearest = np.abs(np.arange(count)[:, None] - middles).argmin(axis=1)
    return [
        (range(start, start + size), np.flatnonzero(nearest == number).tolist())
        for number, start in enumerate(starts)
    ]


def _decoded(
    mentions: Mentions,
    table: CandidateTable,
    window: range,
    scores: NDArray[np.float64],
    weights: NDArray[np.float64],
    options: LinkerOptions,
) -> tuple[Certificate, Decided]:
    """The links of a window, whose candidates are in `table`, and how sure each is."""
    rows = slice(*mentions.table.with_nothing[[window.start, window.stop]].tolist())
    own, forms = scores[rows], mentions.forms
    if len(window) < len(mentions.table.mentions):
        forms = forms.of(window)
    joint = link_problem(
        table,
        forms,
        options.pairs,
        own,
        weights,
        form_weight=options.form_weight,
        nothing=type(options.decoder).__name__ not in OF_GRAPHS,
    )
    limits = Budget(options.seconds, options.iterations)
    solution = options.decoder.decode(joint.problem, budget=limits)
    chosen = joint.chosen(solution.choices)
    # of several mentions of a form each has a part of the form's weight
    costs = joint.conditional_costs(chosen) * forms.repeats[joint.own]
    return solution.certificate, Decided(
        offsets=joint.offsets,
        choices=chosen,
        scores=-costs,
        local=own,
        features=mentions.features[rows],
        margins=solution.margins.astype(np.float64),
        exact=solution.exact_margins,
        repeats=forms.repeats,
        forms=forms.count,
        coverage=table.coverage,
    )


# --- what is written of a link: plain types, for `ent._.link` -----------------------------


def _link_to_nothing() -> dict[str, Any]:
    """What is written of a mention without candidates."""
    sure = {"score": 1.0, "prob": 1.0, "nil_prob": 1.0, "margin": None, "exact_margin": False}
    return {**_NOTHING, **sure, "candidates": []}


def _links(
    table: CandidateTable, decided: Decided, options: LinkerOptions, calibration: Calibration
) -> list[dict[str, Any]]:
    """What is written of each mention of a window.

    Its score is the probability given all other links, `prob` the calibrated probability that it
    is right; where nothing is linked, that nothing is right.
    """
    right = calibration.apply(decided.right(calibration.temperature))
    shares, probs = decided.given_others, decided.probabilities(right)
    chosen, sizes = decided.rows, table.sizes
    # of each mention its choice, then the others by their share
    others = table.places != chosen[table.own_mention]
    ranked = np.lexsort((-shares[table.places], others, table.own_mention))
    ranks = np.arange(len(ranked)) - table.offsets[table.own_mention]
    shown = ranked[ranks < options.shown]
    places = table.places[shown]
    candidates = [
        {
            "id": known.id,
            "qid": known.qid,
            "title": known.title,
            "type": known.type or None,
            "score": score,
            "prob": prob,
            "prior": prior,
        }
        for known, score, prob, prior in zip(
            map(table.known.__getitem__, shown.tolist()),
            shares[places].tolist(),
            probs[places].tolist(),
            table.priors[shown].tolist(),
            strict=True,
        )
    ]
    ends = [0, *np.cumsum(np.minimum(sizes, options.shown)).tolist()]
    links = []
    for place, (choice, nothing, margin, exact) in enumerate(
        zip(
            chosen.tolist(),
            (decided.offsets[1:] - 1).tolist(),
            decided.margins.tolist(),
            decided.exact.tolist(),
            strict=True,
        )
    ):
        best = candidates[ends[place] : ends[place + 1]]
        link, prob = dict(_NOTHING), float(probs[choice])
        if choice != nothing and prob >= options.min_prob:
            known = table.known[choice - place]
            link["id"], link["qid"], link["title"] = known.id, known.qid, known.title
            link["type"], link["description"] = known.type or None, known.description
            link["url"] = None if table.base is None else table.base.url(known)
        elif choice != nothing:  # too unlikely
            prob = float(probs[nothing])
        link |= {
            "score": float(shares[choice]),
            "prob": prob,
            "nil_prob": float(probs[nothing]),
            # an only candidate has nothing to be compared with
            "margin": margin if isfinite(margin) else None,
            "exact_margin": exact,
            "candidates": best,
        }
        links.append(link)
    return links
