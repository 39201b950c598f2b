"""Raw text, one sentence or paragraph a line: a treebank's own, and that of other files."""

from pathlib import Path

import typer

from spacy_decoders.readers.sentences import read_conllu


def main(treebank: Path, others: Path, output: Path) -> None:
    """Write the words of a treebank's sentences, then the text files of a folder."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("w", encoding="utf8") as out:
        for sentence in read_conllu(treebank):
            out.write(" ".join(sentence.words) + "\n")
        for path in sorted(others.glob("*.txt")):
            out.write(path.read_text(encoding="utf8") + "\n")


if __name__ == "__main__":
    typer.run(main)
