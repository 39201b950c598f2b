"""From mentions and their candidates to links: decoded together, in plain types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Span

from ...budget import Budget, allowing_for_compilation
from ...certificate import Certificate
from ...models.linker.confidence import LinkEvidence, log_odds_right
from ...models.linker.together import link_problem, lone_problem, pair_terms, with_nothing
from ...models.linker.types import of_types
from ...models.linker.weights import Feature
from .link_dicts import Decided, LinkWriter, no_link
from .mentions import Mentions
from .windows import LinkWindow, link_windows

if TYPE_CHECKING:
    from ...decoders.protocols import RepresentativesDecoding
    from ...knowledge.pair_costs import PairCosts

__all__ = ["LinkPolicy", "Links", "decode_links"]

#: Decoders that know no candidate but the vertices of a graph.
_OF_GRAPHS = ("Degree", "PageRank", "SpanningTree")


@dataclass(frozen=True)
class LinkPolicy:
    """How mentions are linked: options of the component, and the budget for one window."""

    #: How windows are cut, stated and decoded.
    decoder: RepresentativesDecoding
    budget: Budget
    pairs: PairCosts
    window: int
    #: What it costs that one of several mentions of a form means something else.
    form_weight: float
    #: Types of concepts that may be linked; None for all.
    types: tuple[str, ...] | None
    #: Whether a concept whose type contradicts the entity's label may not be linked.
    filtered: bool
    #: Writes what was decided.
    writer: LinkWriter


@dataclass(frozen=True)
class Links:
    """What was decided."""

    #: The mentions, and what is written of each.
    spans: list[Span]
    links: list[dict[str, Any]]
    #: One of each window.
    certificates: list[Certificate]
    #: Of each span what was chosen in its window and its place there; None without candidates.
    choices: list[tuple[Decided, int] | None]
    #: Demands on links that contradict each other.
    conflicts: Sequence[dict[str, Any]] = ()


def decode_links(mentions: Mentions, weights: NDArray[np.float64], policy: LinkPolicy) -> Links:
    """Choose the best concepts together, and nothing where nothing fits.

    Parameters
    ----------
    mentions
        The mentions of a document.
    weights
        Of the features. **Shape:** ``(18,)``
    policy
        How they are linked.
    """
    scores = _scores(mentions, weights, policy)
    windows = link_windows(mentions.table, policy.window)
    decided: dict[int, dict[str, Any]] = {}
    places: dict[int, tuple[Decided, int]] = {}
    certificates = []
    for window in windows:
        certificate, choices = _decoded(mentions, window, scores, weights, policy)
        certificates.append(
            certificate if len(windows) == 1 else replace(certificate, scope="pruned")
        )
        for place, mention in enumerate(window.mentions):
            if window.keeps[place]:
                decided[mention] = policy.writer.link(window.table, place, choices)
                places[mention] = choices, place
    links = [decided[unit] if unit >= 0 else no_link() for unit in mentions.units]
    chosen = [places.get(unit) for unit in mentions.units]
    return Links(mentions.spans, links, certificates, chosen, mentions.conflicts)


def _scores(
    mentions: Mentions, weights: NDArray[np.float64], policy: LinkPolicy
) -> NDArray[np.float64]:
    """What each candidate, and nothing, is worth alone; ``-inf`` is forbidden."""
    table = mentions.table
    scores = mentions.features.astype(np.float64) @ weights
    own = np.ones(len(scores), bool)
    own[with_nothing(table.offsets)[1:] - 1] = False
    # what has a prior below 0 is shown, and never chosen
    forbidden = table.priors < 0
    if policy.filtered:
        forbidden |= mentions.features[own, Feature.TYPE] < 0
    if policy.types is not None and table.base is not None:
        known = map(table.base.type, table.concepts.tolist())
        forbidden |= ~of_types(known, policy.types)
    scores[np.flatnonzero(own)[forbidden]] = -np.inf
    return scores


def _decoded(
    mentions: Mentions,
    window: LinkWindow,
    scores: NDArray[np.float64],
    weights: NDArray[np.float64],
    policy: LinkPolicy,
) -> tuple[Certificate, Decided]:
    """The links of a window, and how sure each is."""
    first, stop = window.mentions[0], window.mentions[-1] + 1
    offsets = with_nothing(mentions.table.offsets)
    own = scores[offsets[first] : offsets[stop]]
    forms = mentions.forms.of(first, stop)
    nothing = type(policy.decoder).__name__ not in _OF_GRAPHS
    if len(window.mentions) == 1 and nothing and window.table.base is not None:
        joint = lone_problem(window.table, own)
    else:
        joint = link_problem(
            window.table,
            forms,
            pair_terms(window.table, forms, policy.pairs),
            own,
            weights,
            form_weight=policy.form_weight,
            nothing=nothing,
        )
    budget = allowing_for_compilation(policy.budget, policy.decoder)
    solution = policy.decoder.decode(joint.problem, budget=budget)
    chosen = joint.chosen(solution.choices)
    # of several mentions of a form each has a part of the form's weight
    costs = joint.conditional_costs(chosen) * np.repeat(forms.repeats, np.diff(joint.offsets))
    margins = solution.margins.astype(np.float64)
    evidence = LinkEvidence(
        joint.offsets,
        chosen,
        -costs,
        own,
        mentions.features[offsets[first] : offsets[stop]],
        margins,
        forms.repeats,
        forms.count,
        window.table.coverage,
    )
    odds = log_odds_right(evidence)
    return solution.certificate, Decided(
        joint.offsets, chosen, -costs, margins, solution.exact_margins, odds
    )
