"""CBC in a process of its own, which it may take down.

Some programs make CBC crash (its clique strengthening, on programs of equal columns), others make
it pass over its time limit by far, and it prints whatever is asked of it. So it runs in a child
of each thread that asks for it: a child that dies is an error with a name, one that is late is
ended, and nothing it prints is seen. The child is started once, by the first program.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from itertools import count, pairwise
from time import monotonic
from typing import IO, Any

import numpy as np

from .statement import (
    Answer,
    Change,
    Floats,
    Indices,
    NewBounds,
    NewColumns,
    NewRows,
    SolverError,
    Statement,
)

__all__ = ["Cbc", "serve", "solve_by_cbc"]

#: The share of its time that CBC may pass over its limit by, and seconds, before it is ended.
LATE, SECONDS_LATE = 0.05, 0.03

#: What starts the child: nothing of the parent's main module runs again.
_MAIN = "from spacy_decoders.decoders.programs.cbc import serve; serve()"
_KINDS = {kind.__name__: kind for kind in (NewColumns, NewRows, NewBounds)}
_local = threading.local()
_numbers = count()


def _send(stream: IO[bytes], head: dict[str, Any], arrays: Sequence[Any] = ()) -> None:
    """Write a message: a line of JSON, and the bytes of arrays."""
    kinds = [(array.dtype.str, len(array)) for array in arrays]
    stream.write(json.dumps({**head, "arrays": kinds}).encode() + b"\n")
    for array in arrays:
        stream.write(array.tobytes())
    stream.flush()


def _receive(stream: IO[bytes]) -> tuple[dict[str, Any], list[Any]]:
    """Read a message.

    Raises
    ------
    EOFError
        If the other side has ended.
    """
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    head = json.loads(line)
    arrays = []
    for kind, length in head["arrays"]:
        size = np.dtype(kind).itemsize * length
        content = stream.read(size)
        if len(content) < size:
            raise EOFError
        arrays.append(np.frombuffer(content, kind))
    return head, arrays


class _Child:
    """The process in which CBC runs."""

    def __init__(self) -> None:
        places = os.pathsep.join(place for place in sys.path if place)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _MAIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": places},
        )
        self.owner = os.getpid()
        #: models that nobody asks about any more
        self.lost: list[int] = []
        self._end = weakref.finalize(self, _finish, self.process, self.owner)
        head, _ = self._exchange({"ask": "load"}, (), None)
        if "error" in head:
            self._end()
            raise SolverError(
                f'CBC can\'t be loaded ({head["error"]}): pip install "spacy-decoders[solvers]".'
            )

    @property
    def alive(self) -> bool:
        """Whether this process started it, and it runs."""
        return self.owner == os.getpid() and self.process.poll() is None

    def ask(
        self, head: dict[str, Any], arrays: Sequence[Any] = (), seconds: float | None = None
    ) -> tuple[dict[str, Any], list[Any]]:
        """Send a request and wait for its answer, `seconds` and a little more at most.

        Raises
        ------
        TimeoutError
            If the time is over: CBC is ended.
        SolverError
            If CBC has died.
        """
        lost, self.lost = self.lost, []
        return self._exchange({**head, "lost": lost}, arrays, seconds)

    def _exchange(
        self, head: dict[str, Any], arrays: Sequence[Any], seconds: float | None
    ) -> tuple[dict[str, Any], list[Any]]:
        late = threading.Event()

        def end() -> None:
            late.set()
            self.process.kill()

        timer = None
        if seconds is not None and seconds < threading.TIMEOUT_MAX:
            timer = threading.Timer((1.0 + LATE) * seconds + SECONDS_LATE, end)
            timer.daemon = True
            timer.start()
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            _send(self.process.stdin, head, arrays)
            return _receive(self.process.stdout)
        except (EOFError, OSError) as error:
            self._end()
            if late.is_set():
                raise TimeoutError from None
            raise SolverError(
                f"CBC's process has ended (exit status {self.process.returncode}), which this "
                "program made it do: use solver='HIGHS'."
            ) from error
        finally:
            if timer is not None:
                timer.cancel()


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


def _child() -> _Child:
    """Return this thread's child, which is started if there is none."""
    child: _Child | None = getattr(_local, "child", None)
    if child is None or not child.alive:
        child = _local.child = _Child()
    return child


