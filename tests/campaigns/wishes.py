"""Random sets of demands on the components of the shipped pipeline: each holds, or is named.

The judge looks at what stands in the Doc alone.
"""

from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span

SENTENCES = (
    "The old man can fish at Old Mill Bank .",
    "Mary Smith of London saw it in 1999 .",
    "He left .",
    "Why did the Bank of England raise rates ?",
    "Paris Hilton flew to Paris , Texas , last week .",
    "She said that he would not come , but he did .",
    "Yes !",
    "The jaguar hunts in the jungle along the Amazon .",
    "Dr. Jones and Apple signed \n a deal .",
)
TAGS = ("NN", "NNP", "VB", "VBZ", "JJ", "DT", "IN", ".")
DEPS = ("nsubj", "obj", "obl", "det", "case", "punct", "amod", "advmod", "conj", "ROOT")
TYPES = ("PER", "LOC", "ORG")
#: A demand for an entity of the type that the span in the Doc has.
LABELLED = "entity of the label"


class Wish(NamedTuple):
    """One demand on a span: of which kind, and the value that is asked for."""

    kind: str
    start: int
    end: int
    value: Any

    @property
    def source(self) -> str:
        """How conflicts name it; constraints have numbers there."""
        if self.kind in PRESENT:
            return "present annotation"
        return self.kind if self.kind in ATTRIBUTES else ""

    @property
    def constraint(self) -> dict[str, Any]:
        """What the option `constraints` takes; nothing if it is asked for in another way."""
        if self.source:
            return {}
        if self.kind == "head":
            return {"token": self.value, "head": -1 - self.value}
        return {"entity": "label"} if self.kind == LABELLED else {self.kind: self.value}

    def apply(self, doc: Doc, key: str) -> None:
        """Ask for it in a document; it is noted there where it can't be annotated before."""
        span = doc[self.start : self.end]
        others = [ent for ent in doc.ents if ent.start < self.end and self.start < ent.end]
        if self.kind in ATTRIBUTES:
            span[0]._.set(self.kind, self.value)
        elif self.kind not in PRESENT:
            label = self.value[0] if self.kind == LABELLED else ""
            doc.spans[key] = [Span(doc, self.start, self.end, label)]
        elif self.kind == "present tag":
            span[0].tag_ = self.value
        elif self.kind == "present entity" and not others:
            ent = Span(doc, self.start, self.end, self.value)
            doc.set_ents([ent], default="unmodified")
        elif self.kind == "present link" and [same_place(span, ent) for ent in others] == [True]:
            linked = Span(doc, self.start, self.end, others[0].label_, kb_id=self.value)
            doc.ents = [*(ent for ent in doc.ents if ent not in others), linked]
        else:
            doc.user_data["absent", self.start] = True

    def holds(self, doc: Doc) -> bool:
        """Whether a document satisfies it."""
        absent = self.kind in PRESENT and ("absent", self.start) in doc.user_data
        return absent or JUDGES[self.kind](doc[self.start : self.end], self.value)


class Case(NamedTuple):
    """A sentence or some, and demands on a component."""

    words: list[str]
    starts: list[int] | None
    wishes: list[Wish]
    overwrite: bool


def same_place(one: Span, other: Span) -> bool:
    return (one.start, one.end) == (other.start, other.end)


def entity(span: Span, types: Any) -> bool:
    """Whether a span is an entity of one of some types, or of any."""
    return any(
        same_place(span, ent) and (types is True or ent.label_ in types) for ent in span.doc.ents
    )


def link(span: Span) -> str:
    return next((ent.kb_id_ for ent in span.doc.ents if same_place(span, ent)), "")


def types_in(span: Span) -> set[str]:
    return {token.ent_type_ for token in span} - {""}


