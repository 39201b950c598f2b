"""Trials that may crash: each runs in a forked process, which says what became of it."""

import os
import resource
import select
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Outcomes", "run_trials"]

#: A trial that says nothing for so long hangs, in seconds.
PATIENCE = 30.0
#: What a trial may take beyond what the process has already, in bytes.
MEMORY = 3 << 30


@dataclass
class Outcomes:
    """What became of trials: how often each outcome was, and what should not have been."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def run_trials(
    trial: Callable[[int], str], seeds: Iterable[int], *, allowed: tuple[type[Exception], ...]
) -> Outcomes:
    """Run trials one by one; one that crashes or hangs is noted, and the others go on.

    Parameters
    ----------
    trial
        Takes a seed and returns its outcome in a word.
    seeds
        One for each trial.
    allowed
        Errors that count as a refusal; all others are faults.
    """
    outcomes = Outcomes()
    waiting = list(seeds)
    while waiting:
        done = 0
        for seed, kind, text in _forked(trial, waiting, allowed):
            done += 1
            outcomes.counts[text if kind == "outcome" else kind] += 1
            if kind not in ("outcome", "refused"):
                outcomes.faults.append(f"seed {seed}: {text}")
        waiting = waiting[done:]
    return outcomes


def _forked(
    trial: Callable[[int], str], seeds: list[int], allowed: tuple[type[Exception], ...]
) -> Iterator[tuple[int, str, str]]:
    """Run trials in one process, until it dies; give seed, kind and text of each."""
    read, write = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        os.close(read)
        _limit_memory()
        for seed in seeds:
            try:
                kind, text = "outcome", trial(seed)
            except allowed as error:
                kind, text = "refused", str(error)
            except Exception as error:
                kind = f"raised {type(error).__name__}"
                text = f"{error!r}: " + "".join(traceback.format_tb(error.__traceback__)[-2:])
            os.write(write, f"{kind}\t{text[:2000]!r}\n".encode("utf8", "replace"))
        os._exit(0)
    os.close(write)
    number = 0
    with os.fdopen(read, "rb", buffering=0) as results:
        rest = b""
        while number < len(seeds):
            ready, _, _ = select.select([results], [], [], PATIENCE)
            block = results.read(1 << 16) if ready else b""
            if not block:
                break
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                kind, _, text = line.decode().partition("\t")
                yield seeds[number], kind, text[1:-1]
                number += 1
    if number < len(seeds):
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if number < len(seeds):
        died = f"killed by signal {os.WTERMSIG(status)}" if ready else "no answer"
        yield seeds[number], died, died


def _limit_memory() -> None:
    """Let allocations fail that no file of this size could ask for."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    taken = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, resource.RLIM_INFINITY))
