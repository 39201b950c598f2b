"""Compiling every registered decoder by one tiny problem each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from tqdm import tqdm

from ..errors import NotDecomposableError, ProblemError
from ..registry import decoders

__all__ = ["CORES", "warmup"]


def warmup() -> int:
    """Run each registered decoder on a tiny problem; returns how many failed.

    A decoder of ours is recognised by the core that it lives in (see :data:`CORES`); one of
    another package may have a method ``warmup()`` of its own.
    """
    console = Console()
    tasks: dict[str, Callable[[], object]] = {
        name: lambda build=build: _warm(build())  # type: ignore[misc]
        for name, build in sorted(decoders.get_all().items())
    }
    tasks.update(FUNCTIONS)
    failures = {}
    started = perf_counter()
    with tqdm(tasks.items(), desc="compiling", unit="decoder", leave=False) as bar:
        for name, task in bar:
            bar.set_postfix_str(name)
            try:
                task()
            except Exception as error:
                failures[name] = f"{type(error).__name__}: {error}"
    for name, reason in failures.items():
        console.print(f"[red]failed[/red] {name}: {reason}", highlight=False)
    console.print(
        f"{len(tasks) - len(failures)} of {len(tasks)} are compiled and ready "
        f"({perf_counter() - started:.1f} s).",
        highlight=False,
    )
    return len(failures)


def _warm(decoder: Any) -> None:
    module = type(decoder).__module__.split(".")
    if module[:2] == ["spacy_decoders", "decoders"] and module[2] in CORES:
        CORES[module[2]](decoder)
    elif hasattr(decoder, "warmup"):
        decoder.warmup()


def _chain_models() -> list[Any]:
    """A small one, one as large as joint labels are, and one with a forbidden transition."""
    from ..decoders.chain import ChainModel

    forbidding = np.zeros((3, 3), dtype=np.float32)
    forbidding[0, 1] = -np.inf
    sizes = [np.zeros((size, size), dtype=np.float32) for size in (3, 130)]
    return [ChainModel(transitions) for transitions in (*sizes, forbidding)]


def _chain(decoder: Any) -> None:
    for model in _chain_models():
        decoder.decode_batch(model, np.zeros((5, model.size), dtype=np.float32), [3, 2])


def _chain_functions() -> None:
    from ..decoders import chain

    for model in _chain_models():
        emissions = np.zeros((3, model.size), dtype=np.float32)
        chain.k_best(model, emissions, 2)
        chain.max_marginal_margins(model, emissions)
        chain.zero_one_oracle(model, emissions, np.zeros(3, dtype=np.int32))


def _tree(decoder: Any) -> None:
    from ..decoders.tree import TreeProblem

    arcs = np.zeros((4, 4))
    try:
        decoder.decode(TreeProblem(arcs, projective=True))
    except ProblemError:  # one for non-projective trees
        decoder.decode(TreeProblem(arcs, projective=False))


def _path(decoder: Any) -> None:
    from ..decoders.path import PathProblem

    zeros = np.zeros(3)
    decoder.decode(PathProblem(zeros, np.zeros((3, 3)), zeros, np.arange(3)), 2)


def _representatives(decoder: Any) -> None:
    from ..decoders.representatives import RepresentativesProblem
    from ..graph import ConceptGraph

    graph = ConceptGraph.from_edges(np.array([[0, 1], [1, 2], [2, 3]]))
    candidates = [np.array([0, 1]), np.array([2, 3])]
    # one whose hypotheses fail here has been compiled far enough to tell
    with suppress(NotDecomposableError):
        decoder.decode(RepresentativesProblem.from_graph(graph, candidates))


#: How a decoder of each core is run once: one line for each core.
CORES: dict[str, Callable[[Any], None]] = {
    "chain": _chain,
    "tree": _tree,
    "path": _path,
    "representatives": _representatives,
}

#: What is compiled besides the registered decoders.
FUNCTIONS: dict[str, Callable[[], object]] = {"k-best and margins of chains": _chain_functions}
