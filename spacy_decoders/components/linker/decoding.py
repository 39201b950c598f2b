"""From mentions and their candidates to links: decoded together, in plain types."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Span

from ...budget import Budget, allowing_for_compilation
from ...certificate import Certificate
from .mentions import Mentions
from .windows import LinkWindow, link_windows

if TYPE_CHECKING:
    from ...decoders.protocols import RepresentativesDecoding
    from ...decoders.representatives import RepresentativesProblem, RepresentativesSolution
    from ...knowledge.candidates import CandidateTable
    from ...knowledge.pair_costs import PairCosts

__all__ = ["LinkPolicy", "Links", "decode_links"]


@dataclass(frozen=True)
class LinkPolicy:
    """How mentions are linked: options of the component, and the budget for one window."""

    decoder: RepresentativesDecoding
    budget: Budget
    pairs: PairCosts
    window: int
    min_score: float
    min_margin: float
    shown: int


@dataclass(frozen=True)
class Links:
    """What was decided: for each span its link as a plain dict, and the certificates."""

    spans: list[Span]
    links: list[dict[str, Any]]
    certificates: list[Certificate]


def decode_links(mentions: Mentions, weights: NDArray[np.float64], policy: LinkPolicy) -> Links:
    """Choose the cheapest concepts together.

    Parameters
    ----------
    mentions
        The mentions of a document.
    weights
        Of the features of a candidate, that of the pairs last. **Shape:** ``(4,)``
    policy
        How they are linked.
    """
    local = -(mentions.features[:, :3].astype(np.float64) @ weights[:3])
    windows = link_windows(mentions.table, policy.window)
    decided: dict[int, dict[str, Any]] = {}
    certificates = []
    for window in windows:
        problem = _problem(window, local[window.rows], max(0.0, float(weights[3])), policy)
        budget = allowing_for_compilation(policy.budget, policy.decoder)
        solution = policy.decoder.decode(problem, budget=budget)
        certificate = solution.certificate
        certificates.append(
            certificate if len(windows) == 1 else replace(certificate, scope="pruned")
        )
        scores = -problem.conditional_costs(solution.choices)
        for place, mention in enumerate(window.mentions):
            if window.keeps[place]:
                decided[mention] = _link(window.table, place, scores, solution, policy)
    links = [decided[unit] if unit >= 0 else _nil_link() for unit in mentions.units]
    return Links(mentions.spans, links, certificates)


def _nil_link() -> dict[str, Any]:
    """What is written of a mention without candidates."""
    return {
        "id": "",
        "title": "",
        "score": 0.0,
        "margin": None,
        "exact_margin": False,
        "candidates": [],
    }


def _problem(
    window: LinkWindow, local: NDArray[np.float64], weight: float, policy: LinkPolicy
) -> RepresentativesProblem:
    """What the mentions of a window cost, alone and together."""
    from ...decoders.representatives import RepresentativesProblem

    table = window.table
    # what has a prior below 0 is shown, and never chosen
    own = np.where(table.priors < 0, np.inf, local)
    spans = [slice(*span) for span in pairwise(table.offsets.tolist())]
    rows = np.arange(len(own), dtype=np.int32)
    # the paper's heuristics look into the graph; exact decoders need none
    graph = None if table.base is None else table.base.graph
    return RepresentativesProblem(
        policy.pairs(table),
        [rows[span] for span in spans],
        [own[span] for span in spans],
        weight,
        table.keys if graph is None else table.concepts,
        graph,
    )


def _link(
    table: CandidateTable,
    place: int,
    scores: NDArray[np.float64],
    solution: RepresentativesSolution,
    policy: LinkPolicy,
) -> dict[str, Any]:
    """A mention's link in plain types; scores are probabilities given all other links."""
    begin = int(table.offsets[place])
    own = scores[begin : table.offsets[place + 1]]
    choice, margin = int(solution.choices[place]), float(solution.margins[place])
    shares = np.exp(own - np.logaddexp.reduce(own))
    # below 0 lies only a bound that the budget left loose: the choice is the best one found
    accepted = shares[choice] >= policy.min_score and max(margin, 0.0) >= policy.min_margin
    ranked = np.argsort(-shares, kind="stable")
    ranked = np.concatenate([[choice], ranked[ranked != choice]])[: policy.shown]
    return {
        "id": table.ids[begin + choice] if accepted else "",
        "title": table.titles[begin + choice] if accepted else "",
        "score": float(shares[choice]),
        # an only candidate has nothing to be compared with
        "margin": margin if np.isfinite(margin) else None,
        "exact_margin": bool(solution.exact_margins[place]),
        "candidates": [
            {
                "id": table.ids[begin + other],
                "title": table.titles[begin + other],
                "score": float(shares[other]),
                "prior": float(table.priors[begin + other]),
            }
            for other in ranked.tolist()
        ],
    }
