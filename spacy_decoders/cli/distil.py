"""Training our components on what another pipeline says, from the command line."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table
from spacy.util import load_config
from spacy.vocab import Vocab

from ..adapt.distillation import Distilled, distil
from ..annotate.records import texts as texts_of

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
    pipeline: str,
    texts: Path,
    output: Path,
    *,
    parts: str,
    config: Path | None,
    max_steps: int,
    limit: int,
    text_field: str,
    use_gpu: int,
) -> None:
    """Distil a pipeline and print how the student compares."""
    found = distil(
        pipeline,
        (text for text, _ in islice(texts_of(texts, Vocab(), text_field), limit or None)),
        output,
        parts=[part.strip() for part in parts.split(",") if part.strip()],
        config=None if config is None else load_config(config),
        max_steps=max_steps,
        use_gpu=use_gpu,
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