class Cbc:
    """One model of CBC, in this thread's child.

    Parameters
    ----------
    maximize
        Whether the objective is maximised, or minimised.

    Raises
    ------
    SolverError
        If CBC can't be loaded.
    """

    def __init__(self, maximize: bool) -> None:
        self._child = _child()
        self._number = next(_numbers)
        self._ask("new", maximize=maximize)
        weakref.finalize(self, self._child.lost.append, self._number)

    def add(self, change: Change, seconds: float | None = None) -> None:
        """Pass columns, rows or bounds to the solver."""
        fields = change._asdict()
        words = {name: value for name, value in fields.items() if isinstance(value, str)}
        arrays = [value for value in fields.values() if not isinstance(value, str)]
        self._ask("add", arrays, seconds, kind=type(change).__name__, words=words)

    def relax(self, program: Statement, seconds: float) -> Answer:
        """Solve what was added, without integrality."""
        return self._answer("relax", seconds)

    def solve(self, seconds: float) -> Answer:
        """Solve what was added, with integrality."""
        return self._answer("solve", seconds)

    def _answer(self, ask: str, seconds: float) -> Answer:
        try:
            head, arrays = self._ask(ask, (), seconds, seconds=seconds)
        except TimeoutError:
            return Answer("out of time")
        point, duals = arrays
        return Answer(head["status"], point, duals, head["bound"])

    def _ask(
        self,
        ask: str,
        arrays: Sequence[Any] = (),
        limit: float | None = None,
        **words: Any,
    ) -> tuple[dict[str, Any], list[Any]]:
        head, answer = self._child.ask({"ask": ask, "model": self._number, **words}, arrays, limit)
        if "error" in head:
            raise SolverError(f"CBC failed: {head['error']}.")
        return head, answer


def solve_by_cbc(maximize: bool, changes: list[Change], seconds: float) -> Answer:
    """Solve a program with integrality; the seconds count its writing too, but not the child's
    start."""
    model = Cbc(maximize)
    end = monotonic() + seconds
    try:
        for change in changes:
            model.add(change, max(end - monotonic(), 0.0))
    except TimeoutError:
        return Answer("out of time")
    return model.solve(max(end - monotonic(), 0.0))


# --- in the child ------------------------------------------------------------------------------


def serve() -> None:
    """Answer requests from standard input until it ends; what CBC prints goes nowhere."""
    requests, answers = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    models: dict[int, _Model] = {}
    while True:
        try:
            head, arrays = _receive(requests)
        except EOFError:
            return
        try:
            reply, given = _reply(models, head, arrays)
        except Exception as error:  # of python-mip or its library: told to the parent
            reply, given = {"error": f"{type(error).__name__}: {error}"}, []
        _send(answers, reply, given)


def _reply(
    models: dict[int, _Model], head: dict[str, Any], arrays: list[Any]
) -> tuple[dict[str, Any], list[Any]]:
    """Return the answer to one request."""
    for number in head.get("lost", ()):
        models.pop(number, None)
    ask, number = head["ask"], int(head.get("model", -1))
    if ask == "load":
        from mip import cbc

        if getattr(cbc, "cbclib", None) is None:
            raise OSError("python-mip has not found its library")
    elif ask == "new":
        models[number] = _Model(head["maximize"])
    elif ask == "add":
        kind = _KINDS[head["kind"]]
        given = iter(arrays)
        models[number].add(
            kind(
                *(
                    head["words"][name] if name in head["words"] else next(given)
                    for name in kind._fields
                )
            )
        )
    else:
        answer = getattr(models[number], ask)(head["seconds"])
        return {"status": answer.status, "bound": answer.bound}, [answer.point, answer.duals]
    return {}, []


