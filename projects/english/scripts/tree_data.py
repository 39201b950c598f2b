"""Put the treebank, what the teacher annotated, and hyphenated names into one folder."""

import random
import shutil
from pathlib import Path

import typer
from hyphenated import lengthened


def main(treebank: Path, silver: Path, output: Path, times: int = 3) -> None:
    """Copy the files, the treebank several times, and twice its sentences with longer names.

    Without the teacher's trees each is there once.
    """
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    found = sorted(silver.glob("*.conllu")) if silver.is_dir() else []
    for file in found:
        shutil.copy(file, output / f"silver-{file.name}")
    for copy in range(times if found else 1):
        shutil.copy(treebank, output / f"gold-{copy}.conllu")
    names = "".join(lengthened(treebank, random.Random(0)))
    for copy in range((2 if found else 1) * bool(names)):
        (output / f"names-{copy}.conllu").write_text(names, encoding="utf8")
    print(f"{output}: the treebank and {len(found)} files of the teacher")


if __name__ == "__main__":
    typer.run(main)
