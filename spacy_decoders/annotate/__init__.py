"""Annotating a corpus in shards, written atomically, resumed, and spread over processes."""

from .job import Job, ShardReport, Summary
from .run import annotate

__all__ = ["Job", "ShardReport", "Summary", "annotate"]
