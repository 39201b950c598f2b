"""A few of the random problems that `make fuzz` tries many of."""

from hypothesis import HealthCheck, given, settings

from tests.decoders.tree import promises


@settings(
    deadline=None,
    derandomize=True,
    max_examples=160,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(promises.problems)
def test_every_promise_is_kept(problem):
    assert promises.check(problem)
