"""The parser's gold standard: from Examples to arrays over the predicted tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, SENT_START, TAG
from spacy.strings import get_string_id
from spacy.tokens import Doc, Token
from spacy.training import Example

from ...arrays import Booleans, Integers
from ...models.parser.losses import ROOT, UNKNOWN, GoldTrees
from .trees import tree_faults

__all__ = ["collect_labels", "read_gold"]


#: The features that fine-grained tags express beside the part of speech, from which most labels
#: follow.
_TELLING = ("Case", "Number", "Person", "VerbForm")


class GoldFaults(NamedTuple):
    """The parts of examples that can't be learnt."""

    #: Labels that the parser lacks.
    labels: list[str]
    #: A message for each sentence whose heads form no tree with one root.
    trees: list[str]


def collect_labels(examples: Iterable[Example]) -> tuple[list[str], list[str], str]:
    """The labels, the tags and the root's label of some gold-standard examples.

    The root's label (the most frequent one, ``"ROOT"`` if there is none) is not among the
    labels. Where the tags are but the parts of speech, they come with some morphology
    (``NOUN|Case=Acc|Number=Sing``), as fine-grained tags do.
    """
    labels: set[str] = set()
    tags: set[str] = set()
    with_morphology: set[str] = set()
    fine = tagged = 0
    roots: dict[str, int] = {}
    for example in examples:
        for token in example.reference:
            if token.dep and token.head.i == token.i:
                roots[token.dep_] = roots.get(token.dep_, 0) + 1
            elif token.dep:
                labels.add(token.dep_)
            if token.tag:
                tags.add(token.tag_)
                with_morphology.add(_with_morphology(token))
                tagged += 1
                fine += token.tag_ != token.pos_
    root = max(roots, key=lambda label: (roots[label], label), default="ROOT")
    # some treebanks have a fine-grained tag here and there
    is_fine = fine > 0.1 * tagged
    return sorted(labels - {root}), sorted(tags if is_fine else with_morphology), root


def _with_morphology(token: Token) -> str:
    """Return a token's tag with those of its features that labels follow from."""
    features = token.morph.to_dict()
    told = (f"|{name}={features[name]}" for name in _TELLING if name in features)
    return "".join([token.tag_, *told])


def read_gold(
    examples: Sequence[Example], labels: Sequence[str], tags: Sequence[str]
) -> tuple[GoldTrees, GoldFaults]:
    """Read trees, boundaries and tags of examples, end to end, over the predicted tokens.

    Labels and tags that are not among the given ones count as missing, and so do the heads of a
    sentence that form no tree with one root.
    """
    faults = GoldFaults([], [])
    with_morphology = any("=" in tag for tag in tags)
    of_labels, of_tags = (
        {get_string_id(name): number for number, name in enumerate(names)}
        for names in (labels, tags)
    )
    begins = np.cumsum([0, *(len(example.predicted) for example in examples)])
    parts = [
        _read(example, begin, of_labels, of_tags, with_morphology, faults)
        for example, begin in zip(examples, begins.tolist(), strict=False)
    ]
    none = np.zeros(0, dtype=np.int64)
    offsets, *columns = (
        np.concatenate([none, *part]) for part in (zip(*parts, strict=True) if parts else [()] * 5)
    )
    heads, relations, starts, found = columns
    offsets = np.append(offsets, begins[-1])
    gold = GoldTrees(offsets, heads, relations, starts, found, begins.astype(np.int64))
    return gold, faults


