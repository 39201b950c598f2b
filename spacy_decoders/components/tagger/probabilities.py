"""Probabilities of decoded tags, entities and whole labellings, by exact marginals."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.tokens import Doc, Span
from spacy.training import Example

from ...arrays import Floats, Floats32, Integers, Integers32
from ...models.calibration import Answers, Calibration
from ..extensions import record
from .decoding import NO_LABEL, Tagging, TaggingProbabilities
from .entity_scheme import TokenEntity
from .gold_layers import aligned_labels
from .label_space import IOB, LabelSpace

if TYPE_CHECKING:
    from ...decoders.chain import ChainModel, ChainPosteriors

__all__ = [
    "KINDS", "LEAST", "add_probabilities", "blank_improbable", "gold_loss", "tagging_answers",
    "write_probabilities",
]  # fmt: skip


_start_of = attrgetter("start")

#: The kinds of answers, each of which has a calibration.
TOKENS, ENTITIES, UNITS = "tokens", "entities", "units"
#: Entities that were not decoded, of which fewer are right at the same probability.
OTHERS = "other_entities"
KINDS = TOKENS, ENTITIES, UNITS, OTHERS

#: The least probability of those that are calibrated.
LEAST = 0.02


def add_probabilities(
    space: LabelSpace,
    model: ChainModel | None,
    taggings: Sequence[Tagging],
    *,
    calibrations: Mapping[str, Calibration],
    least: float | None,
) -> None:
    """Add the probabilities of the labels of several documents, in one forward-backward.

    `calibrations` has one for each kind of answer; scores are divided by the temperature of that
    of `TOKENS`. Other entities of a probability of at least `least` are listed; none if it is
    None. The model is None if no document has a word.
    """
    if model is None:
        for tagging in taggings:
            tagging.probabilities = TaggingProbabilities(np.zeros(0), [], [], [])
        return
    labels = np.concatenate([tagging.labels for tagging in taggings])
    # a sentence without a legal labelling has no probabilities
    decoded = labels != NO_LABEL
    lengths = np.array([n for tagging in taggings for n in tagging.units], dtype=np.int64)
    unit_of_row = np.repeat(np.arange(len(lengths)), lengths)
    left = np.bincount(unit_of_row[decoded], minlength=len(lengths))
    rows = np.concatenate([tagging.emissions for tagging in taggings])[decoded]
    found = _posteriors(model, rows, left, calibrations[TOKENS].temperature)

    tokens, units = np.zeros(len(labels)), np.zeros(len(lengths))
    tokens[decoded] = calibrations[TOKENS].apply(_of_values(space, found, labels[decoded]))
    legal = (left > 0) | (lengths == 0)
    chances = found.of_labellings(labels[decoded])
    units[legal] = calibrations[UNITS].apply(chances[legal])

    entities: list[TokenEntity] = []
    others: list[TokenEntity] = []
    if "ent" in space.targets:
        kinds, types = space.scheme.runs, space.scheme.types
        places = np.flatnonzero(decoded)
        correct = calibrations[ENTITIES]
        spans = kinds.runs_in(labels[decoded], found.offsets)
        likely = found.of_runs(kinds, *spans)
        entities = _entities(places, *spans, likely, types, correct)
        if least is not None:
            own = {entity[:3] for entity in entities}
            correct = calibrations[OTHERS]
            # a correction may raise a probability above the threshold
            runs = found.likely_runs(kinds, max(correct.before(least) - 1e-9, 1e-6))
            others = [
                entity
                for entity in _entities(places, *runs, types, correct)
                if entity.probability >= least and entity[:3] not in own
            ]
    ends = [0, *accumulate(len(tagging.labels) for tagging in taggings)]
    unit_ends = [0, *accumulate(len(tagging.units) for tagging in taggings)]
    for place, tagging in enumerate(taggings):
        begin, stop = ends[place : place + 2]
        tagging.probabilities = TaggingProbabilities(
            tokens[begin:stop],
            units[slice(*unit_ends[place : place + 2])].tolist(),
            _within(entities, begin, stop),
            _within(others, begin, stop),
        )


def gold_loss(
    space: LabelSpace,
    model: ChainModel,
    rows: Floats32,
    lengths: Sequence[int],
    gold: Sequence[str | None],
    temperature: float,
) -> float:
    """Return the mean of -log marginal probability of the gold labels that the space has.

    `rows` are the emissions of units of these `lengths`, end to end.
    """
    numbers = np.array([space.index.get(label or "", NO_LABEL) for label in gold])
    known = np.flatnonzero(numbers != NO_LABEL)
    if not len(known):
        return 0.0
    found = _posteriors(model, rows, lengths, temperature)
    chances = found.marginals[known, numbers[known]]
    return float(-np.log(np.maximum(chances, 1e-9)).mean())


def tagging_answers(
    space: LabelSpace,
    taggings: Sequence[Tagging],
    examples: Sequence[Example],
) -> dict[str, Answers]:
    """Return the decoded labels and entities as answers, right if they equal the gold ones.

    Those that include or adjoin a token with an unknown gold label are no answers.
    """
    part = space.first_part
    joint = len(space.targets) > 1
    kinds: dict[str, list[tuple[float, bool, int]]] = {TOKENS: [], UNITS: []}
    if "ent" in space.targets:
        kinds[ENTITIES], kinds[OTHERS] = [], []
    for number, (tagging, example) in enumerate(zip(taggings, examples, strict=True)):
        known = aligned_labels(example, space.targets)
        labels, chances = tagging.labels.tolist(), tagging.probabilities
        assert chances is not None
        for label, chance, right in zip(labels, chances.tokens.tolist(), known, strict=True):
            if right is not None and label != NO_LABEL:
                own = space.parts[label][part]
                value = right.split(" ")[part] if joint else right
                kinds[TOKENS].append((chance, own == value, number))
        begin = 0
        for length, chance in zip(tagging.units, chances.units, strict=True):
            rows = slice(begin, begin + length)
            begin += length
            if None not in known[rows] and length and labels[rows][0] != NO_LABEL:
                same = [space.labels[label] for label in labels[rows]] == list(known[rows])
                kinds[UNITS].append((chance, same, number))
        if ENTITIES in kinds:
            gold = example.get_aligned_spans_y2x(example.reference.ents)
            truth = {(ent.start, ent.end, ent.label_) for ent in gold}
            for kind, found in ((ENTITIES, chances.entities), (OTHERS, chances.others)):
                for entity in found:
                    if None not in known[max(0, entity.start - 1) : entity.end + 1]:
                        kinds[kind].append((entity.probability, entity[:3] in truth, number))
    return {kind: Answers.of(rows) for kind, rows in kinds.items()}


def _posteriors(
    model: ChainModel, rows: Floats32, lengths: Any, temperature: float
) -> ChainPosteriors:
    from ...decoders.chain import ChainModel, posteriors

    if temperature != 1.0:
        given = (model.transitions, model.start, model.end)
        model = ChainModel(*(scores / temperature for scores in given))
        rows = rows / np.float32(temperature)
    return posteriors(model, rows, lengths)


def _of_values(space: LabelSpace, found: ChainPosteriors, labels: Integers32) -> Floats:
    """The probability of each token's value; joint labels are summed over their other parts."""
    if len(space.targets) == 1:
        return found.of_labels(labels)
    return np.minimum((found.marginals * space.same_first_part[labels]).sum(axis=1), 1.0)