#: Whether a span, or its only token, is as a demand of each kind asks.
JUDGES = {
    "labels": lambda span, of: all(token.tag_ in of for token in span),
    "not_labels": lambda span, of: not any(token.tag_ in of for token in span),
    "present tag": lambda span, of: span[0].tag_ == of,
    "entity": entity,
    LABELLED: entity,
    "present entity": lambda span, of: entity(span, [of]),
    "not_entity": lambda span, of: not (types_in(span) if of is True else types_in(span) & {*of}),
    "head": lambda span, of: len(span) > 1 and span[of].head == span[-1 - of],
    "root": lambda span, of: (span[0].head == span[0]) == of,
    "deps": lambda span, of: span[0].dep_ in of,
    "not_deps": lambda span, of: span[0].dep_ not in of,
    "fixed_head": lambda span, of: span[0].head.i == of,
    "fixed_dep": lambda span, of: span[0].dep_ == of,
    "forbidden_heads": lambda span, of: span[0].head.i not in of,
    "forbidden_deps": lambda span, of: span[0].dep_ not in of,
    "candidates": lambda span, of: link(span) in ("", "NIL", *of),
    "not_candidates": lambda span, of: link(span) not in of,
    "present link": lambda span, of: link(span) == of,
}
PRESENT = {kind for kind in JUDGES if kind.startswith("present")}
ATTRIBUTES = {kind for kind in JUDGES if kind.startswith(("fixed", "forbidden"))}
#: The kinds of demands on each component, and how many tokens they are about at most.
KINDS = {
    "tagger": ([*JUDGES][:3], 2),
    "entities": ([*JUDGES][3:7], 4),
    "parser": ([*JUDGES][7:15], 1),
    "linker": ([*JUDGES][15:], 2),
}


def text_of(rng: np.random.Generator) -> tuple[list[str], list[int] | None]:
    """Words of some sentences, and where they begin if that is given."""
    chosen = rng.choice(len(SENTENCES), rng.integers(1, 4))
    parts = [SENTENCES[place].split(" ") for place in chosen]
    words = [word for part in parts for word in part]
    starts = [1 if not place else -1 for part in parts for place in range(len(part))]
    kind = rng.integers(3)
    return words, [None, starts, [x if x > 0 and rng.random() < 0.7 else 0 for x in starts]][kind]


def some(rng: np.random.Generator, values: Sequence[str], most: int = 2) -> list[str]:
    return sorted(rng.choice(values, rng.integers(1, most + 1), replace=False).tolist())


def value_of(kind: str, rng: np.random.Generator, near: int, concepts: list[str]) -> Any:
    """What is asked for by a demand; `near` is a token near to its own."""
    of_kind = {
        "present tag": lambda: str(rng.choice([*TAGS, "FOREIGN"])),
        "entity": lambda: True if rng.random() < 0.5 else some(rng, TYPES),
        LABELLED: lambda: [str(rng.choice([*TYPES, "FOREIGN"]))],
        "present entity": lambda: str(rng.choice([*TYPES, "FOREIGN"])),
        "not_entity": lambda: True if rng.random() < 0.4 else some(rng, TYPES),
        "head": lambda: int(rng.choice([0, -1])),
        "root": lambda: bool(rng.random() < 0.5),
        "fixed_head": lambda: near,
        "fixed_dep": lambda: str(rng.choice(DEPS)),
        "forbidden_heads": lambda: [near],
        "candidates": lambda: some(rng, concepts) if rng.random() < 0.9 else [],
        "not_candidates": lambda: some(rng, concepts),
        "present link": lambda: str(rng.choice(concepts)),
    }
    return of_kind[kind]() if kind in of_kind else some(rng, DEPS if "deps" in kind else TAGS)


def wish_of(
    component: str, rng: np.random.Generator, words: list[str], concepts: list[str]
) -> Wish:
    """A random demand."""
    kinds, longest = KINDS[component]
    kind, start = str(rng.choice(kinds)), int(rng.integers(len(words)))
    end = min(len(words), start + int(rng.integers(1, longest + 1)))
    capitals = [i for i, word in enumerate(words) if word[0].isupper()]
    if component == "linker" and capitals and rng.random() < 0.8:
        start = int(rng.choice(capitals))
        end = start + 1
    near = int(np.clip(start + rng.integers(-6, 7), 0, len(words) - 1))
    if kind == "head":
        start, end = min(start, near), max(start, near) + 1
    if kind == "present tag":
        end = start + 1
    return Wish(kind, start, end, value_of(kind, rng, near, concepts))


