"""Take the genres of GUM that may be used for any purpose, beside another treebank."""

import shutil
from pathlib import Path

import typer

#: Genres whose texts are under CC BY or CC BY-SA; the others are not for commercial use. The
#: annotation of all is under CC BY 4.0.
GENRES = frozenset({"academic", "bio", "court", "interview", "news", "voyage"})


def main(treebank: Path, gum: Path, output: Path) -> None:
    """Write the treebank, and the documents of these genres, to a folder."""
    output.mkdir(parents=True, exist_ok=True)
    shutil.copy(treebank, output / treebank.name)
    kept, sentences = False, 0
    with (output / gum.name).open("w", encoding="utf8") as out:
        for line in gum.read_text(encoding="utf8").splitlines(keepends=True):
            if line.startswith("# newdoc id = "):
                kept = line.split("GUM_")[-1].split("_")[0] in GENRES
            if kept:
                out.write(line)
                sentences += line.startswith("1\t")
    print(f"{output}: {sentences:,} sentences of GUM")


if __name__ == "__main__":
    typer.run(main)
