"""What path decoders promise, on a fixed few of the problems of `make fuzz`."""

from hypothesis import given, settings

from tests.decoders.path.promises import check, problems


@settings(deadline=None, derandomize=True, max_examples=200)
@given(problems)
def test_promises_hold(question):
    check(question)
