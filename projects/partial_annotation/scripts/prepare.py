"""Join the sections of the Broad Twitter Corpus, without the few lines that have no word.

python scripts/prepare.py assets/broad_twitter corpus/broad_twitter.tsv
"""

from __future__ import annotations

import sys
from pathlib import Path

from spacy_decoders.readers.text_lines import text_lines


def main(folder: str, written: str) -> None:
    """Write all sections to one file."""
    Path(written).parent.mkdir(parents=True, exist_ok=True)
    with Path(written).open("w", encoding="utf8") as joined:
        for section in sorted(Path(folder).iterdir()):
            for line in text_lines(section):
                word, _, label = line.rstrip("\n").partition("\t")
                if word.strip() and label:
                    joined.write(f"{word.strip()}\t{label}\n")
                elif not line.strip():
                    joined.write("\n")
            joined.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
