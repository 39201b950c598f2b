"""What a job needs, checked before its output folder is begun."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spacy.util import is_package

from ..errors import ProblemError
from ..extras import needed

if TYPE_CHECKING:
    from .job import Job

__all__ = ["check_requirements"]


def check_requirements(job: Job, scheduler: str | None) -> None:
    """Refuse a job that could not annotate a single document.

    Raises
    ------
    ProblemError
        If a library that it needs is not installed, or its pipeline is not there.
    """
    if scheduler is not None:
        needed("distributed", "distributed", "scheduler")
    if job.format == "parquet":
        needed("pyarrow.parquet", "parquet", "format")
    if any(path.suffix.lower() == ".parquet" for path in job.files()):
        needed("pyarrow.parquet", "parquet", "input")
    # the workers of a cluster may have packages and paths of their own
    if job.model and scheduler is None and not (is_package(job.model) or Path(job.model).exists()):
        raise ProblemError(
            f"model: {job.model!r} is no installed pipeline and no folder; install it, or give "
            "the path of a pipeline that was saved."
        )
