"""Train a component several times, and put the mean of its weights into one pipeline."""

from pathlib import Path
from typing import Any

import numpy as np
import spacy
import typer
from spacy.cli._util import parse_config_overrides
from spacy.cli.train import train
from thinc.api import Model

from spacy_decoders.models.tagger.sparse.weights import SparseWeights


def main(
    context: typer.Context,
    component: str,
    config: Path,
    output: Path,
    runs: int = 3,
    seed: int = 1,
) -> None:
    """Train with the seeds from `seed` on; other options are those of ``spacy train``.

    Scores of tags and features are sums of weights, so that the mean of several models is one
    model; runs of a network that begin with the same weights stay near enough to each other.
    """
    given = parse_config_overrides(context.args)
    every = [output / str(run) for run in range(seed, seed + runs)]
    for run, folder in enumerate(every, start=seed):
        train(config, folder, overrides={**given, "system.seed": run})
    loaded = [spacy.load(folder / "model-last") for folder in every]
    average([nlp.get_pipe(component).model for nlp in loaded])
    loaded[0].to_disk(output / "model-best")


def average(models: list[Model[Any, Any]]) -> None:
    """Give the first of some models of one kind the mean of their weights."""
    for first, *others in zip(*(model.walk() for model in models), strict=True):
        for name in first.param_names:
            if first.has_param(name):
                weights = [np.asarray(node.get_param(name), "d") for node in (first, *others)]
                first.set_param(name, np.mean(weights, axis=0).astype("f"))
        for place, shim in enumerate(first.shims):
            if isinstance(shim, SparseWeights):
                dense = [node.shims[place].dense() for node in (first, *others)]
                shim.replace(np.mean(dense, axis=0, dtype="f"))


if __name__ == "__main__":
    app = typer.Typer()
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(main)
    app()
