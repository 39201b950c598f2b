"""Headlines of single words, selected and ordered by a path decoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...budget import Budget
from ...errors import InfeasibleError, UndecidedError
from ...models.headline.bigrams import BigramModel, word_graph
from ...models.headline.stems import word_keys
from ...models.headline.words import Vertices
from ..factories.headline_generator import HeadlineOptions
from .headlines import Headline, ScoredUnit, capitalised, limits_of
from .reading import NEGATIONS

if TYPE_CHECKING:
    from ...decoders.path import PathProblem, PathSolution

__all__ = ["headlines_of_words"]

#: Of a text with more words, this many likeliest ones are kept, with the scope "pruned".
MOST_VERTICES = 1000
#: Extra headlines of the ranking that are searched for some that fit `max_chars`.
LOOKED_THROUGH = 20
_DENYING = word_keys(sorted(NEGATIONS))


def headlines_of_words(scored: ScoredUnit, options: HeadlineOptions) -> list[Headline]:
    """Select and order words by a path decoder; return the best headlines, best first."""
    knowledge = scored.batch.knowledge
    tokens = scored.batch.tokens.part(scored.begin, scored.end)
    # the log-probability of being chosen: a word then adds at most the bonus
    odds = scored.batch.odds[scored.own(scored.batch.vertices.first)]
    selection = -np.logaddexp(0.0, -odds)
    vertices = Vertices.of(tokens)
    # a selection of words would lose the "not" beside them
    vertices.of_token[tokens.near(_DENYING)] = -1
    eligible = np.unique(vertices.of_token[vertices.of_token >= 0])
    if not len(eligible):
        return []
    likely = np.argsort(-selection[eligible], kind="stable")[:MOST_VERTICES]
    kept = np.sort(eligible[likely])
    names = knowledge.auxiliaries if options.auxiliaries is None else tuple(options.auxiliaries)
    problem, via = word_graph(
        tokens,
        vertices.restrict(kept),
        selection[kept],
        knowledge.language_model or BigramModel.count(tokens.runs()),
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
            # prefer an occurrence that is not capitalised by the start of a sentence
            chosen.append(scored.unit[int(places[np.argmin(begins[places])])])
        pairs = zip(["", *between], [token.text for token in chosen], strict=True)
        text = capitalised(" ".join(word for pair in pairs for word in pair if word))
        return Headline(text, [token.i for token in chosen], between, certificate)

    limit = options.max_chars
    for solutions in _rankings(problem, scored, options):
        by_text: dict[str, Headline] = {}
        for headline in map(render, solutions):
            if limit is None or len(headline.text) <= limit:
                by_text.setdefault(headline.text, headline)
        if by_text:
            return list(by_text.values())
    return []


def _rankings(
    problem: PathProblem, scored: ScoredUnit, options: HeadlineOptions
) -> Iterator[Sequence[PathSolution]]:
    """Yield the best paths, best first; then those of each smaller length."""
    least, most = limits_of(options, scored.batch.knowledge.lengths)
    most = min(most, problem.class_count)
    lengths = range(min(least, most), most + 1)
    decoder, limit = options.decoder, options.max_chars
    budget = Budget(options.seconds, options.iterations)
    # a single word has no step: avoid dividing by zero
    found = [
        (solution.certificate.score / max(length - 1, 0.5), length, solution)
        for length, solution in zip(
            lengths, decoder.decode_lengths(problem, lengths, budget=budget), strict=True
        )
        if solution.certificate.score is not None
    ]
    # lengths are distinct, so that solutions are never compared
    _, longest, best = max(found, default=(0.0, most, None))
    if best is not None and options.n_best == 1 and limit is None:
        yield [best]
        return
    looked_at = options.n_best + (LOOKED_THROUGH if limit else 0)
    for length in range(longest, 0, -1):
        try:
            yield decoder.k_best(problem, length, looked_at, budget=budget)
        except InfeasibleError:
            continue
        except UndecidedError:
            scored.is_decided = False
