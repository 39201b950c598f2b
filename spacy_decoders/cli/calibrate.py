"""Calibrating a pipeline's probabilities, from the command line."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import Annotated

import spacy
import typer
from rich.table import Table

from ..components.probabilities import Fitted, calibrate_pipeline
from ..errors import ProblemError
from ..models.calibration import auroc, calibration_error
from ..readers.corpora import gold_corpus
from .arguments import CONSOLE, Columns, listed

__all__ = ["calibrate_model", "table_of"]


def calibrate_model(
    model: Annotated[str, typer.Argument(help="The pipeline, a folder or a name.")],
    corpus: Annotated[
        Path,
        typer.Argument(help="Held-out annotation: .spacy, .conllu, .conll, .iob2."),
    ],
    output: Annotated[
        Path | None, typer.Option(help="A folder for the pipeline; by default its own.")
    ] = None,
    components: Annotated[
        str, typer.Option(help="Names of components; by default all with probabilities.")
    ] = "",
    columns: Columns = "",
    limit: Annotated[int, typer.Option(min=0, help="Read so much at most; 0 for all.")] = 0,
) -> None:
    """Fit probabilities to how often answers are right on a dev corpus, and save that."""
    target = Path(model) if output is None else output
    read = gold_corpus(corpus, columns=listed(columns), limit=limit)
    nlp = spacy.load(model)
    if output is None and not target.is_dir():
        raise ProblemError(
            f"output: {model} is no folder, so nothing can be saved there; give --output."
        )
    fitted = calibrate_pipeline(nlp, read(nlp), components=listed(components))
    nlp.to_disk(target)
    CONSOLE.print(table_of(fitted))
    CONSOLE.print(f"The calibrated pipeline is {target}.")


def table_of(fitted: Mapping[str, Mapping[str, Fitted]]) -> Table:
    """Show calibration errors and how well probabilities rank; on held-out documents."""
    table = Table(title="of held-out documents; ECE in points")
    for header in ("component: answers", "count", "right", "ECE\nbefore", "ECE\nafter", "AUROC"):
        table.add_column(header, no_wrap=True)
    for component, kinds in fitted.items():
        for kind, found in kinds.items():
            right = found.after.right
            if not len(right):
                continue
            ranking = auroc(found.after)
            table.add_row(
                f"{component}: {kind.replace('_', ' ')}",
                f"{len(right):,}",
                f"{right.mean():.1%}",
                f"{100 * calibration_error(found.before):.2f}",
                f"{100 * calibration_error(found.after):.2f}",
                "-" if isnan(ranking) else f"{ranking:.3f}",
            )
    return table
