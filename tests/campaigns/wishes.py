"""Random sets of demands on the components of the shipped pipeline: each holds, or is named.

The judge looks at what stands in the Doc alone.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span

COMPONENTS = ("tagger", "entities", "parser", "linker")
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


class Wished(NamedTuple):
    """One demand: what makes it, its span, how to make it, and whether a Doc satisfies it."""

    source: str
    start: int
    end: int
    constraint: dict | None
    apply: Callable[[Doc], None] | None
    holds: Callable[[Doc], bool]


class Case(NamedTuple):
    """A sentence or some, and demands on a component."""

    words: list[str]
    starts: list[int] | None
    wishes: list[Wished]
    options: dict


def text_of(rng: np.random.Generator) -> tuple[list[str], list[int] | None]:
    """Words of some sentences, and where they begin if that is given."""
    chosen = rng.choice(len(SENTENCES), rng.integers(1, 4))
    parts = [SENTENCES[place].split(" ") for place in chosen]
    words = [word for part in parts for word in part]
    starts = [1 if not place else -1 for part in parts for place in range(len(part))]
    kind = rng.integers(3)
    return words, [None, starts, [x if x > 0 and rng.random() < 0.7 else 0 for x in starts]][kind]


def some(rng: np.random.Generator, values: tuple[str, ...], most: int) -> list[str]:
    return sorted(rng.choice(values, rng.integers(1, most + 1), replace=False).tolist())


def span_in(rng: np.random.Generator, n: int, longest: int) -> tuple[int, int]:
    start = int(rng.integers(n))
    return start, min(n, start + int(rng.integers(1, longest + 1)))


def demand(start: int, end: int, constraint: dict, holds: Callable[[Doc], bool]) -> Wished:
    """Something asked for by the option `constraints`."""
    return Wished("", start, end, constraint, None, holds)


def present(
    start: int, end: int, apply: Callable[[Doc], None], holds: Callable[[Doc], bool]
) -> Wished:
    """Something annotated before; `apply` notes in the Doc where it could not be."""

    def unless_absent(doc: Doc) -> bool:
        return ("absent", start) in doc.user_data or holds(doc)

    return Wished("present annotation", start, end, None, apply, unless_absent)


def tag_wish(rng: np.random.Generator, words: list[str]) -> Wished:
    start, end = span_in(rng, len(words), 2)
    kind, labels = rng.integers(4), some(rng, TAGS, 2)
    if kind == 3:
        tag = str(rng.choice([*TAGS, "FOREIGN"]))

        def keep(doc: Doc) -> None:
            doc[start].tag_ = tag

        return present(start, start + 1, keep, lambda doc: doc[start].tag_ == tag)
    denied = kind == 2
    return demand(
        start,
        end,
        {"not_labels" if denied else "labels": labels},
        lambda doc: all((token.tag_ in labels) != denied for token in doc[start:end]),
    )


def entity_wish(rng: np.random.Generator, words: list[str]) -> Wished:
    start, end = span_in(rng, len(words), 4)
    kind = rng.integers(5)
    types = some(rng, TYPES, 2)
    if kind == 4:
        label = str(rng.choice([*TYPES, "FOREIGN"]))

        def keep(doc: Doc) -> None:
            if any(token.ent_iob_ in ("B", "I") for token in doc[start:end]):
                doc.user_data["absent", start] = True
            else:
                doc.set_ents([Span(doc, start, end, label)], default="unmodified")

        there = (start, end, label)
        return present(
            start, end, keep, lambda doc: there in {(e.start, e.end, e.label_) for e in doc.ents}
        )
    if kind == 3:
        denied = True if rng.random() < 0.4 else types

        def has_none(doc: Doc) -> bool:
            found = {token.ent_type_ for token in doc[start:end]} - {""}
            return not (found if denied is True else found & set(types))

        return demand(start, end, {"not_entity": denied}, has_none)
    wanted = [types, True, "label"][kind]
    label = str(rng.choice([*TYPES, "FOREIGN"]))
    allowed = {"label": [label]}.get(wanted if isinstance(wanted, str) else "", types)
    wish = demand(
        start,
        end,
        {"entity": wanted},
        lambda doc: any(
            (e.start, e.end) == (start, end) and (wanted is True or e.label_ in allowed)
            for e in doc.ents
        ),
    )
    return wish._replace(source=label)


def tree_wish(rng: np.random.Generator, words: list[str]) -> Wished:
    n = len(words)
    kind = rng.integers(9)
    token, deps = int(rng.integers(n)), some(rng, DEPS, 2)
    near = int(np.clip(token + rng.integers(-6, 7), 0, n - 1))
    one = (token, token + 1)
    if kind == 0:
        start, end = min(token, near), max(token, near) + 1
        dependant = 0 if rng.random() < 0.5 else -1
        child, head = (start, end - 1) if dependant == 0 else (end - 1, start)
        constraint = {"token": dependant, "head": -1 - dependant}
        return demand(
            start, end, constraint, lambda doc: child != head and doc[child].head.i == head
        )
    if kind < 5:
        name, value = [("root", True), ("root", False), ("deps", deps), ("not_deps", deps)][
            kind - 1
        ]
        judge = {
            "root": lambda doc: (doc[token].head.i == token) == value,
            "deps": lambda doc: doc[token].dep_ in deps,
            "not_deps": lambda doc: doc[token].dep_ not in deps,
        }[name]
        return demand(*one, {name: value}, judge)
    name = ("fixed_head", "fixed_dep", "forbidden_heads", "forbidden_deps")[kind - 5]
    value = {"fixed_head": near, "fixed_dep": deps[0], "forbidden_heads": [near]}.get(name, deps)

    def apply(doc: Doc) -> None:
        doc[token]._.set(name, value)

    judges = {
        "fixed_head": lambda doc: doc[token].head.i == near,
        "fixed_dep": lambda doc: doc[token].dep_ == deps[0],
        "forbidden_heads": lambda doc: doc[token].head.i != near,
        "forbidden_deps": lambda doc: doc[token].dep_ not in deps,
    }
    return Wished(name, *one, None, apply, judges[name])


def link_wish(rng: np.random.Generator, words: list[str], concepts: list[str]) -> Wished:
    start, end = span_in(rng, len(words), 2)
    capitals = [i for i, word in enumerate(words) if word[0].isupper()]
    if capitals and rng.random() < 0.8:
        start = int(rng.choice(capitals))
        end = start + 1
    few = some(rng, tuple(concepts), 2)
    kind = rng.integers(4)

    def linked(doc: Doc) -> str:
        return next((e.kb_id_ for e in doc.ents if (e.start, e.end) == (start, end)), "")

    if kind == 0:

        def keep(doc: Doc) -> None:
            own = [e for e in doc.ents if e.start < end and start < e.end]
            if [(e.start, e.end) for e in own] == [(start, end)] and not own[0].kb_id:
                others = [e for e in doc.ents if e not in own]
                doc.ents = [*others, Span(doc, start, end, own[0].label_, kb_id=few[0])]
            else:
                doc.user_data["absent", start] = True

        return present(start, end, keep, lambda doc: linked(doc) == few[0])
    if kind == 1:
        return demand(start, end, {"not_candidates": few}, lambda doc: linked(doc) not in few)
    wanted = few if kind == 2 or rng.random() < 0.8 else []
    return demand(
        start, end, {"candidates": wanted}, lambda doc: linked(doc) in ("", "NIL", *wanted)
    )


def case_of(component: str, rng: np.random.Generator, nlp: Language) -> Case:
    """A random case."""
    words, starts = text_of(rng)
    count = int(rng.integers(1, 7))
    options: dict = {"overwrite": bool(rng.random() < 0.5)}
    if component != "linker":
        made = {"tagger": tag_wish, "entities": entity_wish, "parser": tree_wish}[component]
        wishes = [made(rng, words) for _ in range(count)]
    else:
        base = nlp.get_pipe("linker").kb.base
        named = [of["id"] for name in ("Amazon", "Paris", "Apple") for of in base.look_up(name)]
        concepts = list(dict.fromkeys([base.id(number) for number in range(0, 60, 7)] + named))
        wishes = [link_wish(rng, words, concepts) for _ in range(count)]
    if options["overwrite"]:
        wishes = [of for of in wishes if of.source != "present annotation"] or wishes[:0]
    elif component != "parser":  # what is present stands there once
        there, kept = set(), []
        for of in wishes:
            own = set(range(of.start, of.end)) if of.source == "present annotation" else set()
            if own.isdisjoint(there):
                kept.append(of)
                there |= own
        wishes = kept
    if component == "parser":  # an attribute of a token is set once
        wishes = list(
            {(of.source, of.start) if of.apply else i: of for i, of in enumerate(wishes)}.values()
        )
    return Case(words, starts, wishes, options)


def run(nlp: Language, component: str, case: Case, kept: list[int]) -> Doc:
    """Annotate a document under some of a case's demands; constraints keep their numbers."""
    doc = Doc(nlp.vocab, words=case.words, sent_starts=case.starts)
    if component == "linker":
        names = [i for i, word in enumerate(case.words) if word[0].isupper() and i]
        doc.ents = [Span(doc, i, i + 1, "LOC") for i in names]
    constraints = []
    for number, wish in enumerate(case.wishes):
        key = f"wish{number}"
        if wish.constraint is not None:
            constraints.append({"spans": key, **wish.constraint})
        if number in kept:
            if wish.apply is not None:
                wish.apply(doc)
            else:
                doc.spans[key] = [Span(doc, wish.start, wish.end, wish.source)]
    pipe = nlp.get_pipe(component)
    pipe.configure(constraints=constraints, **case.options)
    return pipe(doc)


def names_of(case: Case) -> list[str]:
    """The source of each demand, as conflicts name it."""
    numbers = iter(range(len(case.wishes)))
    return [
        of.source if of.constraint is None else f"constraints[{next(numbers)}]"
        for of in case.wishes
    ]


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
    if component == "linker" and proven != len(doc._.conflicts):
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
