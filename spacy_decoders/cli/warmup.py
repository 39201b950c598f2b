"""Compiling everything once: every registered decoder, and every component at work."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from concurrent.futures import as_completed
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from tqdm import tqdm

from ..budget import Budget
from ..errors import NotDecomposableError, ProblemError
from ..process_pool import spawned_pool
from ..registry import decoders
from .warmup_pipelines import PIPELINES, WHOLE, parts_of, run_part

__all__ = ["tasks_of", "warmup"]

Task = Callable[[], object]


def warmup(
    pipeline: Annotated[
        str,
        typer.Option(
            help="Compile what this pipeline needs, a folder or a name; en for the shipped one."
        ),
    ] = "",
) -> None:
    """Compile all decoders once, or what a pipeline needs, so that no later run has to."""
    started = perf_counter()
    rounds = [parts_of(pipeline), [WHOLE]] if pipeline else [list(CORES)]
    outcomes: dict[str, str] = {}
    with spawned_pool(os.cpu_count() or 1) as pool:
        for groups in rounds:
            running = {pool.submit(_run, group, pipeline): group for group in groups}
            ended = as_completed(running)
            for future in tqdm(ended, "compiling", len(running), unit="part", leave=False):
                try:
                    outcomes |= future.result()
                except Exception as error:  # the process itself ended
                    outcomes[running[future]] = _reason(error)
    console = Console(highlight=False)
    failures = {name: reason for name, reason in outcomes.items() if reason}
    for name, reason in failures.items():
        console.print(f"[red]failed[/red] {name}: {reason}")
    console.print(
        f"{len(outcomes) - len(failures)} of {len(outcomes)} are compiled and ready "
        f"({perf_counter() - started:.1f} s)."
    )
    raise typer.Exit(len(failures))


def _run(group: str, pipeline: str) -> dict[str, str]:
    """Run the tasks of a core or a pipeline's part; say of each why it failed, if it did."""
    tasks = {group: partial(run_part, pipeline, group)} if pipeline else tasks_of(group)
    outcomes = {}
    for name, task in tasks.items():
        try:
            with warnings.catch_warnings():
                # of how little the two made-up examples teach: no user can do anything about it
                warnings.simplefilter("ignore", UserWarning)
                task()
            outcomes[name] = ""
        except Exception as error:
            outcomes[name] = _reason(error)
    return outcomes


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def tasks_of(core: str) -> dict[str, Task]:
    """Return what is run for a core: its registered decoders, functions and components."""
    decode_once, functions = CORES[core]
    ours = {
        name: partial(_decode_registered, decode_once, name)
        for name, build in sorted(decoders.get_all().items())
        if getattr(build, "home", "") == f"decoders.{core}"
    }
    return {**ours, **functions, **PIPELINES[core]}


def _decode_registered(decode_once: Callable[[Any], None], name: str) -> None:
    decode_once(decoders.get(name)())


def _chain_models() -> list[Any]:
    """A small one, one as large as joint labels are, and one with a forbidden transition."""
    from ..decoders.chain import ChainModel

    forbidding = np.zeros((3, 3), dtype=np.float32)
    forbidding[0, 1] = -np.inf
    sizes = [np.zeros((size, size), dtype=np.float32) for size in (3, 130)]
    return [ChainModel(transitions) for transitions in (*sizes, forbidding)]


def _chain(decoder: Any) -> None:
    for model in _chain_models():
        emissions = np.zeros((5, model.size), dtype=np.float32)
        decoder.decode_batch(model, emissions, [3, 2])
        decoder.decode(model, emissions)


def _chain_functions() -> None:
    from ..decoders import chain

    for model in _chain_models():
        emissions = np.zeros((3, model.size), dtype=np.float32)
        chain.k_best(model, emissions, 2)
        chain.max_marginal_margins(model, emissions)
        chain.zero_one_oracle(model, emissions, np.zeros(3, dtype=np.int32))
        chain.marginals(model, emissions)
        kinds = chain.RunKinds(np.zeros(model.size, int), np.ones((model.size,) * 2, bool))
        found = chain.posteriors(model, emissions)
        found.likely_runs(kinds, 0.5)
        found.of_runs(kinds, [0], [1], [0])


def _tree(decoder: Any) -> None:
    from ..decoders.tree import TreeProblem

    arcs, labels = np.zeros((4, 4)), np.zeros((4, 4, 2))
    arcs[0, 1:] = -1.0  # the best heads make no tree
    for projective in (True, False):
        with suppress(ProblemError):  # one for the other kind of trees
            decoder.decode(TreeProblem(arcs, projective=projective))
            several = TreeProblem(
                arcs, labels=labels, boundaries=np.zeros(3), projective=projective
            )
            decoder.decode(several)


def _tree_probabilities() -> None:
    from ..decoders.tree import tree_posteriors

    for projective in (True, False):
        tree_posteriors(np.zeros((4, 4)), projective=projective)


def _path(decoder: Any) -> None:
    from ..decoders.path import PathProblem

    zeros = np.zeros(3)
    problem = PathProblem(zeros, np.zeros((3, 3)), zeros, np.arange(3))
    decoder.decode(problem, 2)
    # under a limit of time some work in smaller steps, by kernels of their own
    decoder.decode(problem, 2, budget=Budget(seconds=60.0))
    decoder.k_best(problem, 2, 2)


def _representatives(decoder: Any) -> None:
    from ..decoders.representatives import RepresentativesProblem
    from ..graph import ConceptGraph

    graph = ConceptGraph.from_edges(np.array([[0, 1], [1, 2], [2, 3]]))
    candidates = [np.array([0, 1]), np.array([2, 3])]
    # one whose hypotheses fail here has been compiled far enough to tell
    with suppress(NotDecomposableError):
        decoder.decode(RepresentativesProblem.from_graph(graph, candidates))


#: Of each core how a decoder is run once, and what else is compiled; the longest first, as they
#: run side by side. Hardly a function is compiled by two of them.
CORES: dict[str, tuple[Callable[[Any], None], dict[str, Task]]] = {
    "tree": (_tree, {"probabilities of trees": _tree_probabilities}),
    "chain": (_chain, {"k-best, margins and marginals of chains": _chain_functions}),
    "path": (_path, {}),
    "representatives": (_representatives, {}),
}
