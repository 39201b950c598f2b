"""Chains whose kernels, tables and bounds are made to lie."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest

from spacy_decoders.decoders.chain import Beam, ChainDecoder, ChainModel, ChainSolution
from spacy_decoders.decoders.chain.kernels.layout import LANES

from . import promises
from .judge import Chain, Judge
from .promises import check_solution

LENGTHS = [4, 1, 3]

#: The dense kernel where it decodes in float32: in float64 it repairs what others find.
IN_FLOAT32 = " in float32"
NARROW = "kernels.dense" + IN_FLOAT32

#: Each decoder that promises the best, with the module of its kernel.
KERNELS = {
    "Viterbi": NARROW,
    "PrunedViterbi": "published.kernels.beam",
    "ForwardDominance": "kernels.search",
    "ColumnGeneration": "published.kernels.column_generation",
}
DECODERS: dict[str, tuple[str, ChainDecoder]] = {
    name: (KERNELS[name.split()[0]], decoder)
    for name, decoder in promises.DECODERS.items()
    if not isinstance(decoder, Beam)
}
each_decoder = pytest.mark.parametrize(("kernel", "decoder"), DECODERS.values(), ids=DECODERS)

#: Labels that are wrong, made from the right ones and the number of labels.
WRONG: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "one label everywhere": lambda labels, size: np.full_like(labels, labels[0]),
    "all others": lambda labels, size: (labels + 1) % size,
    "one wrong back pointer": lambda labels, size: np.r_[(labels[0] + 1) % size, labels[1:]],
    "a token late": lambda labels, size: np.roll(labels, 1),
}
IMPOSSIBLE: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "too large": lambda labels, size: labels + size,
    "negative": lambda labels, size: labels - size,
}


class Case(NamedTuple):
    """A batch whose sentences have one best labelling each, and their judges."""

    model: ChainModel
    emissions: np.ndarray
    judges: list[Judge]

    @classmethod
    def drawn(cls, size: int, forbidden: float = 0.0) -> Case:
        chain, judges = drawn(size, forbidden)
        # tests change the tables of a model, and emissions
        return cls(ChainModel(*chain[:3]), chain.emissions.copy(), judges)

    def decoded(self, decoder: ChainDecoder, **options: Any) -> list[ChainSolution]:
        return decoder.decode_batch(self.model, self.emissions, LENGTHS, **options)

    def optimal(self, solutions: list[ChainSolution]) -> list[bool]:
        """Check all certificates; return which of them say optimal."""
        for judge, solution in zip(self.judges, solutions, strict=True):
            check_solution(judge, judge.best, solution)
        return [solution.certificate.is_optimal for solution in solutions]

    def right(self, solutions: list[ChainSolution]) -> list[bool]:
        """Return which labellings are best."""
        return [
            judge.labelling(tuple(solution.labels.tolist())).score == judge.best.score
            for judge, solution in zip(self.judges, solutions, strict=True)
        ]


@cache
def drawn(size: int, forbidden: float) -> tuple[Chain, list[Judge]]:
    """Draw the scores of a batch, and judge its sentences."""
    rng = np.random.default_rng(size)
    links = rng.normal(size=(size, size)).astype(np.float32)
    links[rng.random(links.shape) < forbidden] = -np.inf
    start, end = rng.normal(size=(2, size)).astype(np.float32)
    emissions = rng.normal(size=(sum(LENGTHS), size)).astype(np.float32)
    rows = np.split(emissions, np.cumsum(LENGTHS)[:-1])
    return (
        Chain(links, start, end, emissions),
        [Judge(Chain(links, start, end, part)) for part in rows],
    )


#: Kernels that leave sentences to others: which of their results lists these.
LEAVES = {"kernels.search": 1, "published.kernels.column_generation": 2}


def lie(monkeypatch, place: str, change: Callable[[tuple[Any, ...], Any], Any]) -> None:
    """Let a function of the chain core return what `change` makes of arguments and result."""
    module, name = place.rsplit(".", 1)
    home = home_of(module)
    true = getattr(home, name)

    def lying(*given: Any) -> Any:
        result = true(*given)
        return result if is_repair(module, given) else change(given, result)

    monkeypatch.setattr(home, name, lying)


def home_of(kernel: str) -> Any:
    """Return the module of a kernel."""
    return import_module(f"spacy_decoders.decoders.chain.{kernel.removesuffix(IN_FLOAT32)}")


def is_repair(kernel: str, given: tuple[Any, ...]) -> bool:
    """Return whether this is the call in float64 that repairs what the kernel has found."""
    return kernel.endswith(IN_FLOAT32) and given[-2].dtype == np.float64


def kernel_for(kernel: str, size: int) -> str:
    """Return which kernel stands in for forward dominance over so few labels."""
    return "kernels.dense" if kernel == "kernels.search" and size <= LANES else kernel


def corrupt(monkeypatch, case: Case, kernel: str, change: Any) -> None:
    """Let a kernel return other labels, and say that all is well."""
    kernel = kernel_for(kernel, case.model.size)

    def corrupted(given: tuple[Any, ...], result: Any) -> Any:
        # it returns the labels, or fills in its last argument
        fills = not isinstance(result, tuple) or isinstance(result[0], int)
        labels = given[-1] if fills else result[0]
        labels[:] = change(labels.copy(), case.model.size)
        if kernel in LEAVES:  # nor does it leave any sentence to others
            left = LEAVES[kernel]
            return (*result[:left], result[left][:0], *result[left + 1 :])
        return result

    lie(monkeypatch, f"{kernel}.decode", corrupted)


def no_repair(monkeypatch) -> None:
    """Let the fallback in float64 leave the labels as they are."""
    monkeypatch.setattr("spacy_decoders.decoders.chain.proof.decode_exactly", lambda *given: None)
