"""What became of thousands of damaged files and sets of demands: `make campaigns` prints it.

    python -m tests.campaigns [--trials 300]

The same trials run with few of each in `make test`, and with a thousand in `make test-all`.
"""

import argparse
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import spacy_decoders

from . import wishes
from .components import COMPONENTS, check_component
from .dumps import check_dump, formats
from .isolation import Outcomes


def campaigns(trials: int, folder: Path) -> Iterator[tuple[str, Outcomes]]:
    """Each kind of file with what became of it."""
    for name in COMPONENTS:
        for sealed in (True, False):
            kind = "damaged, with checksums" if sealed else "made up, without"
            yield f"{name}: {kind}", check_component(name, folder / "pipe", trials, sealed=sealed)
    for format in formats():
        # each builds a base in processes of its own
        number = trials // 10 if format == "wikipedia" else trials
        yield f"concepts: {format}", check_dump(format, folder, number)
    nlp = spacy_decoders.load()
    for name in wishes.KINDS:
        found = [fault for seed in range(trials) for fault in wishes.faults(nlp, name, seed)]
        yield f"{name}: sets of demands", Outcomes(Counter(read=trials), found)


def row(name: str, outcomes: Outcomes) -> str:
    """One row of the table."""
    counts = outcomes.counts.copy()
    refused, read = counts["refused"], counts["read"] + counts["unchanged"]
    used = sum(counts[kind] for kind in list(counts) if kind.endswith("when used"))
    faults = len(outcomes.faults)
    return (
        f"| {name} | {outcomes.counts.total():,} | {refused:,} | {read:,} | {used:,} | {faults} |"
    )


def main() -> None:
    """Run all trials and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--trials", type=int, default=300, help="of each kind of file")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")  # spaCy's, of lists that it does not know
    print("| files | tried | refused | read | error when used | crashed, hung or unclear |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, outcomes in campaigns(given.trials, Path(folder)):
            print(row(name, outcomes), flush=True)
            for fault in outcomes.faults[:3]:
                print(f"  {fault[:500]}", flush=True)


if __name__ == "__main__":
    main()
