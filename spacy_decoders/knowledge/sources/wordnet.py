"""Synsets of a wordnet as concepts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree.ElementTree import ParseError, iterparse

from ...errors import ProblemError
from ..concepts import QID, BadRows, Concept
from ..dumps.sql import open_dump

__all__ = ["WordNet"]

#: Coarse types of lexicographers' files; others keep the name of the file.
_TYPES = {
    "person": "person",
    "location": "place",
    "group": "group",
    "animal": "organism",
    "plant": "organism",
    "artifact": "product",
    "event": "event",
    "substance": "substance",
    "food": "substance",
}


class WordNet:
    """The synsets of a wordnet.

    The source is a file in WordNet LMF, such as ``english-wordnet-2024.xml.gz``, plain or
    compressed; `ProblemError` if it is no file or, when it is read, is no LMF. Aliases are the
    synset's words, counted by how often each is used in this sense where that is known; links are
    all relations between synsets.
    """

    def __init__(self, source: Path) -> None:
        self.source = Path(source)
        #: what the last iteration could not read
        self.bad = BadRows()
        if not self.source.is_file():
            raise ProblemError(f"source: {self.source} is no file.")

    def __iter__(self) -> Iterator[Concept]:
        self.bad = BadRows()
        forms: defaultdict[str, dict[str, float]] = defaultdict(dict)
        links: defaultdict[str, list[str]] = defaultdict(list)
        synset_of: dict[str, str] = {}
        related: list[tuple[str, str]] = []
        waiting: list[tuple[str, str, str, str]] = []
        try:
            with open_dump(self.source) as stream:
                for _, element in iterparse(stream):
                    if element.tag == "LexicalEntry":
                        lemma = element.find("Lemma")
                        form = "" if lemma is None else lemma.get("writtenForm", "")
                        for sense in element.iter("Sense"):
                            synset = sense.get("synset", "")
                            synset_of[sense.get("id", "")] = synset
                            if form:
                                forms[synset][form] = 1.0 + _count(sense.findtext("Count"))
                            related += [
                                (synset, relation.get("target", ""))
                                for relation in sense.iter("SenseRelation")
                            ]
                        element.clear()
                    elif element.tag == "Synset":
                        synset = element.get("id", "")
                        links[synset] += [
                            relation.get("target", "")
                            for relation in element.iter("SynsetRelation")
                        ]
                        gloss = element.findtext("Definition") or ""
                        # an attribute, whatever its name space
                        items = (v for k, v in element.attrib.items() if "}" in k)
                        item = next(filter(QID.fullmatch, items), "")
                        waiting.append((synset, element.get("lexfile", ""), gloss, item))
                        element.clear()
        # an unknown encoding in the XML declaration raises a LookupError or a ValueError
        except (ParseError, LookupError, ValueError, EOFError, OSError) as error:
            raise ProblemError(f"source: {self.source} is no whole LMF file: {error}.") from error
        if not waiting:
            raise ProblemError(f"source: {self.source} has no synset; is it WordNet LMF?")
        for synset, sense_id in related:
            links[synset].append(synset_of.get(sense_id, ""))
        for synset, file, gloss, qid in waiting:
            if synset:
                yield _concept(synset, file, forms[synset], links[synset], gloss, qid)
            else:
                self.bad.add(self.source.name, "a synset without an id")


def _concept(
    synset: str, file: str, words: dict[str, float], links: Iterable[str], gloss: str, qid: str
) -> Concept:
    kind = file.partition(".")[2]
    return Concept(
        id=synset,
        title=max(words, key=lambda word: words[word]) if words else synset,
        aliases=words,
        links=tuple(dict.fromkeys(link for link in links if link and link != synset)),
        description=gloss,
        type=_TYPES.get(kind, kind),
        qid=qid,
    )


def _count(text: str | None) -> float:
    return float(text) if text and text.strip().isdigit() else 0.0
