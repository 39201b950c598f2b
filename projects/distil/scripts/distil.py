"""Training our components on what another pipeline says, from the command line."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from distillation import Distilled, distil
from rich.console import Console
from rich.table import Table
from spacy.util import load_config
from spacy.vocab import Vocab

from spacy_decoders.annotate.records import texts as texts_of
from spacy_decoders.cli.arguments import listed
from spacy_decoders.errors import DecodersError

__all__ = ["distil_pipeline"]

_NAMES = {
    "tag_acc": "tags",
    "dep_uas": "heads",
    "dep_las": "heads and labels",
    "sents_f": "sentences (F)",
    "ents_f": "entities (F)",
    "certified": "proven optimal",
}


def distil_pipeline(
    pipeline: Annotated[
        str, typer.Argument(help="The pipeline to learn from, a name or a folder.")
    ],
    texts: Annotated[
        Path,
        typer.Argument(help="Raw texts, a file or folder: .txt, .jsonl(.gz), .parquet, .spacy."),
    ],
    output: Annotated[Path, typer.Argument(help="A folder for the new pipeline.")],
    parts: Annotated[
        str, typer.Option(help="Of tagger,parser,entities; by default all that are annotated.")
    ] = "",
    config: Annotated[
        Path | None, typer.Option(help="A training config; by default a small and fast one.")
    ] = None,
    max_steps: Annotated[int, typer.Option(help="Steps of training.")] = 3000,
    limit: Annotated[int, typer.Option(min=0, help="Read so many texts at most; 0 for all.")] = 0,
    text_field: Annotated[
        str, typer.Option(help="Where the text is in .jsonl, .parquet.")
    ] = "text",
    gpu_id: Annotated[int, typer.Option(help="The GPU to train on; -1 for none.")] = -1,
) -> None:
    """Train our components to say what another pipeline says: faster, and certified."""
    found = distil(
        pipeline,
        (text for text, _ in islice(texts_of(texts, Vocab(), text_field), limit or None)),
        output,
        parts=listed(parts),
        config=None if config is None else load_config(config),
        max_steps=max_steps,
        use_gpu=gpu_id,
    )
    console = Console(highlight=False, soft_wrap=True)
    console.print(table_of(found))
    console.print(f"The pipeline is {output / 'student'}; the figures are in report.json there.")


def table_of(found: Distilled) -> Table:
    """Show agreement and speed."""
    table = Table("on held-out texts", "", title=None)
    for key, value in found.agreement.items():
        table.add_row(_NAMES.get(key, key), f"{value:.1%}")
    table.add_row("words a second before", f"{found.teacher_words:,.0f}")
    table.add_row("words a second now", f"{found.student_words:,.0f}  ({found.speedup:.1f} x)")
    table.add_row("what was learned alone", f"{found.speedup_of_parts:.1f} x")
    return table


if __name__ == "__main__":
    try:
        typer.run(distil_pipeline)
    except DecodersError as error:
        sys.exit(str(error))
