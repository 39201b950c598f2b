"""Put the treebank and what the teacher annotated into one folder."""

import shutil
from pathlib import Path

import typer

#: How often training reads the treebank in a pass over the teacher's trees.
TIMES = 3


def main(treebank: Path, silver: Path, output: Path) -> None:
    """Copy the files; without the teacher's trees the treebank is there once."""
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    found = sorted(silver.glob("*.conllu")) if silver.is_dir() else []
    for file in found:
        shutil.copy(file, output / f"silver-{file.name}")
    for times in range(TIMES if found else 1):
        shutil.copy(treebank, output / f"gold-{times}.conllu")
    print(f"{output}: the treebank and {len(found)} files of the teacher")


if __name__ == "__main__":
    typer.run(main)
