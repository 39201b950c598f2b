"""A job, its shards, and their reports."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from itertools import starmap
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PositiveInt, TypeAdapter

from ..arrays import checked_path
from ..bundled import place_of
from ..components.option_checks import check_of
from ..errors import ProblemError
from ..files import file_digest, write_atomically
from .formats import Format
from .records import Extent, input_files, runs, version_of

__all__ = ["REPORT", "Failure", "Job", "Shard", "ShardReport", "Summary"]


@dataclass(frozen=True)
class Shard:
    """A run of input records that becomes one output file."""

    number: int
    extents: tuple[Extent, ...]

    @property
    def records(self) -> int:
        return sum(extent.stop - extent.start for extent in self.extents)


@dataclass(frozen=True)
class Failure:
    """A document that could not be annotated: why, and where it was read.

    `line` is the number of the record in its file, from 1; None if the file is one document or
    damaged.
    """

    id: str | int | float
    component: str
    reason: str
    file: str = ""
    line: int | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, str):  # of a record or file whose name JSON may lack
                written = value.encode("utf8", "backslashreplace").decode()
                object.__setattr__(self, name, written)


@dataclass(frozen=True)
class ShardReport:
    """The report of one shard: documents written and failed, units decoded and certified."""

    shard: int
    written: int = 0
    units: int = 0
    certified: int = 0
    failures: tuple[Failure, ...] = ()


#: Parses and serialises reports.
REPORT = TypeAdapter(ShardReport)


@dataclass(frozen=True)
class Summary:
    """The report of the whole job."""

    shards: int
    resumed: int
    reports: tuple[ShardReport, ...] = field(repr=False, default=())

    @property
    def written(self) -> int:
        return sum(report.written for report in self.reports)

    @property
    def failed(self) -> int:
        return sum(len(report.failures) for report in self.reports)

    @property
    def certified(self) -> float | None:
        """Share of decoded units proven optimal; None if nothing was decoded."""
        units = sum(report.units for report in self.reports)
        return sum(report.certified for report in self.reports) / units if units else None


@dataclass(frozen=True)
class Job:
    """An input, an output folder and the settings between them."""

    source: Path
    """A file, or a folder that is searched recursively: ``.spacy``, ``.jsonl``, ``.jsonl.gz``,
    ``.parquet``, ``.txt`` (one document a file)."""
    output: Path
    """A folder; created if missing, resumed if it was begun with the same settings."""
    model: str = ""
    """The argument of ``spacy.load``; empty or "en" for the shipped pipeline."""
    format: Format = "spacy"
    """``"spacy"``, ``"jsonl"`` or ``"parquet"``."""
    shard_size: int = 500
    """Records per output file."""
    text_field: str = "text"
    """The field of JSON lines and parquet that has the text."""

    def __post_init__(self) -> None:
        for name in ("source", "output"):
            object.__setattr__(self, name, checked_path(name, getattr(self, name)))
        check_of(str)("model", self.model)
        check_of(Annotated[str, Field(min_length=1)])("text_field", self.text_field)
        check_of(Format)("format", self.format)
        check_of(PositiveInt)("shard_size", self.shard_size)

    def part(self, shard: int) -> Path:
        """The output file of a shard."""
        return self.output / f"part-{shard:05d}.{self.format}"

    def report(self, shard: int) -> Path:
        return self.output / "reports" / f"{shard:05d}.json"

    def done(self, shard: int) -> ShardReport | None:
        """The report of a shard; None if its part or report is missing, or the report damaged."""
        try:
            report = REPORT.validate_json(self.report(shard).read_bytes())
        except (FileNotFoundError, ValueError):  # removed or damaged by others
            return None
        return report if self.part(shard).exists() else None

    def files(self) -> list[Path]:
        """The input files, in a fixed order, without those in the output folder."""
        source, output = self.source.resolve(), self.output.resolve()
        if output == source or output.is_file():
            raise ProblemError(f"output: {self.output} is input or a file; name another folder.")
        inside = source in output.parents
        found = input_files(self.source)
        return [path for path in found if not (inside and output in path.resolve().parents)]

    def shards(self) -> list[Shard]:
        """Cut the input into shards, always in the same way."""
        return list(starmap(Shard, enumerate(runs(self.files(), self.shard_size))))

    def begin(self) -> list[Shard]:
        """Create the output folder, or make sure that it was begun with the same settings.

        Returns the shards. Raises `ProblemError` if it was begun with other settings or input.
        """
        settings = self._settings()
        manifest = self.output / "job.json"
        if manifest.exists():
            try:
                begun = dict(json.loads(manifest.read_text(encoding="utf8")))
            except (TypeError, ValueError) as error:
                raise ProblemError(
                    f"output: {manifest} is damaged ({error}); choose another folder."
                ) from error
            differing = [key for key in settings | begun if begun.get(key) != settings.get(key)]
            if differing:
                some = ", ".join(differing[:5]) + ", ..." * (len(differing) > 5)
                raise ProblemError(
                    f"output: {self.output} was begun with other settings or input ({some}); "
                    "choose another folder, or remove this one to start again."
                )
        shards = self.shards()  # after the settings, which tell input that changes from now on
        (self.output / "reports").mkdir(parents=True, exist_ok=True)
        write_atomically(manifest, json.dumps(settings, indent=1))
        return shards

    def _settings(self) -> dict[str, Any]:
        files = {str(path): [*version_of(path)] for path in self.files()}
        settings = {key: str(value) for key, value in asdict(self).items()}
        del settings["output"]  # the folder may be moved
        return {**settings, **files, "pipeline": _of_pipeline(self.model)}


def _of_pipeline(model: str) -> str:
    """A digest of a pipeline's files, which tells it from another one of the same name."""
    package = find_spec(model) if model.isidentifier() else None
    folder = Path(package.origin).parent if package and package.origin else Path(place_of(model))
    digest = hashlib.sha256(version("spacy-decoders").encode())
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"\n{path.relative_to(folder)} {file_digest(path)}".encode())
    return digest.hexdigest()
