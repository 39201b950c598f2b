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
from ...models.calibration import Calibration
from ...models.linker.confidence import Decided
from ...models.linker.together import link_problem, pair_terms, with_nothing
from ...models.linker.types import of_types
from ..factories.graph_entity_linker import LinkerOptions
from .link_dicts import links_of, no_link
from .mentions import Mentions

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["Links", "decode_links", "windows_of"]

#: Decoders that know no candidate but the vertices of a graph.
_OF_GRAPHS = ("Degree", "PageRank", "SpanningTree")


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


def decode_links(
    mentions: Mentions,
    weights: NDArray[np.float64],
    options: LinkerOptions,
    calibration: Calibration,
) -> Links:
    """Choose the best concepts together, and nothing where nothing fits.

    Parameters
    ----------
    mentions
        The mentions of a document.
    weights
        Of the features. **Shape:** ``(14,)``
    options
        How they are linked.
    calibration
        What makes probabilities of scores.
    """
    table = mentions.table
    scores = _scores(mentions, weights, options)
    windows = windows_of(len(table.mentions), options.window)
    links: dict[int, dict[str, Any]] = {}
    places: dict[int, tuple[Decided, int]] = {}
    certificates = []
    for together, kept in windows:
        part = table if len(windows) == 1 else table.of(together)
        certificate, decided = _decoded(mentions, part, together, scores, weights, options)
        certificates.append(
            certificate if len(windows) == 1 else replace(certificate, scope="pruned")
        )
        written = links_of(part, decided, options, calibration)
        for mention in kept:
            place = mention - together.start
            links[mention] = written[place]
            places[mention] = decided, place
    return Links(
        mentions.spans,
        [links[unit] if unit >= 0 else no_link() for unit in mentions.units],
        certificates,
        [places.get(unit) for unit in mentions.units],
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


def _scores(
    mentions: Mentions, weights: NDArray[np.float64], options: LinkerOptions
) -> NDArray[np.float64]:
    """What each candidate, and nothing, is worth alone; ``-inf`` is forbidden."""
    table = mentions.table
    scores = mentions.features.astype(np.float64) @ weights
    own = np.ones(len(scores), bool)
    own[with_nothing(table.offsets)[1:] - 1] = False
    # what has a prior below 0 is shown, and never chosen
    forbidden = table.priors < 0
    if options.types is not None and table.base is not None:
        forbidden |= ~of_types(table.types, options.types)
    scores[np.flatnonzero(own)[forbidden]] = -np.inf
    return scores


def _decoded(
    mentions: Mentions,
    table: CandidateTable,
    window: range,
    scores: NDArray[np.float64],
    weights: NDArray[np.float64],
    options: LinkerOptions,
) -> tuple[Certificate, Decided]:
    """The links of a window, whose candidates are in `table`, and how sure each is."""
    offsets = with_nothing(mentions.table.offsets)
    rows = slice(offsets[window.start], offsets[window.stop])
    own = scores[rows]
    forms = mentions.forms.of(window.start, window.stop)
    joint = link_problem(
        table,
        forms,
        pair_terms(table, forms, options.pairs),
        own,
        weights,
        form_weight=options.form_weight,
        nothing=type(options.decoder).__name__ not in _OF_GRAPHS,
    )
    limits = Budget(options.seconds, options.iterations)
    solution = options.decoder.decode(
        joint.problem, budget=allowing_for_compilation(limits, options.decoder)
    )
    chosen = joint.chosen(solution.choices)
    # of several mentions of a form each has a part of the form's weight
    costs = joint.conditional_costs(chosen) * np.repeat(forms.repeats, np.diff(joint.offsets))
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
