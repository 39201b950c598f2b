"""The k best trees, max-marginals and margins of a problem, with any exact decoder."""

from collections.abc import Callable
from operator import itemgetter

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats, Integers, checked_indices, checked_type
from ...budget import UNLIMITED, Budget, Clock, rest_of
from ...errors import InfeasibleError, ProblemError, UndecidedError
from .constrained import Incumbent, LabelledSearch
from .decoder import TreeDecoder
from .eisner import THROUGH
from .problem import TreeProblem, TreeSolution
from .proof import split

__all__ = ["exact_decoder", "head_margins", "k_best", "max_marginals"]


def k_best(
    problem: TreeProblem,
    k: int,
    *,
    decoder: TreeDecoder | None = None,
    budget: Budget = UNLIMITED,
) -> list[TreeSolution]:
    """Find up to `k` different trees, best first: see :meth:`TreeDecoder.k_best`.

    Parameters
    ----------
    decoder
        The decoder, which also defines the score; None for the fastest that is exact for the
        whole problem.

    Examples
    --------
    >>> problem = TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]])
    >>> [(tree.heads.tolist(), tree.certificate.score) for tree in k_best(problem, 5)]
    [([2, 0], 5.0), ([0, 1], 2.0)]
    """
    if decoder is not None:
        checked_type("decoder", decoder, TreeDecoder, "exact_decoder(problem)")
    return (decoder or exact_decoder(problem)).k_best(problem, k, budget=budget)


def exact_decoder(problem: TreeProblem) -> TreeDecoder:
    """Return the fastest decoder that is exact for the problem.

    Examples
    --------
    >>> exact_decoder(TreeProblem([[0, 1], [0, 0]], projective=False))
    ChuLiuEdmonds()
    """
    checked_type("problem", problem, TreeProblem)
    # imported here, since each compiles its own kernels
    if not problem.is_first_order:
        if problem.projective and problem.siblings is None and not problem.has_factors:
            from .second_order import SecondOrder

            return SecondOrder()
        from .branch_and_bound import BranchAndBound

        return BranchAndBound()
    if problem.projective:
        from .eisner import Eisner

        return Eisner()
    from .chu_liu_edmonds import ChuLiuEdmonds

    return ChuLiuEdmonds()


def max_marginals(problem: TreeProblem, *, budget: Budget = UNLIMITED) -> Floats:
    """Return the score of the best tree through each arc.

    For projective trees with arcs and grandparents only, it takes one inside-outside pass.
    Otherwise each arc takes a decoding, exact but slow: if only the margins of heads are needed,
    :func:`head_margins` is much faster.

    Parameters
    ----------
    budget
        For the pass, or for each of the decodings.

    Returns
    -------
    float64 (n + 1, n + 1)
        ``-inf`` where no tree has the arc. All others are scores of trees, exact to the tolerance
        of an optimal certificate: at most 1e-6 times 1 plus the absolute scores of that tree's
        parts, and 1e-9 where the scores of all trees are of one scale. NaN where that was not
        proven: the budget ended first, or scores of other trees cost too many digits.

    Examples
    --------
    >>> max_marginals(TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]]))
    array([[-inf,   2.,   5.],
           [-inf, -inf,   2.],
           [-inf,   5., -inf]])
    """
    checked_type("problem", problem, TreeProblem)
    checked_type("budget", budget, Budget)
    if problem.labels is not None and not problem.rules:
        problem = problem.with_arcs(problem.arcs + problem.labels.max(axis=2))
    if not _has_chart(problem):
        return _one_by_one(problem, budget)
    if problem.is_first_order:
        from .eisner import bounds_through as charted
    else:  # imported here, since the kernels are compiled on import
        from .second_order import second_order_marginals as charted
    seconds = exact_decoder(problem).seconds_of_charts(problem, THROUGH)
    if seconds > budget.start().seconds_left:
        return np.full(problem.arcs.shape, np.nan)
    found = charted(problem)
    found[found == np.inf] = np.nan
    return found


def _one_by_one(problem: TreeProblem, budget: Budget) -> Floats:
    """Decode the best tree through each arc."""
    marginals = np.full(problem.arcs.shape, -np.inf)
    for head, token in np.argwhere(problem.allowed).tolist():
        taken, _ = split(problem.allowed, head, token)
        marginals[head, token] = _best_score(problem.restricted(taken), budget)
    return marginals


