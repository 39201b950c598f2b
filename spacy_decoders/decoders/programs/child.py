"""A solver in a child process, so that its crash does not end the main process.

Some programs make CBC crash (its clique strengthening, on programs with equal columns), both
solvers overrun their time limits by seconds, and CBC prints even if told not to. Each thread has a
child process: if the solver dies there, an error says so; if it overruns its time, it is killed;
and its output is discarded. The first program starts the child, which serves the later ones.
"""

import gc
import os
import pickle  # safe here: both ends of the pipes are processes of our own
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from time import monotonic
from typing import IO, Any, cast

from .solvers import Answer, Solver, SolverError, Statement, load, solve

__all__ = ["in_child", "serve"]

#: The share of the time that the solver gets as its own limit, so that its best point is not lost.
OWN_LIMIT = 0.9

#: The child's program, which does not run the parent's main module again.
_MAIN = "import sys; from spacy_decoders.decoders.programs.child import serve; serve(sys.argv[1])"
_WAY_OUT = {"CBC": ': use solver="HIGHS"', "HIGHS": ""}
#: The errors of reading from a process that ends in the middle of a message.
_CUT_OFF = (EOFError, OSError, pickle.UnpicklingError)
_local = threading.local()


def in_child(solver: Solver, program: Statement, seconds: float, *, integral: bool) -> Answer:
    """Solve a program in this thread's child process, which is killed when its time is over.

    The time includes the start of the child; if it is over before that, the child keeps loading
    for the next program. Raises `SolverError` if the solver can't be loaded, fails or dies.
    """
    children = _local.__dict__.setdefault("children", {})
    if solver not in children or not children[solver].alive:
        children[solver] = _Child(solver)
    try:
        return cast(Answer, children[solver].ask(program, seconds, integral=integral))
    except TimeoutError:
        if not children[solver].alive:
            # start another, to be loaded by the next program
            children[solver] = _Child(solver)
        return Answer("out of time")


def _send(stream: IO[bytes], message: Any) -> None:
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


class _Child:
    """A process in which a solver runs."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        places = os.pathsep.join(place for place in sys.path if place)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _MAIN, solver],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": places},
        )
        self.owner = os.getpid()
        self._end = weakref.finalize(self, _finish, self.process, self.owner)
        self._fault: str | None = None
        self._loading = threading.Thread(target=self._load, daemon=True)
        self._loading.start()

    def _load(self) -> None:
        """Wait until the child has loaded its solver, or reports why it can't."""
        try:
            self._fault = pickle.load(self.process.stdout)  # type: ignore[arg-type]
        except _CUT_OFF:
            self._fault = "its process has ended"

    @property
    def alive(self) -> bool:
        """Whether the child runs, and was started by this process rather than before a fork."""
        return self.owner == os.getpid() and self.process.poll() is None

    def ask(self, program: Statement, seconds: float, *, integral: bool) -> Answer:
        """Send a program to the child, and wait at most `seconds` for the answer.

        Raises `TimeoutError` if the time is over, after killing the child unless it was still
        loading, and `SolverError` if the solver can't be loaded, fails or dies.
        """
        seconds = min(seconds, threading.TIMEOUT_MAX)
        end = monotonic() + seconds
        self._loading.join(seconds)
        if self._loading.is_alive():
            raise TimeoutError
        if self._fault is not None:
            self._end()
            raise SolverError(
                f"{self.solver} can't be loaded ({self._fault}): "
                'pip install "spacy-decoders[solvers]", or use solver="HIGHS".'
            )
        late = threading.Event()
        left = max(end - monotonic(), 0.0)
        timer = threading.Timer(left, self._kill, (late,))
        timer.daemon = True
        timer.start()
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            _send(self.process.stdin, (program, OWN_LIMIT * left, integral))
            answer, fault = pickle.load(self.process.stdout)
        except _CUT_OFF as error:
            self._end()
            if late.is_set():
                raise TimeoutError from None
            raise SolverError(
                f"{self.solver}'s process has died on this program (exit status "
                f"{self.process.returncode}){_WAY_OUT[self.solver]}."
            ) from error
        finally:
            timer.cancel()
        if fault is not None:
            raise SolverError(f"{self.solver} failed: {fault}.")
        return cast(Answer, answer)

    def _kill(self, late: threading.Event) -> None:
        late.set()
        self.process.kill()


def _finish(process: subprocess.Popen[bytes], owner: int) -> None:
    """Kill a child and close its pipes; in a forked process only close the pipes."""
    if owner == os.getpid():
        process.kill()
        process.wait()
    else:
        process.returncode = 0  # a forked process must not wait for it
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # raised if buffered output can't be written
                stream.close()


def serve(solver: Solver) -> None:
    """Solve the programs that arrive on standard input until it is closed; runs in the child."""
    requests, answers = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # collecting a model during a call of CBC would deadlock on the lock of that call
    gc.disable()
    try:
        load(solver)
    except Exception as error:  # reported to the parent
        _send(answers, f"{type(error).__name__}: {error}")
        return
    _send(answers, None)
    while True:
        try:
            program, seconds, integral = pickle.load(requests)
        except EOFError:
            return
        answer, fault = None, None
        try:
            answer = solve(solver, program, seconds, integral=integral)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        _send(answers, (answer, fault))
        gc.collect()
