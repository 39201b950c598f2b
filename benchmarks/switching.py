"""How a part is switched off, and what its row in the table of ablations says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from time import thread_time
from typing import Any, NamedTuple, cast
from unittest.mock import patch

import numpy as np
from harness import timed
from numpy.typing import NDArray
from pipelines import configured
from spacy.language import Language

import spacy_decoders
from spacy_decoders.models.linker.weights import FEATURES

#: The linker where it is alone in a pipeline.
LINKER = "graph_entity_linker"
PACKAGE = Path(spacy_decoders.__file__).parent
COLUMNS = ["part", "on", "with it", "without", "brings", "standard error", "time without", "lines"]

#: Of each score, of each document, sentence or mention, what is right and out of how much.
Counts = dict[str, NDArray[np.float64]]
#: Changes a subject, and puts back what it changed.
Switch = Callable[[Any], Any]


class Trial(NamedTuple):
    """Where something is tried.

    Attributes
    ----------
    data
        The name of what it is tried on.
    subject
        What something can be switched off in: a pipeline, what has a decoder, or settings.
    run
        Works with the subject as it is at the moment.
    """

    data: str
    subject: Any
    run: Callable[[], Counts]


@dataclass(frozen=True)
class Ablation:
    """A part, and how it is switched off.

    Attributes
    ----------
    name
        Begins with the component, or the core, and a dot.
    judge
        What it is judged on.
    off, on
        What takes it away; and, where it is not there by default, what brings it.
    files
        Those that are for it alone, as patterns.
    """

    name: str
    judge: Callable[[Any], list[Trial]]
    off: Switch | None
    on: Switch | None = None
    files: Sequence[str] = ()

    @property
    def lines(self) -> int | None:
        """The lines of its files; None if it has none of its own."""
        files = {path for pattern in self.files for path in PACKAGE.glob(pattern)}
        if self.files and not files:
            raise FileNotFoundError(f"{self.name}: no file matches {self.files}; mend the row.")
        return sum(len(path.read_text("utf8").splitlines()) for path in files) or None


def options(component: str, **values: Any) -> Switch:
    """Set options of a component."""
    return lambda nlp: configured(nlp.get_pipe(component), **values)


def attributes(place: str = "", **values: Any) -> Switch:
    """Set attributes of a module or class, by its dotted name, or else of the subject itself."""
    named = resolve_name(place) if place else None
    return lambda subject: patch.multiple(subject if named is None else named, **values)


def together(*switches: Switch) -> Switch:
    """Switch all of these."""

    def switch(subject: Any) -> Any:
        stack = ExitStack()
        for one in switches:
            stack.enter_context(one(subject))
        return stack

    return switch


def factory(component: str, name: str) -> Switch:
    """Let spaCy's own component do the work of ours."""

    def switch(nlp: Language) -> Any:
        theirs: Any = nlp.create_pipe(name)
        theirs.from_bytes(cast(Any, nlp.get_pipe(component)).to_bytes())
        parts = [(part, theirs if part == component else pipe) for part, pipe in nlp._components]
        return patch.object(nlp, "_components", parts)

    return switch


def table(component: str, name: str) -> Switch:
    """Take a table of words out of the weights of a tagger."""

    def switch(nlp: Language) -> Any:
        pipe: Any = nlp.get_pipe(component)
        (weights,) = (shim for layer in pipe.model.layers for shim in layer.shims)
        return patch.object(weights, name, None)

    return switch


def evidence(name: str) -> Switch:
    """Take a weight of the linker away."""

    def switch(nlp: Language) -> Any:
        (name_of_linker,) = {"linker", LINKER} & set(nlp.pipe_names)
        model: Any = cast(Any, nlp.get_pipe(name_of_linker)).model
        others = model.get_param("weights").copy()
        others[FEATURES.index(name)] = 0.0
        return model.use_params({(model.id, "weights"): others})

    return switch


def option(
    component: str, name: str, judge: Any, *, pipe: str = "", files: Sequence[str] = (), **to: Any
) -> Ablation:
    """An option that is switched `off` to some value, or `on` where it is off by default.

    The row names the value, but for lists and for True and False.
    """
    off, on = (
        options(pipe or component, **{name: to[key]}) if key in to else None
        for key in ("off", "on")
    )
    (value,) = to.values()
    told = str(value) if isinstance(value, str | int | float | None) else type(value).__name__
    about = f"{component}.{name}"
    if not isinstance(value, bool | list):
        about += f" ({told})"
    return Ablation(about, judge, off, on, files)


def overrides(**given: Any) -> Switch:
    """Train with other settings; a double underscore stands for a dot."""
    return attributes(overrides={key.replace("__", "."): value for key, value in given.items()})


def difference(
    with_it: NDArray[np.float64], without: NDArray[np.float64]
) -> tuple[float, float, float, float]:
    """A score in per cent with a part, without it, the difference, and its standard error."""
    drawn = np.random.default_rng(0).integers(len(with_it), size=(500, len(with_it)))

    def per_cent(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return 100.0 * counts[..., 0] / np.maximum(1.0, counts[..., 1])

    whole, less = (float(per_cent(counts.sum(axis=0))) for counts in (with_it, without))
    resampled = [per_cent(counts[drawn].sum(axis=1)) for counts in (with_it, without)]
    return whole, less, whole - less, float((resampled[0] - resampled[1]).std())


def rows_of(part: Ablation, trial: Trial) -> list[list[Any]]:
    """A row for each score that the part changes; one of all scores if it changes none."""
    taken: tuple[list[float], list[float]] = ([], [])
    for turn in range(3):  # the first one compiles and fills tables
        with part.on(trial.subject) if part.on else nullcontext():
            whole, seconds = timed(trial.run, thread_time)
        with part.off(trial.subject) if part.off else nullcontext():
            without, slower = timed(trial.run, thread_time)
        if turn:
            taken[0].append(seconds)
            taken[1].append(slower)
    last = [min(taken[1]) / min(taken[0]), part.lines]
    changed = {
        key: counts
        for key, counts in whole.items()
        # without the part there may be no such annotation at all
        if key in without and (counts != without[key]).any()
    }
    rows = [
        [part.name, f"{trial.data}, {key}", *difference(counts, without[key]), *last]
        for key, counts in changed.items()
    ]
    return rows or [[part.name, f"{trial.data}, all scores", None, None, 0.0, 0.0, *last]]