def _entities(
    places: Integers,
    starts: Integers,
    stops: Integers,
    numbers: Integers,
    likely: Floats,
    names: Sequence[str],
    correct: Calibration,
) -> list[TokenEntity]:
    columns = (
        places[starts].tolist(),
        (places[stops - 1] + 1).tolist(),
        [names[number] for number in numbers.tolist()],
        correct.apply(likely).tolist(),
    )
    return sorted(map(TokenEntity._make, zip(*columns, strict=True)), key=TokenEntity.rank)


def _within(entities: Sequence[TokenEntity], begin: int, stop: int) -> list[TokenEntity]:
    """The entities within tokens ``begin:stop``, which are a document's; they are sorted."""
    first, last = (bisect_left(entities, end, key=_start_of) for end in (begin, stop))
    return [
        one._replace(start=one.start - begin, end=one.end - begin) for one in entities[first:last]
    ]


def blank_improbable(
    space: LabelSpace,
    values: NDArray[np.uint64],
    found: TaggingProbabilities,
    least: float,
    demanded: Collection[int] = (),
) -> None:
    """Remove the values of tags and entities less probable than `least`, in place.

    The values are those of :attr:`.LabelSpace.values`. Tokens with a label or entity that is
    `demanded` keep theirs.
    """
    chances = found.tokens.copy()
    chances[list(demanded)] = np.inf
    columns = np.isin(space.attributes, (ENT_IOB, ENT_TYPE))
    entity_columns, token_columns = np.flatnonzero(columns), np.flatnonzero(~columns)
    values[np.ix_(chances < least, token_columns)] = 0
    for entity in found.entities:
        own = range(entity.start, entity.end)
        if entity.probability < least and not any(token in demanded for token in own):
            values[entity.start : entity.end, entity_columns] = (IOB["O"], 0)


def write_probabilities(
    doc: Doc,
    component: str,
    targets: Collection[str],
    attribute: str,
    found: TaggingProbabilities | None,
) -> None:
    """Write probabilities, replacing those of an earlier run of the component.

    They go to ``doc._.probabilities``, to the `attribute` of tokens unless the component tags
    entities alone, and to ``ent._.prob`` of entities that the document has. None only removes.
    """
    user_data: dict[Any, Any] = doc.user_data
    earlier = record(doc, component, "probabilities", None, {attribute: None}) or {}
    for entity in earlier.get(ENTITIES, ()):
        user_data.pop(_key_of(doc[entity["start"] : entity["end"]]), None)
    if found is None:
        return
    tokens = found.tokens.tolist()
    written: dict[str, Any] = {TOKENS: tokens, UNITS: found.units}
    if "ent" in targets:
        there = {(ent.start, ent.end, ent.label_) for ent in doc.ents}
        listed = written[ENTITIES] = []
        for entity in found.entities:
            span = doc[entity.start : entity.end]
            if entity[:3] in there:
                user_data[_key_of(span)] = entity.probability
            elif any(token.ent_type for token in span):
                continue  # an earlier entity was kept
            listed.append(entity.as_dict())
    own = {} if list(targets) == ["ent"] else {attribute: tokens}
    record(doc, component, "probabilities", written, own)


def _key_of(span: Span) -> tuple[Any, ...]:
    return "._.", "prob", span.start_char, span.end_char
