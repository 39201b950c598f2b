"""Many random problems for each core: `make fuzz` prints what became of them.

Each core has a module `promises` beside its tests, with a hypothesis strategy `problems` and a
function `check(problem)` that raises where a promise is broken and counts the statuses that it
met, such as ``{"Viterbi optimal": 1}``. `make test` runs the same on a fixed few problems.
"""

import argparse
import time
import traceback
from collections import Counter
from importlib import import_module
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

CORES = ("chain", "tree", "path", "representatives")


def check(core: str, examples: int, met: Counter[str], **options: Any) -> None:
    """Check so many problems of a core, and count the statuses met; raise the simplest failure."""
    promises = import_module(f"tests.decoders.{core}.promises")
    options |= {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}

    @settings(max_examples=examples, **options)
    @given(promises.problems)
    def run(problem: object) -> None:
        met.update(promises.check(problem))
        met["problems"] += 1
        if met["problems"] % 1000 == 0:
            print(f"\r{core}: {met['problems']:,} of {examples:,}", end="", flush=True)

    run()


def fuzz(core: str, examples: int) -> tuple[Counter[str], float, str]:
    """Return the statuses met, the seconds, and the failure if there is one."""
    met: Counter[str] = Counter()
    begun, failure = time.perf_counter(), ""
    try:
        check(
            core,
            examples,
            met,
            derandomize=False,
            print_blob=True,
            phases=(Phase.generate, Phase.shrink),
        )
    except Exception as error:  # the table names every core, whichever fails
        traceback.print_exc()
        several = getattr(error, "exceptions", (error,))
        failure = "; ".join(f"{type(one).__name__}: {one}" for one in several)
    print("\r", end="")
    return met, time.perf_counter() - begun, failure


def table(core: str, met: Counter[str], seconds: float, failure: str) -> str:
    """Return the rows of one core: each decoder with the statuses it met."""
    problems = met.pop("problems", 0)
    rows = [f"| {core} | problems | {problems:,} | {seconds:.0f} s |"]
    rows += [f"| {core} | {name} | {count:,} | |" for name, count in sorted(met.items())]
    rows.append(f"| {core} | broken promises | {failure or 0} | |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cores", nargs="*", default=CORES, help="chain tree path representatives")
    parser.add_argument("--examples", type=int, default=100_000, help="problems of each core")
    given_options = parser.parse_args()
    print("| core | what | count | time |\n|---|---|---|---|")
    failed = 0
    for core in given_options.cores:
        met, seconds, failure = fuzz(core, given_options.examples)
        failed += bool(failure)
        print(table(core, met, seconds, failure), flush=True)
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
