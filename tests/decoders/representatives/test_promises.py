"""What the certificates of representatives claim holds, whatever the costs."""

from hypothesis import given, settings

from tests.decoders.representatives.promises import check, problems


@settings(max_examples=200, deadline=None, derandomize=True)
@given(problems)
def test_promises_hold(problem):
    check(problem)
