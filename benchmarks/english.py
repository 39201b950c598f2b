"""The pipeline that ships as a whole: accuracy, speed, size, and what it needs of a machine.

    python benchmarks/english.py [--beside en_core_web_sm] [--quick]

On the development parts of EWT (tags, lemmas, trees, sentences) and UNER (entities), raw text of
ten sentences a document; on GUM, tags and entities of persons, places and organisations, which
neither pipeline was trained on; and on entities of raw texts of twenty kinds.
`--beside` names a pipeline to measure alike: a package or a folder. Its lemmatizer is left out
where time is measured. Of entities that it calls GPE, LOC or FAC the type is taken for LOC, of
PERSON for PER; leading articles and possessives are not part of a name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import harness  # first: it sets the threads
import spacy
from pipelines import EWT, GUM, UNER, bare, dev_of, f_score, golds_of
from spacy.language import Language
from spacy.tokens import Doc

import spacy_decoders
from spacy_decoders.models.inference import products
from spacy_decoders.readers.corpora import ConlluCorpus

OURS = "decoders_sm"

#: Types of entities by UNER's names.
TYPES = {"PERSON": "PER", "GPE": "LOC", "FAC": "LOC", "place": "LOC"} | {
    "person": "PER",
    "organization": "ORG",
    **{kind: kind for kind in ("PER", "LOC", "ORG")},
}
ARTICLES, POSSESSIVES = {"the", "a", "an"}, {"'s", "’s", "'"}
#: Texts of 20 kinds, written for this benchmark, names in brackets. On the second file it was
#: chosen what the shipped entities learn from, on the first nothing.
REGISTERS = {
    "nothing was chosen on them": Path(__file__).with_name("registers.tsv"),
    "the entities' training was chosen on them": Path(__file__).with_name("registers_dev.tsv"),
}
NAMED = re.compile(r"\[\[(.*?)\|(PER|LOC|ORG)\]\]")
COLUMNS = ("TAG", "POS", "features", "lemmas", "UAS", "LAS", "sentences F", "entities F")
SCORES = ("tag_acc", "pos_acc", "morph_acc", "lemma_acc", "dep_uas", "dep_las", "sents_f")

#: F on EWT as the CoNLL 2018 shared task counts.
MEASURES = ("words", "sentences", "UPOS", "XPOS", "features", "lemmas", "UAS", "LAS")

#: What a fresh process needs until its first document is done; its peak then, and after more.
PEAKS = ("resident at most, MB", "with EWT train, MB")
FRESH = """
import json, sys, time
import spacy
load = {load}
def most():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
began = time.process_time()
nlp = load()
loaded = time.process_time()
nlp("The old man can fish in Coventry. Binary search finds an item in a sorted list.")
done = time.process_time()
then = most()
from spacy_decoders.kernel_cache import progress
found = [loaded - began, done - loaded, progress.functions, then]
sum(map(len, nlp.pipe(json.load(sys.stdin))))
print(json.dumps([*found, most()]))
"""


def entities(doc: Doc) -> set[tuple[int, int, str]]:
    """The persons, places and organisations of a document, without articles and possessives."""
    names = [ent for ent in doc.ents if ent.label_ in TYPES]
    first = [ent.start + (ent[0].lower_ in ARTICLES and len(ent) > 1) for ent in names]
    last = [ent.end - (ent[-1].lower_ in POSSESSIVES and len(ent) > 1) for ent in names]
    return {(*of, TYPES[ent.label_]) for *of, ent in zip(first, last, names, strict=True)}


def on_treebank(nlps: dict[str, Language], options: Any, report: harness.Report) -> None:
    """Scores on raw text of EWT, entities of UNER on gold tokens."""
    limit = 300 if options.quick else 0
    rows = []
    for name, nlp in nlps.items():
        path = options.data / EWT.format("dev")
        raw = ConlluCorpus(path, n_sents=10, gold_tokens=False, limit=limit)
        examples = list(raw(nlp))
        scores = nlp.evaluate(examples)
        if name == OURS:
            wanted = [example.reference for example in examples]
            texts = nlp.pipe(doc.text for doc in wanted)
            as_shared_task(report, list(zip(texts, wanted, strict=True)))
        # another treebank's labels, lemmas and features are no errors
        told = SCORES if name == OURS else ("tag_acc", "sents_f")
        cells = [100 * scores[key] if key in told else None for key in SCORES]
        golds = dev_of(UNER, options)
        docs = nlp.pipe(bare(nlp.vocab, gold) for gold in golds)
        found = [(entities(doc), entities(gold)) for doc, gold in zip(docs, golds, strict=True)]
        rows.append([name, *cells, f_score(found)])
    report.table(
        "EWT dev, raw text; entities of UNER dev, gold tokens, sentences found",
        ["pipeline", *COLUMNS],
        rows,
    )


def as_shared_task(report: harness.Report, pairs: Sequence[tuple[Doc, Doc]]) -> None:
    """Score documents beside gold ones by words, punctuation too; labels without subtypes."""
    told = [[told_of(doc) for doc in pair] for pair in pairs]
    found = [f_score([one[name] for one in pair] for pair in told) for name in MEASURES]
    report.table(
        "F by the measures of CoNLL 2018, EWT dev, raw text",
        ["pipeline", *MEASURES],
        [["as shipped", *found]],
    )


def told_of(doc: Doc) -> dict[str, set[Any]]:
    """What a document says of its words, by their places in the text."""
    words = [token for token in doc if not token.is_space]
    place = {token.i: (token.idx, len(token)) for token in words}
    sents = [[place[token.i] for token in sent if token.i in place] for sent in doc.sents]
    heads = {token.i: place.get(token.head.i) if token.dep_ != "ROOT" else None for token in words}
    told = {
        "words": lambda token: None,
        "UPOS": lambda token: token.pos_,
        "XPOS": lambda token: token.tag_,
        "features": lambda token: str(token.morph),
        "lemmas": lambda token: token.lemma_,
        "UAS": lambda token: heads[token.i],
        "LAS": lambda token: (heads[token.i], token.dep_.lower().partition(":")[0]),
    }
    by_word = {name: {(place[of.i], told[name](of)) for of in words} for name in told}
    return {"sentences": {(sent[0][0], sum(sent[-1])) for sent in sents if sent}, **by_word}


def on_gum(nlps: dict[str, Language], options: Any, report: harness.Report) -> None:
    """Tags and entities of GUM."""
    golds = dev_of(GUM, options)
    rows = []
    for name, nlp in nlps.items():
        docs = list(nlp.pipe([bare(nlp.vocab, gold) for gold in golds]))
        pairs = list(zip(docs, golds, strict=True))
        right = [a.tag_ == b.tag_ for pair in pairs for a, b in zip(*pair, strict=True)]
        found = [[*map(entities, pair)] for pair in pairs]
        rows.append([name, len(right), 100 * sum(right) / len(right), f_score(found)])
    report.table(
        "GUM dev, gold tokens, sentences found", ["pipeline", "words", "TAG", "entities F"], rows
    )


def registers(path: Path, nlp: Language) -> Iterator[tuple[str, Doc]]:
    """Yield kinds of text and documents with the names in brackets as entities."""
    for line in path.read_text(encoding="utf8").splitlines():
        register, _, marked = line.partition("\t")
        text, names = "", []
        for part in re.split(r"(\[\[.*?\]\])", marked):
            name = NAMED.fullmatch(part)
            if name:
                names.append((len(text), len(text) + len(name[1]), name[2]))
            text += name[1] if name else part
        doc = nlp(text)
        doc.ents = [doc.char_span(*name, alignment_mode="expand") for name in names]
        yield register, doc


def on_registers(
    nlps: dict[str, Language], title: str, path: Path, report: harness.Report
) -> None:
    """Entities of raw texts of many kinds."""
    golds = [*registers(path, spacy.blank("en"))]
    pairs: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for name, nlp in nlps.items():
        for (register, gold), doc in zip(golds, nlp.pipe(of.text for _, of in golds), strict=True):
            named = [
                {(of[i].idx, of[j - 1].idx + len(of[j - 1]), kind) for i, j, kind in entities(of)}
                for of in (doc, gold)
            ]
            for group in (register, "all"):
                pairs[name, group].append(named)
    groups = [*dict.fromkeys(register for register, _ in golds), "all"]
    report.table(
        f"Raw texts of many kinds, written for this benchmark: {title}",
        ["register", *(f"entities F, {name}" for name in nlps)],
        [[group, *(f_score(pairs[name, group]) for name in nlps)] for group in groups],
    )


def speed(nlps: dict[str, Language], options: Any, report: harness.Report) -> None:
    """Words a second, of all texts at once, one by one, and of the beginnings of texts."""
    ours, plain = nlps[OURS], spacy.blank("en")
    docs = list(plain.pipe(gold.text for gold in dev_of(EWT, options)))
    texts = [doc.text for doc in docs]
    short = {n: [doc[:n].text for doc in docs if len(doc) >= n] for n in (10, 40, 150)}
    tasks, words = {}, {}

    def add(task: str, nlp: Language, without: Sequence[str], alone: Sequence[str] = ()) -> None:
        def run() -> None:
            with nlp.select_pipes(disable=[name for name in without if name in nlp.pipe_names]):
                list(map(nlp, alone) if alone else nlp.pipe(texts))

        tasks[task] = run
        words[task] = sum(map(len, plain.pipe(alone or texts)))

    for name, nlp in nlps.items():
        left = [] if name == OURS else ["lemmatizer"]
        add(name, nlp, left)
        add(f"{name}, text by text", nlp, left, texts)
        for n, given in short.items():
            add(f"{name}, text by text, {n} words", nlp, left, given)
    extra = ("lemmatizer", "linker", "headline")
    add(f"{OURS} without {', '.join(extra)}", ours, extra)
    add("the same with lemmas, text by text, 10 words", ours, extra[1:], short[10])
    if products.has_tiles():
        off = patch.object(products, "has_tiles", lambda: False)
        for task, without in ((f"{OURS}, no matrix unit", ()), ("the same without these", extra)):
            add(task, ours, without)
            tasks[task] = off(tasks[task])
    seconds = harness.interleaved(tasks, 1 if options.quick else 3, settled=True)
    report.table(
        f"Raw text, {words[OURS]:,} words, {len(texts)} documents, one thread",
        ["pipeline", "words/s"],
        [[name, words[name] / taken] for name, taken in seconds.items()],
    )
    others = [name for name in nlps if name != OURS]
    rates = {name: words[name] / taken for name, taken in seconds.items() if "by" not in name}
    title, axis = "Raw text, one thread", "words a second"
    harness.bars(options.results / "english.png", title, axis, rates, peers=others)


def needs(options: Any, report: harness.Report) -> None:
    """What a fresh process takes, with nothing compiled and after that: time, memory."""
    rows, beside = [], options.beside
    golds = golds_of(options.data / EWT.format("train"), limit=300 if options.quick else 0)
    texts = json.dumps([gold.text for gold in golds])
    with tempfile.TemporaryDirectory() as folder:
        # a copy of the package, which has nothing compiled, and compiles for itself
        package = Path(spacy_decoders.__file__).parent
        copy = Path(folder) / package.name
        shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
        environment = os.environ | {"PYTHONPATH": folder}
        environment.pop("NUMBA_CACHE_DIR", None)
        ours = "__import__('spacy_decoders').load"
        runs = [(f"{OURS}, nothing compiled", ours), (OURS, ours)]
        if beside:
            path = Path(beside).resolve()
            given = str(path) if path.exists() else beside
            runs.append((path.name, f"lambda: spacy.load({given!r}, exclude=['lemmatizer'])"))
        for name, load in runs:
            done = subprocess.run(
                [sys.executable, "-c", FRESH.format(load=load)],
                cwd=folder, env=environment, input=texts, stdout=subprocess.PIPE, text=True,
                check=True,
            )  # fmt: skip
            rows.append([name, *json.loads(done.stdout.splitlines()[-1])])
    report.table(
        "A fresh process up to the end of its first document, seconds of the processor",
        ["pipeline", "loading, s", "first document, s", "functions compiled", *PEAKS],
        rows,
    )
    files = spacy_decoders.bundled.FOLDER.rglob("*")
    size = sum(file.stat().st_size for file in files if file.is_file())
    report.facts["size of the pipeline, MB"] = size / 1e6


def main() -> None:
    """Measure, report."""
    arguments = harness.arguments(__doc__.splitlines()[0])
    arguments.add_argument("--beside", help="a pipeline to measure alike")
    options = arguments.parse_args()
    report = harness.Report("english", options.results)
    nlps = {OURS: spacy_decoders.load()}
    if options.beside:
        nlps[Path(options.beside).name] = spacy.load(options.beside)
    needs(options, report)
    on_treebank(nlps, options, report)
    on_gum(nlps, options, report)
    for title, path in REGISTERS.items():
        on_registers(nlps, title, path, report)
    speed(nlps, options, report)


if __name__ == "__main__":
    main()
