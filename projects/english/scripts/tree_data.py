"""Put the treebank and what the teacher annotated into one folder."""

import shutil
from pathlib import Path

import typer


def main(treebank: Path, silver: Path, output: Path, times: int = 3) -> None:
    """Copy the files, the treebank several times; without the teacher's trees it is there once."""
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    found = sorted(silver.glob("*.conllu")) if silver.is_dir() else []
    for file in found:
        shutil.copy(file, output / f"silver-{file.name}")
    for copy in range(times if found else 1):
        shutil.copy(treebank, output / f"gold-{copy}.conllu")
    print(f"{output}: the treebank and {len(found)} files of the teacher")


if __name__ == "__main__":
    typer.run(main)
