"""Saved components with damaged or made-up files: they are refused, or say something."""

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import srsly
from spacy.language import Language

import spacy_decoders
from spacy_decoders.components.decoding_pipe import CHECKSUMS
from spacy_decoders.errors import DecodersError

from ..damage import damaged, mutated
from .isolation import Outcomes, run_trials

COMPONENTS = ("parser", "tagger", "morphologizer", "entities", "linker", "headline")
TEXT = "The jaguar hunts along the Amazon. Mary Smith of London, who saw it in 1999, ran."


@cache
def shipped() -> Language:
    """The shipped pipeline, which trials change in processes of their own alone."""
    return spacy_decoders.load()


def component_trial(name: str, folder: Path, *, sealed: bool) -> Callable[[int], str]:
    """Make what damages one file of a component, loads it and uses it.

    With checksums, whatever is damaged must be refused. Without, as in a component that somebody
    made up, it may also be read; then it gives some annotation, or an error.
    """
    nlp = shipped()
    pipe = nlp.get_pipe(name)
    docs = [nlp(TEXT), nlp("Rome.")]
    pipe.to_disk(folder, exclude=["vocab"])
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    if not sealed:
        whole.pop(CHECKSUMS)
        (folder / CHECKSUMS).unlink()

    def trial(seed: int) -> str:
        rng = np.random.default_rng(seed)
        changed = sorted(whole)[rng.integers(len(whole))]
        for file, content in whole.items():
            (folder / file).write_bytes(content)
        content = whole[changed]
        content = reworded(content, changed, rng) if rng.random() < 0.7 else damaged(content, rng)
        (folder / changed).write_bytes(content)
        try:
            pipe.from_disk(folder, exclude=["vocab"])
        except DecodersError as error:
            assert str(folder) in str(error), f"{changed}: no place in {error}"
            raise
        if sealed:
            same = content == whole[changed] or changed == CHECKSUMS
            assert same, f"{changed} was read, though it is damaged"
            return "unchanged"
        try:
            for doc in docs:
                pipe(doc.copy())
        except MemoryError:
            raise
        except Exception as error:
            return f"{type(error).__name__} when used"
        return "read"

    return trial


def reworded(content: bytes, name: str, rng: np.random.Generator) -> bytes:
    """Another value of a file that is as such well formed."""
    if name in ("cfg", CHECKSUMS):
        return json.dumps(mutated(json.loads(content), rng)).encode()
    try:
        tree = srsly.msgpack_loads(content)
    except ValueError:
        return damaged(content, rng)
    return srsly.msgpack_dumps(mutated(tree, rng))


def check_component(name: str, folder: Path, trials: int, *, sealed: bool) -> Outcomes:
    """Run so many trials of a component."""
    trial = component_trial(name, folder, sealed=sealed)
    outcomes = run_trials(trial, range(trials), allowed=(DecodersError,))
    shutil.rmtree(folder)
    return outcomes
