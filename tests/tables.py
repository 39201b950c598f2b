"""Examples that stand in text files beside their tests."""

from pathlib import Path

__all__ = ["rows"]


def rows(path: Path) -> list[list[str]]:
    """The lines of a file, but for comments, each cut at its tabs."""
    lines = path.read_text(encoding="utf8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("# ")]
