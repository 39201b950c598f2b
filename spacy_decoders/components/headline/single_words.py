"""Headlines of single words, selected and ordered by a path decoder, within their limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...budget import Budget, allowing_for_compilation
from ...errors import InfeasibleError
from ...models.headline.bigrams import BigramModel, word_graph
from ...models.headline.knowledge import HeadlineKnowledge
from ...models.headline.words import Vertices
from ..factories.headline_generator import HeadlineOptions
from .headlines import Headline, ScoredUnit, capitalised, limits_of
from .meaning import NEGATIONS
from .reading import word_keys

if TYPE_CHECKING:
    from ...decoders.path import PathProblem, PathSolution

__all__ = ["headlines_of_words", "lengths_of"]

#: Longer texts keep this many words, the likeliest; their certificates say "pruned".
MOST_VERTICES = 1000
#: Ranked headlines that are searched for one that fits `max_chars`.
LOOKED_THROUGH = 20
_DENYING = word_keys(sorted(NEGATIONS))


def headlines_of_words(
    scored: ScoredUnit, knowledge: HeadlineKnowledge, options: HeadlineOptions
) -> list[Headline]:
    """Select and order words by a path decoder; the best headlines, best first."""
    unit, tokens = scored.unit, scored.tokens
    # the log-probability of being chosen: a word then adds at most the bonus
    selection = -np.logaddexp(0.0, -scored.odds)
    vertices = Vertices.of(tokens)
    # chosen words say nothing of a "not" beside them
    denied = tokens.near(_DENYING)
    vertices = replace(vertices, of_token=np.where(denied, -1, vertices.of_token))
    eligible = np.unique(vertices.of_token[vertices.of_token >= 0])
    if not len(eligible):
        return []
    likely = np.argsort(-selection[eligible], kind="stable")[:MOST_VERTICES]
    kept = np.sort(eligible[likely])
    model = knowledge.language_model or BigramModel.count(tokens.runs())
    names = knowledge.auxiliaries if options.auxiliaries is None else tuple(options.auxiliaries)
    problem, via = word_graph(
        tokens,
        vertices.restrict(kept),
        selection[kept],
        model,
        word_keys(names),
        ordering=options.ordering,
        contiguity=options.contiguity,
    )
    begins = np.diff(tokens.sentences, prepend=-1) > 0

    def render(solution: PathSolution) -> Headline:
        path = solution.vertices
        between = [names[x] if x >= 0 else "" for x in via[path[:-1], path[1:]].tolist()]
        certificate = solution.certificate
        if len(kept) < len(eligible):
            certificate = replace(certificate, scope="pruned")
        chosen = []
        for vertex in kept[path].tolist():
            places = np.flatnonzero(vertices.of_token == vertex)
            # capitals at the start of a sentence say nothing
            chosen.append(unit[int(places[np.argmin(begins[places])])])
        written = [chosen[0].text]
        for auxiliary, token in zip(between, chosen[1:], strict=True):
            written += [auxiliary, token.text] if auxiliary else [token.text]
        indices = [token.i for token in chosen]
        return Headline(capitalised(" ".join(written)), indices, between, certificate)

    return _written_paths(options, problem, knowledge.lengths, render)


def lengths_of(options: HeadlineOptions, usual: tuple[int, int], classes: int) -> list[int]:
    """Return the lengths to choose from, for a text with so many classes."""
    least, most = limits_of(options, usual)
    most = min(most, classes)
    return list(range(min(least, most), most + 1))


def _written_paths(
    options: HeadlineOptions,
    problem: PathProblem,
    usual: tuple[int, int],
    render: Callable[[PathSolution], Headline],
) -> list[Headline]:
    """Decode and render, best first, each text once; nothing if there is no path at all."""
    lengths = lengths_of(options, usual, problem.class_count)
    if not lengths or lengths[-1] < 1:
        return []
    length, limit, wanted = lengths[0], options.max_chars, options.n_best
    alone = wanted == 1 and limit is None
    if alone or len(lengths) > 1:
        solutions = options.decoder.decode_lengths(problem, lengths, budget=_budget(options))
        found = [
            # a single word has no step: avoid dividing by zero
            (solution.certificate.score / max(length - 1, 0.5), length, solution)
            for length, solution in zip(lengths, solutions, strict=True)
            if solution.certificate.score is not None
        ]
        if found:
            # lengths are distinct, so that solutions are never compared
            _, length, best = max(found)
            if alone:
                return [render(best)]
    looked_at = wanted if limit is None else wanted + LOOKED_THROUGH
    for shorter in range(length, 0, -1):
        by_text: dict[str, Headline] = {}
        try:
            ranked = options.decoder.k_best(problem, shorter, looked_at, budget=_budget(options))
        except InfeasibleError:
            continue
        for headline in map(render, ranked):
            if limit is None or len(headline.text) <= limit:
                by_text.setdefault(headline.text, headline)
        if by_text:
            return list(by_text.values())[:wanted]
    return []


def _budget(options: HeadlineOptions) -> Budget:
    return allowing_for_compilation(Budget(options.seconds, options.iterations), options.decoder)
