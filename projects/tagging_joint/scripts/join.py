"""Join the tags of a CoNLL-U file and the entities of an IOB2 file into columns."""

from collections.abc import Iterator
from pathlib import Path

import typer


def main(treebank: Path, entities: Path, folder: Path, every: int = 5) -> None:
    """Write form, tag and entity label of each token to train.tsv and dev.tsv."""
    named = dict(sentences(entities))
    joined, lost = [], 0
    for name, rows in sentences(treebank):
        # multi-word tokens (1-2) and empty nodes (1.1) are no words
        words = [(row[1], row[4]) for row in rows if row[0].isdigit()]
        labels = [(row[1], row[2]) for row in named.get(name, [])]
        if [form for form, _ in words] != [form for form, _ in labels]:
            lost += 1
            continue
        lines = (
            f"{form}\t{tag}\t{label}\n"
            for (form, tag), (_, label) in zip(words, labels, strict=True)
        )
        joined.append("".join(lines) + "\n")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dev.tsv").write_text("".join(joined[::every]), encoding="utf8")
    train = (sentence for i, sentence in enumerate(joined) if i % every)
    (folder / "train.tsv").write_text("".join(train), encoding="utf8")
    print(f"{len(joined):,} sentences in both, {lost:,} left out")


def sentences(path: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the identifier and the rows of each sentence."""
    name, rows = "", []
    for line in [*path.read_text(encoding="utf8").split("\n"), ""]:
        if line.startswith("# sent_id = "):
            name = line.removeprefix("# sent_id = ")
        elif line and not line.startswith("#"):
            rows.append(line.split("\t"))
        elif not line and rows:
            yield name, rows
            name, rows = "", []


if __name__ == "__main__":
    typer.run(main)
