"""What a job needs, checked before its output folder is begun."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.util import is_package

from ..errors import ProblemError

if TYPE_CHECKING:
    from .job import Job

__all__ = ["check_requirements", "needed"]


def needed(module: str, argument: str, what: str, extra: str) -> Any:
    """Import a module of another library.

    Raises
    ------
    ProblemError
        If it is not installed, with the argument that needs it.

    Examples
    --------
    >>> needed("no_such_library", "format", "parquet needs pyarrow", "parquet")
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: format: parquet needs pyarrow: pip install
    'spacy-decoders[parquet]'.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ProblemError(
            f"{argument}: {what}: pip install 'spacy-decoders[{extra}]'."
        ) from error


def check_requirements(job: Job, scheduler: str | None) -> None:
    """Refuse a job that could not annotate a single document.

    Raises
    ------
    ProblemError
        If a library that it needs is not installed, or its pipeline is not there.
    """
    if scheduler is not None:
        needed("distributed", "scheduler", "needs Dask", "distributed")
    if job.format == "parquet":
        needed("pyarrow.parquet", "format", "parquet needs pyarrow", "parquet")
    if any(path.suffix.lower() == ".parquet" for path in job.files()):
        needed("pyarrow.parquet", "input", "parquet needs pyarrow", "parquet")
    # the workers of a cluster may have packages and paths of their own
    if job.model and scheduler is None and not (is_package(job.model) or Path(job.model).exists()):
        raise ProblemError(
            f"model: {job.model!r} is no installed pipeline and no folder; install it, or give "
            "the path of a pipeline that was saved."
        )