def head_margins(problem: TreeProblem, heads: ArrayLike, *, budget: Budget = UNLIMITED) -> Floats:
    """Return the margin of each head: the best score less that of the best tree with another head.

    Parameters
    ----------
    heads
        int (n,), a best tree of the problem.
    budget
        Its seconds are for all margins; its iterations, if each takes a search, for each.

    Returns
    -------
    float64 (n,)
        ``inf`` if no tree has another head for the token, NaN if the margin was not proven, for
        lack of time or of precision; otherwise as exact as :func:`max_marginals`. Negative if the
        heads are not those of a best tree.

    Raises
    ------
    ProblemError
        If the heads form no tree of allowed arcs.

    Examples
    --------
    >>> head_margins(TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]]), [2, 0])
    array([3., 3.])
    """
    from .kernels.proofs import tally  # compiled where it is first needed

    checked_type("problem", problem, TreeProblem)
    checked_type("budget", budget, Budget)
    # writable, as kernels are compiled for both kinds of arrays apart
    tree = np.array(checked_indices("heads", heads, (problem.n,), low=0, high=problem.n + 1))
    if not tally(problem.arcs, tree, problem.projective, problem.has_one_root)[0]:
        raise ProblemError(
            "heads: they form no tree of the problem (a cycle, crossing arcs, several roots, or a "
            "forbidden arc); give those of a solution."
        )
    tokens = np.arange(1, problem.n + 1)
    if _has_chart(problem):
        others = np.array(max_marginals(problem, budget=budget))
        best = others[tree, tokens]
        others[tree, tokens] = -np.inf
        return best - others[:, 1:].max(axis=0, initial=-np.inf)
    clock = budget.start()
    if clock.exhausted():
        return np.full(problem.n, np.nan)
    return _margins_by_search(problem, tree, clock)


def _margins_by_search(problem: TreeProblem, tree: Integers, clock: Clock) -> Floats:
    """Return the margins of heads of a problem that no chart covers.

    The search for the best tree ends with relaxations that cover all legal trees. If these are
    first-order, the best tree with another head in them satisfies the rules for most tokens. The
    others take a search of their own, whose first incumbent is the best such tree known by then.
    """
    decoder = exact_decoder(problem)
    search = LabelledSearch(decoder, problem, clock)
    parts = search.relaxations()
    tokens = np.arange(problem.n)
    known: dict[bytes, Incumbent | None] = {}
    bound = np.full(problem.n, -np.inf if parts else np.inf)
    for part, possible in zip(parts, search.leaves, strict=True):
        is_charted = part.is_first_order and (part.projective or part.boundaries is None)
        for token in tokens.tolist():
            try:
                if not is_charted or clock.exhausted():
                    raise UndecidedError
                left = _without_head(part, tree, token)
                other = decoder.decode(left, budget=rest_of(clock, 0))
                score = _proven(other)
            except InfeasibleError:
                continue
            except UndecidedError:
                score = np.nan
            bound[token] = max(bound[token], np.inf if np.isnan(score) else score)
            if not np.isnan(score) and (key := other.heads.tobytes()) not in known:
                legal = search.legal(other, search.arcs.best_labels(possible, other.heads))
                known[key] = legal and (score, *legal[1:])
    found = np.full(problem.n, -np.inf)
    first: list[Incumbent | None] = [None] * problem.n
    for one in sorted(filter(None, known.values()), key=itemgetter(0)):
        differs = one[2].heads != tree
        found[differs] = one[0]
        for token in np.flatnonzero(differs).tolist():
            first[token] = one
    for token in np.flatnonzero(~(found >= bound)).tolist():
        found[token] = np.nan
        if not clock.exhausted():
            rest = LabelledSearch(decoder, _without_head(problem, tree, token), clock)
            rest.best = first[token]
            found[token] = _score_of(rest.run)
    score, given = np.nan, search.solution
    if given is not None and (given.heads == tree).all():
        score = _proven(given)
    if np.isnan(score) and not np.isnan(found).all():  # the score of the tree is yet unknown
        only = np.zeros_like(problem.allowed)
        only[tree, tokens + 1] = True
        score = _best_score(problem.restricted(only), rest_of(clock, 0))
    return score - found


def _without_head(problem: TreeProblem, tree: Integers, token: int) -> TreeProblem:
    return problem.restricted(split(problem.allowed, int(tree[token]), token + 1)[1])


def _has_chart(problem: TreeProblem) -> bool:
    """Return whether one dynamic program covers the whole problem."""
    if problem.is_constrained or (problem.boundaries is not None and not problem.is_first_order):
        return False
    return problem.projective and problem.siblings is None and not problem.has_factors


def _best_score(problem: TreeProblem, budget: Budget) -> float:
    """Return the score of the best tree: ``-inf`` if there is none, NaN if it is not proven."""
    decoder = exact_decoder(problem)
    return _score_of(lambda: decoder.decode(problem, budget=budget))


def _score_of(decode: Callable[[], TreeSolution]) -> float:
    """Return the score of the decoded tree: ``-inf`` if there is none, NaN if it is not proven."""
    try:
        return _proven(decode())
    except InfeasibleError:
        return -np.inf
    except UndecidedError:
        return np.nan


def _proven(found: TreeSolution) -> float:
    """Return the score of a tree, NaN if it is not proven that it is the best."""
    score = found.certificate.score
    return score if score is not None and found.certificate.is_optimal else np.nan
