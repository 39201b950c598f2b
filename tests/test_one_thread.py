"""The setting of numpy's threads is changed and restored by one thread after another."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from spacy_decoders import one_thread as module
from spacy_decoders.one_thread import one_thread


class Recorded:
    """Stands for a library of numpy's: records how many threads it is told to take."""

    def __init__(self):
        self.events = [4]

    def get_num_threads(self):
        return self.events[-1]

    def set_num_threads(self, count):
        self.events.append(count)


def test_limits_of_many_threads_never_overlap(monkeypatch):
    library = Recorded()
    monkeypatch.setattr(module, "_libraries", lambda: [library])

    def nested(_):
        with one_thread(), one_thread():
            return library.events[-3:]

    with ThreadPoolExecutor(8) as pool:
        assert all(found == [4, 1, 1] for found in pool.map(nested, range(400)))
    assert library.events == [4, *[1, 1, 1, 4] * 400]


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
    library = Recorded()
    monkeypatch.setattr(module, "_libraries", lambda: [library])
    with suppress(KeyError), one_thread():
        raise KeyError
    assert library.events == [4, 1, 4]


def test_the_threads_are_those_of_before():
    def threads():
        return [of["num_threads"] for of in threadpool_info() if of["user_api"] == "blas"]

    def limited():
        with one_thread():
            return threads()

    module._libraries.cache_clear()  # of all that are loaded by now
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        assert limited() == [1] * len(before)
        assert threads() == before
        with ThreadPoolExecutor(1) as pool:  # another thread may set it, too
            assert pool.submit(limited).result() == [1] * len(before)
        assert threads() == before
