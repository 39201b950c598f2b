"""Cut an IOB2 file in two: every tenth sentence for measuring, the rest for training."""

from pathlib import Path

import typer


def main(source: Path, folder: Path, every: int = 10) -> None:
    """Write train.iob2 and dev.iob2 to a folder."""
    sentences = [s for s in source.read_text(encoding="utf8").split("\n\n") if s.strip()]
    folder.mkdir(parents=True, exist_ok=True)
    for name, kept in (
        ("train", [s for i, s in enumerate(sentences) if i % every]),
        ("dev", sentences[::every]),
    ):
        text = "".join(sentence.strip("\n") + "\n\n" for sentence in kept)
        (folder / f"{name}.iob2").write_text(text, encoding="utf8")
        print(f"{name}: {len(kept):,} sentences")


if __name__ == "__main__":
    typer.run(main)
