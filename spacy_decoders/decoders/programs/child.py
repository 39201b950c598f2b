"""A solver in a process of its own, so that a crash takes down that process alone.

Some programs make CBC crash (its clique strengthening, on programs of equal columns), both
solvers overrun their time limits by seconds, and CBC prints even where it is told not to. In a
child process of each thread, a solver that dies raises an error that says so, one that overruns
its time is killed, and nothing it prints is seen. The first program starts the child, which
serves the later ones.
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

#: The share of its time after which a solver shall end by itself, so that what it has is not lost.
OWN_LIMIT = 0.9

#: What starts the child: nothing of the parent's main module runs again.
_MAIN = "import sys; from spacy_decoders.decoders.programs.child import serve; serve(sys.argv[1])"
_WAY_OUT = {"CBC": ': use solver="HIGHS"', "HIGHS": ""}
#: What reading from a process raises that ends in the middle of a message.
_CUT_OFF = (EOFError, OSError, pickle.UnpicklingError)
_local = threading.local()


def in_child(solver: Solver, program: Statement, seconds: float, *, integral: bool) -> Answer:
    """Solve a program in this thread's child, which is ended when the time is over.

    The time counts what the child takes to start: where it ends before, the child goes on loading
    for the next program. Raises `SolverError` if the solver can't be loaded, has failed or has
    died.
    """
    children = _local.__dict__.setdefault("children", {})
    if solver not in children or not children[solver].alive:
        children[solver] = _Child(solver)
    try:
        return cast(Answer, children[solver].ask(program, seconds, integral=integral))
    except TimeoutError:
        if not children[solver].alive:
            # the next program finds another that has loaded
            children[solver] = _Child(solver)
        return Answer("out of time")


def _send(stream: IO[bytes], message: Any) -> None:
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


class _Child:
    """The process in which a solver runs."""

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
        """Wait until the child has loaded its solver, or says why it can't."""
        try:
            self._fault = pickle.load(self.process.stdout)  # type: ignore[arg-type]
        except _CUT_OFF:
            self._fault = "its process has ended"

    @property
    def alive(self) -> bool:
        """Whether this process started it, and it runs."""
        return self.owner == os.getpid() and self.process.poll() is None

    def ask(self, program: Statement, seconds: float, *, integral: bool) -> Answer:
        """Pass a program on and wait for the answer, `seconds` at most.

        Raises `TimeoutError` if the time is over: the solver is ended, unless it was still
        loading; and `SolverError` if it can't be loaded, has failed or has died.
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
                'pip install "spacy-decoders[solvers]", or take solver="HIGHS".'
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
                f"{self.solver}'s process has ended (exit status {self.process.returncode}), "
                f"which this program made it do{_WAY_OUT[self.solver]}."
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
    """End a child and close its pipes; in a forked process close the pipes alone."""
    if owner == os.getpid():
        process.kill()
        process.wait()
    else:
        process.returncode = 0  # it is not ours to wait for
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # what could not be written any more
                stream.close()


def serve(solver: Solver) -> None:
    """In the child: solve what comes from standard input until it ends, without printing."""
    requests, answers = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # a model that is collected within a call of CBC waits for the lock of that call, for ever
    gc.disable()
    try:
        load(solver)
    except Exception as error:  # whatever the libraries raise is told to the parent
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
