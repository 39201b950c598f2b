"""Small corpora in each format."""

import bz2
import gzip
from pathlib import Path

HERE = Path(__file__).parent
CONLLU, COLUMNS = ((HERE / f"tiny.{end}").read_text(encoding="utf8") for end in ("conllu", "tsv"))
#: With two roots in the first sentence, and crossing arcs in the second.
CONLLX = (HERE / "tiny.conll").read_text(encoding="utf8")


def written(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file, packed as its name says."""
    pack = {".gz": gzip.compress, ".bz2": bz2.compress}.get(Path(name).suffix, bytes)
    (folder / name).write_bytes(pack(content.encode() if isinstance(content, str) else content))
    return folder / name