def case_of(component: str, rng: np.random.Generator, nlp: Language) -> Case:
    """A random case."""
    words, starts = text_of(rng)
    overwrite = bool(rng.random() < 0.5)
    base = nlp.get_pipe("linker").kb.base
    named = [of["id"] for name in ("Amazon", "Paris", "Apple") for of in base.look_up(name)]
    concepts = list(dict.fromkeys([base.id(number) for number in (0, 30)] + named))
    wishes, taken = [], set()
    for _ in range(int(rng.integers(1, 7))):
        wish = wish_of(component, rng, words, concepts)
        # what is annotated before stands there once, and so does an attribute of a token
        places = {(wish.kind, i) for i in range(wish.start, wish.end) if wish.source}
        if taken.isdisjoint(places) and not (overwrite and wish.kind in PRESENT):
            wishes.append(wish)
            taken |= places
    return Case(words, starts, wishes, overwrite)


def run(nlp: Language, component: str, case: Case, kept: list[int]) -> Doc:
    """Annotate a document under some of a case's demands; constraints keep their numbers."""
    doc = Doc(nlp.vocab, words=case.words, sent_starts=case.starts)
    if component == "linker":
        names = [i for i, word in enumerate(case.words) if word[0].isupper() and i]
        doc.ents = [Span(doc, i, i + 1, "LOC") for i in names]
    constraints = []
    for number, wish in enumerate(case.wishes):
        if wish.constraint:
            constraints.append({"spans": f"wish{number}", **wish.constraint})
        if number in kept:
            wish.apply(doc, f"wish{number}")
    pipe = nlp.get_pipe(component)
    pipe.configure(constraints=constraints, overwrite=case.overwrite)
    return pipe(doc)


def names_of(case: Case) -> list[str]:
    """The source of each demand, as conflicts name it."""
    numbers = count()
    return [of.source or f"constraints[{next(numbers)}]" for of in case.wishes]


def faults(nlp: Language, component: str, seed: int, *, least: bool = True) -> list[str]:
    """What is wrong with a random case: demands dropped in silence, sets that are not least."""
    case = case_of(component, np.random.default_rng(seed), nlp)
    doc = run(nlp, component, case, list(range(len(case.wishes))))
    found, names = [], names_of(case)
    units = [(of["start"], of["end"]) for of in doc._.conflicts]
    for wish, name in zip(case.wishes, names, strict=True):
        named = any(
            demand["source"] == name and wish.start <= demand["start"] < wish.end
            for of in doc._.conflicts
            for demand in of["demands"]
        )
        in_unit = any(wish.start < end and start < wish.end for start, end in units)
        if not wish.holds(doc) and not named and not in_unit:
            found.append(f"{component} {seed}: {name} at {wish.start}:{wish.end} is dropped")
    proven = [of["status"] for of in doc._.certificates.get(component, ())].count("infeasible")
    if component in ("tagger", "linker") and proven != len(doc._.conflicts):
        found.append(
            f"{component} {seed}: {proven} certificates of {len(doc._.conflicts)} conflicts"
        )
    for of in doc._.conflicts if least else ():
        found += [
            f"{component} {seed}: {why}" for why in not_least(nlp, component, case, names, of)
        ]
    return found


def not_least(
    nlp: Language, component: str, case: Case, names: list[str], conflict: dict
) -> list[str]:
    """Why a set of demands is no conflict, or not a least one."""
    named = {(of["source"], of["start"]) for of in conflict["demands"]}
    others = {"rules", "white space"}
    if any(source in others for source, _ in named):
        return []  # these can't be left out of a case
    own = [
        number
        for number, (wish, name) in enumerate(zip(case.wishes, names, strict=True))
        if any(source == name and wish.start <= start < wish.end for source, start in named)
    ]
    start, end = conflict["start"], conflict["end"]

    def conflicts(kept: list[int]) -> bool:
        doc = run(nlp, component, case, kept)
        return any(of["start"] < end and start < of["end"] for of in doc._.conflicts)

    if not conflicts(own):
        return [f"{sorted(named)} alone is no conflict"]
    return [
        f"{sorted(named)} is one without {names[i]}"
        for i in own
        if conflicts([j for j in own if j != i])
    ]
