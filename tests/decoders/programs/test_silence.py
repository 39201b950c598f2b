"""Solvers print nothing, and nothing of one's own is lost."""

import subprocess
import sys
import threading

import pytest

from spacy_decoders.decoders.programs.silence import silent_stdout

SOLVERS = ["HIGHS", "CBC"]


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
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert sorted(done.stdout.split()) == sorted(["before", "after", *["mine"] * 15])
    assert done.stderr == ""


def test_overlapping_silences_restore_the_output(capfd):
    inner_is_in, outer_has_left = threading.Event(), threading.Event()

    def inner():
        with silent_stdout():
            inner_is_in.set()
            outer_has_left.wait()

    thread = threading.Thread(target=inner)
    with silent_stdout():
        thread.start()
        inner_is_in.wait()
    outer_has_left.set()
    thread.join()
    subprocess.run([sys.executable, "-c", "print('audible')"], check=True)
    assert capfd.readouterr().out.strip() == "audible"
