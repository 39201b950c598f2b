"""Titles and texts of the documents in a CoNLL-U file that names them in its comments."""

import json
from pathlib import Path

import typer

TITLE, TEXT, DOCUMENT = "# meta::title = ", "# text = ", "# newdoc id = "


def main(source: Path, output: Path) -> None:
    """Write one JSON line for each document that has a title."""
    documents: list[dict[str, str]] = []
    for line in source.read_text(encoding="utf8").splitlines():
        if line.startswith(DOCUMENT):
            documents.append({"id": line.removeprefix(DOCUMENT), "title": "", "text": ""})
        elif documents and line.startswith(TITLE):
            documents[-1]["title"] = line.removeprefix(TITLE)
        elif documents and line.startswith(TEXT):
            documents[-1]["text"] += line.removeprefix(TEXT) + " "
    titled = [document for document in documents if document["title"] and document["text"]]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("".join(json.dumps(d) + "\n" for d in titled), encoding="utf8")
    print(f"{output}: {len(titled):,} documents")


if __name__ == "__main__":
    typer.run(main)
