"""Word senses as concepts: SemCor and SemEval-2007 on the graph of Open English WordNet.

    python benchmarks/word_senses.py            # 40 texts of SemCor, all of SemEval-2007

Every annotated word is a mention, and its synsets are the candidates, with priors by how often
each was meant in the other texts of SemCor: a text's own counts are left out. Beside what
`graph_entity_linker` chooses stand the most frequent sense and, the graph left out, local scores.
"""

from __future__ import annotations

import timing  # isort: skip - first: it sets the threads

import csv
import gzip
from collections import Counter, defaultdict
from pathlib import Path
from time import process_time

import numpy as np
import spacy
from linking_data import NAME, json_rows
from spacy.tokens import Doc, Span

from spacy_decoders.components.linker.candidates import FoundCandidates
from spacy_decoders.knowledge.concept_base import ConceptBase
from spacy_decoders.knowledge.sources.wordnet import WordNet

#: What each sense has been seen more often than it was.
SMOOTHING = 0.3
WEIGHTS = "spacy-decoders.LinkWeights.v1"


class Senses:
    """The synsets of words, and how often each was meant."""

    def __init__(self, folder: Path, base: ConceptBase) -> None:
        self.synsets: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self.by_key: dict[str, int] = {}
        with gzip.open(folder / "senses.tsv.gz", "rt", encoding="utf8") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                number = base.number(row["synset"])
                pos = row["pos"].replace("s", "a")
                word = row["lemma"].lower().replace("_", " ")
                self.synsets[word, pos].append(number)
                self.by_key[row["sense_key"]] = number
        self.counts: Counter[tuple[str, str, int]] = Counter()
        self.own: Counter[tuple[str, str, int]] = Counter()

    def word(self, mention: dict) -> tuple[str, str]:
        pos = {"j": "a", "s": "a"}.get(mention["pos"][:1].lower(), mention["pos"][:1].lower())
        return mention["lemma"].lower().replace("_", " "), pos

    def gold(self, mention: dict) -> list[int]:
        return [self.by_key[key] for key in mention["gold"] if key in self.by_key]

    def count(self, row: dict) -> Counter[tuple[str, str, int]]:
        return Counter((*self.word(m), g) for m in row["mentions"] for g in self.gold(m)[:1])

    def __call__(self, kb, mentions):
        """The candidates of mentions, for the component."""
        found = []
        for mention in mentions:
            word = mention.doc.user_data["words"][mention.start]
            numbers = sorted(set(self.synsets.get(word, ())))
            used = [self.counts[(*word, n)] - self.own[(*word, n)] + SMOOTHING for n in numbers]
            priors = np.array(used, np.float32) / max(1e-9, sum(used))
            order = np.argsort(-priors, kind="stable")
            found.append(FoundCandidates(np.array(numbers, np.int32)[order], priors[order]))
        return found


def measured(nlp, senses: Senses, rows: list[dict], *, inside: bool) -> tuple[list[bool], float]:
    """Which words are linked right, and seconds a thousand words."""
    right: list[bool] = []
    seconds = 0.0
    for row in rows:
        doc = Doc(nlp.vocab, words=row["tokens"])
        known = [m for m in row["mentions"] if senses.gold(m) and senses.word(m) in senses.synsets]
        known = [m for m in known if set(senses.gold(m)) & set(senses.synsets[senses.word(m)])]
        spans = {m["start"]: Span(doc, m["start"], m["start"] + 1, label="WORD") for m in known}
        doc.spans["sc"] = list(spans.values())
        doc.user_data["words"] = {m["start"]: senses.word(m) for m in known}
        senses.own = senses.count(row) if inside else Counter()
        begin = process_time()
        doc = nlp.get_pipe(NAME)(doc)
        seconds += process_time() - begin
        chosen = {span.start: span.kb_id_ for span in doc.spans["sc"]}
        base = nlp.get_pipe(NAME).kb.base
        for m in known:
            gold = {base.id(number) for number in senses.gold(m)}
            right.append(chosen[m["start"]] in gold)
    return right, 1000 * seconds / max(1, len(right))


def main() -> None:
    """Run everything."""
    parser = timing.arguments(__doc__ or "")
    parser.add_argument("--pairs", type=float, default=PAIRS, help="weight of the graph")
    options = parser.parse_args()
    report = timing.Report("word-senses", options.results)
    folder = options.data / "linking" / "wordnet"
    kb = options.results / "cache" / "linking" / "wordnet"
    if not kb.exists():
        kb.parent.mkdir(parents=True, exist_ok=True)
        ConceptBase.build(WordNet(folder), kb)
    base = ConceptBase.open(kb)
    senses = Senses(folder, base)
    semcor = list(json_rows(folder / "semcor.jsonl.gz"))
    for row in semcor:
        senses.counts.update(senses.count(row))
    few = 5 if options.quick else 40
    sets = {
        "SemCor": (semcor[:: max(1, len(semcor) // few)][:few], True),
        "SemEval-2007": (list(json_rows(folder / "semeval2007.jsonl.gz")), False),
    }
    common = {"none": -100.0, "unnamed": 0.0, "popularity": 0.0, "title": 0.0, "case": 0.0}
    ways = {
        "most frequent sense": {"pairs": 0.0, "words": 0.0},
        "words around": {"pairs": 0.0, "words": WORDS},
        "words around and graph": {"pairs": options.pairs, "words": WORDS},
    }
    rows = []
    for name, (texts, inside) in sets.items():
        for way, weights in ways.items():
            nlp = spacy.blank("en")
            config = {
                "kb": {"@misc": "spacy-decoders.ConceptBase.v1", "path": str(kb)},
                "mentions": "spans",
                "model": {"@architectures": WEIGHTS, **common, **weights},
                "pairs": {"@misc": "spacy-decoders.SharedNeighbours.v1", "residual": 0.0},
            }
            nlp.add_pipe(NAME, config=config).candidates = senses
            right, cost = measured(nlp, senses, texts, inside=inside)
            accuracy = 100 * float(np.mean(right))
            error = 100 * float(np.std(right) / np.sqrt(len(right)))
            rows.append([name, len(right), way, accuracy, error, cost])
            print(rows[-1], flush=True)
    report.table(
        "word senses with gold lemmas and parts of speech: accuracy %",
        ["set", "words", "by", "accuracy %", "standard error", "seconds a thousand words"],
        rows,
    )
    report.close()


#: Weights of the graph and of words around: half of what is usual, and not tuned on senses.
PAIRS, WORDS = 24.0, 0.5


if __name__ == "__main__":
    main()
