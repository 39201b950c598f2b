"""Running a job shard by shard: in this process, in local processes, or on a Dask cluster."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from ..arrays import checked_type, checked_whole
from ..bundled import place_of
from ..components import extensions
from ..components.option_checks import check_of
from ..errors import ProblemError
from ..extras import needed
from ..files import remove_leftovers, write_atomically, written_whole
from ..process_pool import spawned_pool
from .formats import WRITERS
from .job import REPORT, Failure, Job, Shard, ShardReport, Summary
from .records import Record, read

__all__ = ["annotate"]

_READING = "reading"
#: Documents that the pipeline takes at a time.
_BATCH = 64

# a pipeline is not safe for threads, of which Dask workers may have several
_ONE_AT_A_TIME = Lock()


def annotate(
    job: Job, *, workers: int = 1, scheduler: str | None = None, progress: bool = True
) -> Summary:
    """Annotate a corpus; shards that an earlier, interrupted run has finished are skipped.

    Parameters
    ----------
    job
        The input, the pipeline and the output.
    workers
        Local processes; 1 runs in this process.
    scheduler
        Address of a Dask scheduler whose workers see `job.source` and `job.output` under
        the same paths. Needs ``pip install 'spacy-decoders[distributed]'``.
    progress
        Whether to show a progress bar.

    Returns
    -------
    Summary
        Documents written and failed, share certified. Failed documents are listed with the
        reason, file and line in ``errors.jsonl`` in the output folder.

    Raises
    ------
    ProblemError
        If there is nothing to read, a library is missing, the scheduler can't be reached, or the
        output was begun with other settings. A new output folder is not begun in these cases.
    OSError
        If the pipeline can't be loaded, a file can't be written, or the scheduler is gone.
        Finished shards are kept.
    """
    checked_type("job", job, Job, "Job(source, output)")
    checked_whole("workers", workers, low=1)
    check_of(str | None)("scheduler", scheduler)
    # errors about what is missing come before the folder is begun
    if job.format == "parquet":
        needed("pyarrow.parquet", "parquet", "format")
    if scheduler is None:
        pipeline(job.model)
    else:  # the workers may have other packages and paths
        distributed = needed("distributed", "distributed", "scheduler")
        try:
            distributed.Client(scheduler).close()
        except (OSError, ValueError) as error:
            raise ProblemError(
                f"scheduler: {scheduler!r} can't be reached ({error}); give the address of one "
                "that runs, such as tcp://HOST:8786."
            ) from error
    shards = job.begin()
    kept = {shard: job.done(shard.number) for shard in shards}
    todo = [shard for shard, report in kept.items() if report is None]
    done = [report for report in kept.values() if report is not None]
    if scheduler is not None:
        fresh = _on_cluster(job, todo, scheduler)
    elif workers > 1:
        fresh = _on_processes(job, todo, workers)
    else:
        fresh = (annotate_shard(job, shard) for shard in todo)
    resumed, records = len(done), sum(shard.records for shard in shards)
    old = records - sum(shard.records for shard in todo)
    with tqdm(total=records, initial=old, unit="doc", disable=not progress) as bar:
        for report in fresh:
            done.append(report)
            summary = Summary(len(shards), resumed, tuple(done))
            if summary.certified is not None:
                bar.set_postfix(certified=f"{summary.certified:.1%}", failed=summary.failed)
            bar.update(report.written + len(report.failures))
    done.sort(key=lambda report: report.shard)
    failures = [json.dumps(asdict(f)) + "\n" for report in done for f in report.failures]
    write_atomically(job.output / "errors.jsonl", "".join(failures))
    for folder in (job.output, job.report(0).parent):
        remove_leftovers(folder)
    return Summary(len(shards), resumed, tuple(done))


def _lost(shard: Shard, component: str, reason: str) -> ShardReport:
    """Report a shard without an output file, which the next run tries again."""
    failures = (
        Failure(f"{Path(e.path).name}:{line}", component, reason, e.path, line)
        for e in shard.extents
        for line in range(e.start + 1, e.stop + 1)
    )
    return ShardReport(shard.number, failures=tuple(failures))


def _on_processes(job: Job, shards: Sequence[Shard], workers: int) -> Iterator[ShardReport]:
    """Spread shards over spawned processes; those lost with a process are run again alone."""
    suspects: list[Shard] = []
    with spawned_pool(workers) as pool:
        running = {pool.submit(annotate_shard, job, shard): shard for shard in shards}
        try:
            for future in as_completed(running):
                try:
                    yield future.result()
                except BrokenProcessPool:  # any of the unfinished shards may have caused it
                    suspects.append(running[future])
        finally:
            # after an error such as a full disk, all others would fail
            pool.shutdown(cancel_futures=True)
    yield from (_alone(job, shard) for shard in sorted(suspects, key=lambda s: s.number))


def _alone(job: Job, shard: Shard) -> ShardReport:
    """Run a shard in a process of its own, twice if necessary."""
    for _ in range(2):
        with spawned_pool(1) as pool, suppress(BrokenProcessPool):
            return pool.submit(annotate_shard, job, shard).result()
    return _lost(shard, "worker", "the worker process died twice on this shard")


def _on_cluster(job: Job, shards: Sequence[Shard], scheduler: str) -> Iterator[ShardReport]:
    """Spread shards over a Dask cluster; no document passes through the scheduler."""
    distributed = needed("distributed", "distributed", "scheduler")
    with distributed.Client(scheduler) as client:
        # not pure: a shard's result is the file it writes, which Dask must not deduplicate
        running = {
            client.submit(annotate_shard, job, shard, pure=False, retries=2): shard
            for shard in shards
        }
        try:
            for future in distributed.as_completed(running):
                shard = running[future]
                if isinstance(future.exception(), distributed.scheduler.KilledWorker):
                    yield _lost(shard, "worker", "the workers that took this shard died")
                else:
                    yield future.result()
                future.release()
        except (CancelledError, distributed.comm.CommClosedError) as error:
            raise ConnectionError(
                f"scheduler: the connection to {scheduler} is lost; finished shards are kept: run "
                "the job again for the others."
            ) from error


# --- one shard, in any process --------------------------------------------------------


@lru_cache(maxsize=1)
def pipeline(model: str) -> Language:
    """The pipeline of this process, loaded once."""
    extensions.install()
    return spacy.load(place_of(model))


def annotate_shard(job: Job, shard: Shard) -> ShardReport:
    """Annotate the records of a shard, and write its report and its part.

    The part is renamed into place last. Running a shard twice, or twice at once, is harmless.
    """
    with _ONE_AT_A_TIME:
        nlp = pipeline(job.model)
        try:
            records = [r for e in shard.extents for r in read(e, nlp.vocab, job.text_field)]
        except OSError as error:  # which may pass
            return _lost(shard, _READING, f"{error}; its shard is left for the next run")
        docs, failures = _annotated(nlp, records)
    found = [(c["status"], c["scope"]) for doc in docs for c in extensions.certificates_of(doc)]
    report = ShardReport(
        shard=shard.number,
        written=len(docs),
        units=len(found),
        certified=found.count(("optimal", "full")),
        failures=tuple(failures),
    )
    with written_whole(job.part(shard.number)) as part:
        WRITERS[job.format](docs, part)
        write_atomically(job.report(shard.number), REPORT.dump_json(report).decode())
    return report


def _annotated(nlp: Language, records: Sequence[Record]) -> tuple[list[Doc], list[Failure]]:
    """Annotate records, in order; return those that fail apart."""
    made: list[tuple[Doc, int]] = []
    unread: dict[int, tuple[str, str]] = {}
    for place, record in enumerate(records):
        try:
            made.append((_made(nlp, record), place))
        except Exception as error:
            unread[place] = _READING, str(error)
    done, failed = _piped(nlp, made, _BATCH)
    # one document may make another package's component fail on its batch: retry one by one
    if len(failed) > 1:
        suspects, failed = sorted(failed), {}
        for place in suspects:
            again, still_failed = _piped(nlp, [(_made(nlp, records[place]), place)], 1)
            done |= again
            failed |= still_failed
    for place, doc in done.items():
        doc.user_data["id"] = records[place].id
    failures = [
        Failure(records[place].id, *reason, records[place].file, records[place].line)
        for place, reason in (unread | failed).items()
    ]
    return [done[place] for place in sorted(done)], failures


def _made(nlp: Language, record: Record) -> Doc:
    if record.problem is not None:
        raise ValueError(record.problem)
    # a copy, so that a second attempt does not see the annotations of the first
    doc = record.doc.copy() if record.doc is not None else nlp.make_doc(record.text or "")
    doc.user_data |= record.fields or {}
    return doc


def _piped(
    nlp: Language, docs: list[tuple[Doc, int]], batch_size: int
) -> tuple[dict[int, Doc], dict[int, tuple[str, str]]]:
    """Annotate numbered documents; for those that fail, return the component and the error."""
    failed: dict[int, tuple[str, str]] = {}

    def note(name: str, component: Any, batch: list[Doc], error: Exception) -> Any:
        for doc in batch:
            failed[doc._context] = (name, f"{type(error).__name__}: {error}")

    nlp.default_error_handler = note
    components: list[tuple[str, Any]] = nlp.pipeline
    for _, component in components:
        with suppress(AttributeError):  # spaCy's parser and ner have no room for a handler
            component.set_error_handler(note)
    done: dict[int, Doc] = {}
    try:
        for doc, place in nlp.pipe(docs, as_tuples=True, batch_size=batch_size):
            done[place] = doc
    except Exception as error:  # of such a component
        reason = "pipeline", f"{type(error).__name__}: {error}"
        failed |= dict.fromkeys({place for _, place in docs} - {*done, *failed}, reason)
    return done, failed