def _read(
    example: Example,
    begin: int,
    labels: Mapping[int, int],
    tags: Mapping[int, int],
    with_morphology: bool,
    faults: GoldFaults,
) -> list[Integers]:
    """Return where sentences begin, heads, labels, starts and tags of one example.

    Its first token has the number `begin`. What can't be learnt is added to `faults`.
    """
    gold, n = example.reference, len(example.predicted)
    to_gold = _one_to_one(example.alignment.x2y)
    to_predicted = _one_to_one(example.alignment.y2x)
    starts, starts_in_gold = _starts(example)
    relative, deps, gold_tags = _columns(gold, [HEAD, DEP, TAG])
    if with_morphology:
        names = [get_string_id(_with_morphology(token)) for token in gold]
        whole = np.array(names, dtype=np.uint64)
        gold_tags = np.where(_numbers(tags, whole) >= 0, whole, gold_tags)
    places = np.arange(len(gold))
    gold_heads = places + relative.view(np.int64)
    known = (deps != 0) & _sound(gold, gold_heads, deps != 0, starts_in_gold, faults)
    relations = _numbers(labels, deps)
    strange = np.flatnonzero((deps != 0) & (relations < 0) & (gold_heads != places))
    faults.labels.extend(gold[token].dep_ for token in strange.tolist())
    found = to_predicted[gold_heads]
    found = np.where(gold_heads == places, ROOT, np.where(found < 0, UNKNOWN, found))
    heads = _taken(np.where(known, found, UNKNOWN), to_gold)
    # an arc that crosses a boundary because of another tokenization is ignored
    sentence = np.cumsum(starts) if (starts >= 0).all() else np.zeros(n, dtype=np.int64)
    heads[(heads >= 0) & (sentence[np.maximum(heads, 0)] != sentence)] = UNKNOWN
    begins = np.flatnonzero(starts == 1)
    return [
        begin + (begins if len(begins) else np.arange(min(1, n))),
        np.where(heads >= 0, heads + begin, heads),
        _taken(relations, to_gold),
        starts,
        _taken(_numbers(tags, gold_tags), to_gold),
    ]


def _sound(
    gold: Doc, heads: Integers, known: Booleans, starts: Integers, faults: GoldFaults
) -> Booleans:
    """Return which tokens are in sentences with a valid tree; add the others to `faults`."""
    sound = np.ones(len(heads), dtype=bool)
    ends = np.append(starts[1:], len(heads))
    for start, fault in tree_faults(heads, starts).items():
        end = ends[np.searchsorted(starts, start)]
        if known[start:end].all():  # else partly annotated: arcs are used one by one
            sound[start:end] = False
            faults.trees.append(
                f"a gold tree has {fault} and is ignored (later ones are not reported): "
                f"{gold[start:end].text[:80]!r}. Give each sentence one root and no cycle."
            )
    return sound


def _numbers(numbers: Mapping[int, int], hashes: NDArray[np.uint64]) -> Integers:
    return np.array([numbers.get(value, UNKNOWN) for value in hashes.tolist()], dtype=np.int64)


def _columns(doc: Doc, attributes: list[int]) -> list[NDArray[np.uint64]]:
    values = cast(Any, doc.to_array(cast(Any, attributes))).reshape(len(doc), len(attributes))
    return [np.ascontiguousarray(column, dtype=np.uint64) for column in values.T]


def _one_to_one(alignment: Any) -> Integers:
    """Return the partner of each token that has exactly one, -1 for all others."""
    lengths = np.asarray(alignment.lengths)
    partner = np.full(len(lengths), -1, dtype=np.int64)
    single = np.flatnonzero(lengths == 1)
    partner[single] = np.asarray(alignment.data)[(np.cumsum(lengths) - lengths)[single]]
    return partner


def _starts(example: Example) -> tuple[Integers, Integers]:
    """Sentence starts over the predicted tokens (1, 0, or unknown), and places in the gold."""
    gold, n = example.reference, len(example.predicted)
    if not gold.has_annotation("SENT_START"):
        return np.full(n, UNKNOWN, dtype=np.int64), np.zeros(min(1, len(gold)), dtype=np.int64)
    marks = _columns(gold, [SENT_START])[0].view(np.int64)
    marks[:1] = 1
    in_gold = np.flatnonzero(marks == 1)
    starts = np.zeros(n, dtype=np.int64)
    starts[:1] = 1
    for partners in map(example.alignment.y2x.__getitem__, in_gold.tolist()):
        starts[partners[:1]] = 1
    return starts, in_gold


def _taken(values: Integers, to_gold: Integers) -> Integers:
    return np.where(to_gold >= 0, values[np.maximum(to_gold, 0)], UNKNOWN)
