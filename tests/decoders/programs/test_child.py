"""Solvers in a process of their own: silent, ended in time, and free to die."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from spacy_decoders import Budget
from spacy_decoders.decoders.programs import LinearProgram, SolverError, child

pytest.importorskip("mip")

SOLVERS = ["HIGHS", "CBC"]


def program_of(solver="CBC"):
    program = LinearProgram(solver)
    columns = program.add_columns([1.0, 2.0, 3.0], integer=True)
    program.add_row(columns, [1.0, 2.0, 2.0], "<=", 3.0)
    return program


def running(solver="CBC"):
    """This thread's child."""
    return child._local.children[solver]


def test_a_process_that_dies_is_an_error_with_a_name_and_the_next_program_is_solved():
    program = program_of()
    assert program.relax().values @ [1.0, 2.0, 3.0] == pytest.approx(4.0)
    dying = running().process
    os.kill(dying.pid, signal.SIGSTOP)  # so that it waits for its end with the program in hand
    threading.Timer(0.1, dying.kill).start()
    with pytest.raises(SolverError, match=r"CBC's process has died .*use solver=\"HIGHS\""):
        program.relax()
    assert program.relax().values @ [1.0, 2.0, 3.0] == pytest.approx(4.0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_process_that_is_late_is_ended_and_the_next_one_serves(solver):
    # time for it to load, whatever else the machine does
    assert program_of(solver).solve(Budget(seconds=600).start()).proven
    late = running(solver)
    os.kill(late.process.pid, signal.SIGSTOP)
    assert program_of(solver).solve(Budget(seconds=0.01).start()) is None
    assert late.process.wait() == -signal.SIGKILL
    assert program_of(solver).solve(Budget(seconds=600).start()).proven


@pytest.mark.parametrize("solver", SOLVERS)
def test_nothing_is_printed_but_ones_own_words(solver):
    script = f"""
import sys, threading
from spacy_decoders.decoders.programs import LinearProgram

def work():
    for _ in range(5):
        program = LinearProgram("{solver}")
        columns = program.add_columns([1.0, 2.0, 3.0], integer=True)
        program.add_row(columns, [1.0, 2.0, 2.0], "<=", 3.0)
        program.relax()
        program.solve()
        sys.stdout.write("mine" + chr(10))

threads = [threading.Thread(target=work) for _ in range(3)]
print("before")
for thread in threads: thread.start()
for thread in threads: thread.join()
print("after")
"""
    done = subprocess.run([sys.executable], input=script, capture_output=True, text=True)
    assert sorted(done.stdout.split()) == sorted(["before", "after", *["mine"] * 15])
    assert done.stderr == ""


def test_a_library_that_does_not_load_names_the_extra(monkeypatch):
    monkeypatch.setattr(child, "_MAIN", "import sys; sys.modules['mip'] = None; " + child._MAIN)
    monkeypatch.setattr(child, "_local", threading.local())
    program = LinearProgram("CBC")
    program.add_columns([1.0])
    for ask in (program.relax, program.solve):
        with pytest.raises(SolverError, match=r"can't be loaded.*spacy-decoders\[solvers\]"):
            ask()
