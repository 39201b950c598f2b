"""Commands on corpora: converting, annotating, and calibrating a pipeline."""

from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import Annotated

import spacy
import typer
from rich.table import Table
from spacy.tokens import DocBin

from ..annotate import Job, annotate
from ..bundled import place_of
from ..components.probabilities import Fitted, calibrate_pipeline
from ..errors import ProblemError
from ..models.calibration import auroc, calibration_error
from ..readers.corpora import gold_corpus
from .arguments import CONSOLE, Pipeline, counted, listed

__all__ = ["annotate_corpus", "calibrate_model", "convert_corpus", "table_of"]

Columns = Annotated[
    str, typer.Option(help="The columns of files with one token a line: form,tag,ent.")
]


def convert_corpus(
    corpus: Annotated[
        Path, typer.Argument(help="A file: .conllu, .conll, .iob2; .tsv by --columns; or .gz.")
    ],
    output: Annotated[Path, typer.Argument(help="The .spacy to write.")],
    columns: Columns = "",
    n_sents: Annotated[int, typer.Option(min=1, help="The most sentences of a document.")] = 10,
    merge_subtokens: Annotated[
        bool, typer.Option(help='Of CoNLL-U: contracted words ("nella") as in the text.')
    ] = False,
) -> None:
    """Convert annotation to .spacy, which `spacy evaluate` and `spacy.Corpus.v1` read."""
    if output.suffix != ".spacy":
        raise ProblemError(f"output: expected a file that ends in .spacy, got {output.name}.")
    named = listed(columns)
    read = gold_corpus(corpus, columns=named, n_sents=n_sents, merge_subtokens=merge_subtokens)
    docs = [example.reference for example in read(spacy.blank("xx"))]
    if not docs:
        raise ProblemError(f"corpus: {corpus} has no sentence.")
    output.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=docs, store_user_data=True).to_disk(output)
    typer.echo(f"{counted(len(docs), 'document')} in {output}.")


def annotate_corpus(
    source: Annotated[
        Path, typer.Argument(help="A file or folder: .spacy, .jsonl(.gz), .parquet, .txt.")
    ],
    output: Annotated[Path, typer.Argument(help="A folder; an unfinished one is resumed.")],
    model: Pipeline = "",
    format: Annotated[str, typer.Option(help="spacy, jsonl or parquet.")] = "spacy",
    shard_size: Annotated[int, typer.Option(help="Records for each file.")] = 500,
    text_field: Annotated[
        str, typer.Option(help="The field of the text in .jsonl and .parquet.")
    ] = "text",
    workers: Annotated[int, typer.Option(help="Local processes.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler (extra: distributed).")
    ] = None,
) -> None:
    """Annotate a corpus into a folder of files; an interrupted job is resumed."""
    job = Job(source, output, model, format, shard_size, text_field)  # type: ignore[arg-type]
    try:
        summary = annotate(job, workers=workers, scheduler=scheduler)
    except KeyboardInterrupt:
        kept = counted(len([*job.output.glob("part-*")]), "finished file")
        CONSOLE.print(f"Stopped, with {kept}: run the same command again for the rest.")
        raise typer.Exit(130) from None
    certified = "" if summary.certified is None else f", {summary.certified:.1%} proven optimal"
    CONSOLE.print(
        f"{counted(summary.written, 'document')} in {counted(summary.shards, 'file')} under "
        f"{job.output}{certified}."
    )
    if summary.resumed:
        CONSOLE.print(f"From an earlier run: {counted(summary.resumed, 'file')}.")
    if summary.failed:
        errors = job.output / "errors.jsonl"
        CONSOLE.print(f"{summary.failed:,} failed: see {errors}", style="yellow")
        raise typer.Exit(1)


def calibrate_model(
    model: Annotated[
        str, typer.Argument(help="The pipeline, a folder or a name; en for the shipped one.")
    ],
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
    limit: Annotated[int, typer.Option(min=0, help="The most sentences to read; 0 for all.")] = 0,
) -> None:
    """Calibrate probabilities on a held-out corpus, and save the pipeline."""
    target = Path(model) if output is None else output
    read = gold_corpus(corpus, columns=listed(columns), limit=limit)
    nlp = spacy.load(place_of(model))
    if not target.is_dir() and (output is None or target.exists()):
        raise ProblemError(
            f"output: {target} is not a folder to save the pipeline in; give --output."
        )
    fitted = calibrate_pipeline(nlp, read(nlp), components=listed(components))
    nlp.to_disk(target)
    CONSOLE.print(table_of(fitted))
    CONSOLE.print(f"The calibrated pipeline is {target}.")


def table_of(fitted: Mapping[str, Mapping[str, Fitted]]) -> Table:
    """Tabulate calibration errors, and how well probabilities rank answers."""
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