class _Model:
    """A model of CBC through the C library that python-mip loads."""

    def __init__(self, maximize: bool) -> None:
        import mip

        # python-mip's model owns the C model, and frees it
        sense = mip.MAXIMIZE if maximize else mip.MINIMIZE
        self._owner = mip.Model(sense=sense, solver_name="CBC")
        self._owner.verbose = 0
        self._library, self._ffi = mip.cbc.cbclib, mip.cbc.ffi
        self._model = self._owner.solver._model
        self._rows = 0

    def add(self, change: Change) -> None:
        if isinstance(change, NewColumns):
            self._add_columns(change)
        elif isinstance(change, NewRows):
            self._add_rows(change)
        else:
            for column, low, high in zip(*(part.tolist() for part in change), strict=True):
                self._library.Cbc_setColLower(self._model, column, low)
                self._library.Cbc_setColUpper(self._model, column, high)

    def _add_columns(self, added: NewColumns) -> None:
        add, model = self._library.Cbc_addCol, self._model
        rows, values = self._pointer("int", added.rows), self._pointer("double", added.values)
        each = (added.objective, added.lower, added.upper, added.integer)
        every = zip(
            *(part.tolist() for part in each), pairwise(added.starts.tolist()), strict=True
        )
        for cost, low, high, integer, (a, b) in every:
            kind = b"\1" if integer else b"\0"
            add(model, b"", low, high, cost, kind, b - a, rows + a, values + a)

    def _add_rows(self, added: NewRows) -> None:
        add, model = self._library.Cbc_addRow, self._model
        of, values = self._pointer("int", added.columns), self._pointer("double", added.values)
        kind = {"<=": b"L", ">=": b"G", "=": b"E"}[added.sense]
        for side, (a, b) in zip(
            added.sides.tolist(), pairwise(added.starts.tolist()), strict=True
        ):
            add(model, b"", b - a, of + a, values + a, kind, side)
        self._rows += len(added.sides)

    def relax(self, seconds: float) -> Answer:
        library, model = self._library, self._model
        library.Cbc_setMaximumSeconds(model, seconds)
        code = library.Cbc_solveLinearProgram(model)
        status = {0: "optimal", 1: "out of time", 2: "infeasible", 3: "unbounded"}.get(code)
        if status != "optimal":
            return Answer(status or f"code {code}")
        return Answer(
            status, self._point(), self._copy(library.Cbc_getRowPrice(model), self._rows)
        )

    def solve(self, seconds: float) -> Answer:
        from mip import OptimizationStatus as Known

        owner = self._owner
        owner.threads = 1
        # python-mip's default accepts solutions within 0.01% of the optimum
        owner.max_mip_gap, owner.max_mip_gap_abs = 0.0, 1e-9
        status = owner.optimize(max_seconds=seconds)
        if status in (Known.INFEASIBLE, Known.INT_INFEASIBLE):
            return Answer("infeasible")
        if status == Known.NO_SOLUTION_FOUND:
            return Answer("out of time")
        if status not in (Known.OPTIMAL, Known.FEASIBLE):
            return Answer(status.name)
        return Answer(status.name.lower(), self._point(), bound=float(owner.objective_bound))

    def _point(self) -> Floats:
        library, model = self._library, self._model
        return self._copy(library.Cbc_getColSolution(model), library.Cbc_getNumCols(model))

    def _pointer(self, kind: str, array: Indices | Floats) -> Any:
        """Return a C pointer to an array, or to anything if it is empty."""
        if not array.size:
            return self._ffi.new(f"{kind}[1]")
        return self._ffi.from_buffer(f"{kind}[]", array)

    def _copy(self, pointer: Any, length: int) -> Floats:
        if not length:
            return np.zeros(0)
        return np.frombuffer(self._ffi.buffer(pointer, 8 * length), dtype=np.float64).copy()
