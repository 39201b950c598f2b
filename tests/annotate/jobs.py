"""Input that is written, and the identifiers that came out."""

import json


def write_lines(path, texts):
    rows = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(texts)]
    path.write_text("\n".join(rows) + "\n", encoding="utf8")
    return path


def written_ids(job):
    rows = []
    for part in sorted(job.output.glob("part-*.jsonl")):
        rows += [json.loads(line)["id"] for line in part.read_text().splitlines()]
    return rows


def errors_of(job):
    """What is noted of each document that failed."""
    return [json.loads(line) for line in (job.output / "errors.jsonl").read_text().splitlines()]
