"""What the tree decoders are measured against: other people's programs.

Torch and supar are large, so they may live in an environment of their own: `benchmarks/tree.py
--peers PYTHON` asks that interpreter to run this file, which prints seconds a sentence as JSON.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np

__all__ = ["networkx_arborescence", "supar_seconds", "ufal_heads"]


def ufal_heads(arcs: np.ndarray) -> np.ndarray:
    """Return the heads that ufal.chu_liu_edmonds finds, any number of roots."""
    from ufal.chu_liu_edmonds import chu_liu_edmonds

    heads, _ = chu_liu_edmonds(arcs)  # rows are modifiers there
    return np.asarray(heads[1:])


def networkx_arborescence(arcs: np.ndarray) -> float:
    """Return the score of networkx's maximum spanning arborescence, any number of roots."""
    import networkx as nx

    size = len(arcs)
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(
        (h, m, arcs[h, m]) for h in range(size) for m in range(1, size) if h != m
    )
    return float(nx.maximum_spanning_arborescence(graph).size("weight"))


def supar_seconds(python: str, lengths: list[int]) -> dict[str, dict[str, float]]:
    """Return supar's seconds a sentence, name -> length -> seconds; empty without supar."""
    command = [python, str(Path(__file__).resolve()), *map(str, lengths)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        print(f"supar was not measured: {answer.stderr.strip().splitlines()[-1:]}")
        return {}
    result: dict[str, dict[str, float]] = json.loads(answer.stdout.splitlines()[-1])
    return result


def _structures() -> Any:
    """Import supar's structures without the model zoo that its package pulls in."""
    found = importlib.util.find_spec("supar")
    if found is None or found.submodule_search_locations is None:
        raise ImportError("supar is not installed in this interpreter")
    folder = next(iter(found.submodule_search_locations))
    for name in ("supar", "supar.utils"):
        package = types.ModuleType(name)
        package.__path__ = [str(Path(folder, *name.split(".")[1:]))]
        sys.modules[name] = package
    import supar.structs

    return supar.structs


def _median(task: Callable[[], object], seconds: float = 3.0) -> float:
    task()
    taken: list[float] = []
    while len(taken) < 5 or (sum(taken) < seconds and len(taken) < 200):
        begin = thread_time()
        task()
        taken.append(thread_time() - begin)
    return statistics.median(taken)


def _main(lengths: list[int]) -> None:
    import torch

    torch.set_num_threads(1)
    structures = _structures()
    result: dict[str, dict[str, float]] = {"eisner": {}, "mst": {}}
    for n in lengths:
        generator = torch.Generator().manual_seed(n)
        scores = torch.randn(1, n + 1, n + 1, generator=generator)
        mask = torch.ones(1, n + 1, dtype=torch.bool)
        mask[:, 0] = False
        result["eisner"][str(n)] = _median(
            lambda scores=scores: structures.DependencyCRF(scores.clone().requires_grad_()).argmax
        )
        result["mst"][str(n)] = _median(
            lambda scores=scores, mask=mask: structures.fn.mst(scores, mask)
        )
    print(json.dumps(result))


if __name__ == "__main__":
    _main([int(argument) for argument in sys.argv[1:]])
