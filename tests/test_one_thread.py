"""The setting of numpy's threads is changed and restored by one thread after another."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from spacy_decoders import one_thread as module
from spacy_decoders.one_thread import one_thread


class Recorded:
    """Stands for numpy's libraries: records when their limit begins and ends."""

    def __init__(self):
        self.events = []

    @contextmanager
    def limit(self, limits):
        assert limits == 1
        self.events.append("begins")
        try:
            yield
        finally:
            self.events.append("ends")


def test_limits_of_many_threads_never_overlap(monkeypatch):
    libraries = Recorded()
    monkeypatch.setattr(module, "_libraries", lambda: libraries)

    def nested(_):
        with one_thread(), one_thread():
            return libraries.events[-2:]

    with ThreadPoolExecutor(8) as pool:
        assert all(found == ["begins"] * 2 for found in pool.map(nested, range(400)))
    assert libraries.events == ["begins", "begins", "ends", "ends"] * 400


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_is_forked_between_turns():
    done = threading.Event()

    def compute():
        while not done.is_set():
            with one_thread():
                time.sleep(0.001)

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # a turn that nobody gives back
                with one_thread():
                    os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        thread.join()


def test_an_error_inside_ends_the_limit(monkeypatch):
    libraries = Recorded()
    monkeypatch.setattr(module, "_libraries", lambda: libraries)
    try:
        with one_thread():
            raise KeyError
    except KeyError:
        pass
    assert libraries.events == ["begins", "ends"]


def test_the_threads_are_those_of_before():
    def threads():
        return [of["num_threads"] for of in threadpool_info() if of["user_api"] == "blas"]

    module._libraries.cache_clear()  # of all that are loaded by now
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with one_thread():
            assert threads() == [1] * len(before)
        assert threads() == before
