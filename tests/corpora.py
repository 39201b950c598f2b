"""A few sentences in the formats that configs and projects read."""

#: Rows of (form, tag, head, relation, entity), and whether arcs cross.
SENTENCES = [
    (("Kim", "NNP", 2, "nsubj", "B-PER"), ("sleeps", "VBZ", 0, "root", "O")),
    (
        ("Paris", "NNP", 2, "nsubj", "B-LOC"),
        ("wakes", "VBZ", 0, "root", "O"),
        ("old", "JJ", 4, "amod", "O"),
        ("cats", "NNS", 2, "obj", "O"),
    ),
    # "a -> hearing", "scheduled -> today" cross
    (
        ("hearings", "NNS", 3, "nsubj", "O"),
        ("are", "VBP", 3, "aux", "O"),
        ("scheduled", "VBN", 0, "root", "O"),
        ("on", "IN", 1, "nmod", "O"),
        ("Tuesday", "NNP", 3, "obl", "O"),
    ),
]


def conllu(repeats: int = 8) -> str:
    """A treebank of documents with a title each."""
    lines = []
    for i in range(repeats):
        lines += [f"# newdoc id = doc{i}", "# meta::title = Kim wakes cats"]
        for j, rows in enumerate(SENTENCES):
            text = " ".join(row[0] for row in rows)
            lines += [f"# sent_id = {i}-{j}", f"# text = {text}"]
            for number, (form, tag, head, relation, _) in enumerate(rows, start=1):
                feats = "Number=Sing" if tag == "NNP" else "_"
                fields = [number, form, form, "X", tag, feats, head, relation, "_", "_"]
                lines.append("\t".join(map(str, fields)))
            lines.append("")
    return "\n".join(lines) + "\n"


def columns(repeats: int = 8) -> str:
    """The same sentences, a token a line: form, part of speech, tag, entity."""
    lines = []
    for rows in SENTENCES * repeats:
        lines += [f"{form}\tX\t{tag}\t{entity}\t_" for form, tag, *_, entity in rows]
        lines.append("")
    return "\n".join(lines) + "\n"


def iob2(repeats: int = 8) -> str:
    """The same sentences with entities."""
    lines = []
    for i in range(repeats):
        for j, rows in enumerate(SENTENCES):
            lines.append(f"# sent_id = {i}-{j}")
            lines += [f"{n}\t{row[0]}\t{row[4]}\t-\t-" for n, row in enumerate(rows, start=1)]
            lines.append("")
    return "\n".join(lines) + "\n"
