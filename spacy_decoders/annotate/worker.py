"""Annotating one shard, from records to an output file, in any process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from ..bundled import load
from ..components import extensions
from ..files import write_atomically, written_whole
from .formats import WRITERS
from .job import REPORT, Failure, Job, Shard, ShardReport
from .records import Record, read

__all__ = ["annotate_shard", "pipeline"]

_READING = "reading"
#: Documents that the pipeline takes at a time.
_BATCH = 64

# a pipeline serves one thread at a time; Dask workers may have several
_ONE_AT_A_TIME = Lock()


@lru_cache(maxsize=1)
def pipeline(model: str) -> Language:
    """The pipeline of this process, loaded once."""
    extensions.install()
    if model:
        return spacy.load(model)
    return load()


def annotate_shard(job: Job, shard: Shard) -> ShardReport:
    """Annotate the records of a shard and write its part, its report first.

    The part is renamed into place last and in one step: it exists if and only if the shard is
    done. Running a shard twice is harmless.
    """
    failures: list[Failure] = []
    with _ONE_AT_A_TIME:
        nlp = pipeline(job.model)
        records = [r for e in shard.extents for r in read(e, nlp.vocab, job.text_field)]
        docs = _annotated(nlp, records, failures)
    found = [
        (certificate["status"], certificate["scope"])
        for doc in docs
        for certificates in doc._.certificates.values()
        for certificate in certificates
    ]
    report = ShardReport(
        shard=shard.number,
        written=len(docs),
        units=len(found),
        certified=sum(status == "optimal" for status, _ in found),
        pruned=found.count(("optimal", "pruned")),
        failures=tuple(failures),
    )
    with written_whole(job.part(shard.number)) as part:
        WRITERS[job.format](docs, part)
        write_atomically(job.report(shard.number), REPORT.dump_json(report).decode())
    return report


def _annotated(nlp: Language, records: Sequence[Record], failures: list[Failure]) -> list[Doc]:
    """Annotate the records in their order; those that fail go to `failures`."""
    made: list[tuple[Doc, int]] = []
    for place, record in enumerate(records):
        try:
            made.append((_made(nlp, record), place))
        except Exception as error:
            failures.append(_failure(record, _READING, str(error)))
    done, failed = _piped(nlp, made, _BATCH)
    # another package's component may fail on a whole batch because of one document: retry one by
    # one
    if len(failed) > 1:
        suspects, failed = sorted(failed), {}
        for place in suspects:
            again, still_failed = _piped(nlp, [(_made(nlp, records[place]), place)], 1)
            done |= again
            failed |= still_failed
    failures += [_failure(records[place], *reason) for place, reason in failed.items()]
    for place, doc in done.items():
        doc.user_data["id"] = records[place].id
    return [done[place] for place in sorted(done)]


def _failure(record: Record, component: str, reason: str) -> Failure:
    return Failure(record.id, component, reason, record.file, record.line)


def _made(nlp: Language, record: Record) -> Doc:
    if record.problem is not None:
        raise ValueError(record.problem)
    # a copy, as a second attempt must not see the annotations of the first
    doc = record.doc.copy() if record.doc is not None else nlp.make_doc(record.text or "")
    doc.user_data |= record.fields or {}
    return doc


def _piped(
    nlp: Language, docs: list[tuple[Doc, int]], batch_size: int
) -> tuple[dict[int, Doc], dict[int, tuple[str, str]]]:
    """Annotate documents of numbered records; the component that failed, and why, of others."""
    failed: dict[int, tuple[str, str]] = {}

    def note(name: str, component: Any, batch: list[Doc], error: Exception) -> Any:
        for doc in batch:
            failed[doc._context] = (name, f"{type(error).__name__}: {error}")

    nlp.set_error_handler(note)
    done = nlp.pipe(docs, as_tuples=True, batch_size=batch_size)
    return {place: doc for doc, place in done}, failed
