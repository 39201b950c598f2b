"""A model of CRFsuite (first-order Markov CRF with dyad features), read from its binary file.

As a chain, its labels are certified.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...errors import ProblemError

if TYPE_CHECKING:
    from ...decoders.chain import ChainModel, ChainSolutions

__all__ = ["CrfSuiteModel", "EncodedItems", "ModelFile", "attributes_of", "read_model_file"]

#: What stands between the parts of an attribute's name.
SEPARATOR = ":"

Floats = NDArray[np.float64]


class EncodedItems(NamedTuple):
    """The known attributes of all tokens of several sequences, end to end."""

    #: A sparse array, **shape (tokens, attributes)**: how much each attribute counts.
    attributes: Any
    #: **Shape (sequences,)**: how many tokens each sequence has.
    lengths: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CrfSuiteModel:
    """A model of CRFsuite's, read from its file; CRFsuite itself is not needed.

    Scores are added up in double precision and decoded in single precision: labels are those of
    ``pycrfsuite.Tagger.tag``, but where two labellings are worth the same to seven digits.

    What else can be asked of a chain, such as margins and rankings, the functions of
    :mod:`spacy_decoders.decoders.chain` answer of its `chain_model` and `emissions`.

    Parameters
    ----------
    file
        What the model file says.

    Examples
    --------
    >>> from spacy_decoders.adapt.crfsuite import CrfSuiteModel
    >>> model = CrfSuiteModel.open("model.crfsuite")  # doctest: +SKIP
    >>> model.tag([{"word": "Main"}, {"word": "Street"}])  # doctest: +SKIP
    ['StreetName', 'StreetNamePostType']
    """

    file: ModelFile

    @classmethod
    def open(cls, source: str | PathLike[str] | bytes | Any) -> CrfSuiteModel:
        """Read a model: a file by its path, its content, or a fitted ``sklearn_crfsuite.CRF``.

        Raises `ProblemError` if it is no model of CRFsuite's.
        """
        if not isinstance(source, (str, bytes, PathLike)):
            file = getattr(source, "modelfile", None)
            if file is None:
                raise ProblemError(
                    "source: expected a path, bytes or a fitted sklearn_crfsuite.CRF, got "
                    f"{type(source).__name__}."
                )
            source = file.name
        return cls(read_model_file(source))

    # python-crfsuite has a method of this name
    def labels(self) -> list[str]:
        """Return the labels in the order of their numbers."""
        return list(self.file.labels)

    def encode(self, sequences: Iterable[Any]) -> EncodedItems:
        """Look up the attributes of sequences, once for all that is asked of them.

        Each sequence is a list of tokens as :func:`attributes_of` takes them, or a
        ``pycrfsuite.ItemSequence``. Attributes that the model does not know are left out, as by
        CRFsuite.
        """
        from scipy.sparse import csr_array

        numbers: list[int] = []
        values: list[float] = []
        ends, lengths = [0], []
        find = self.file.attributes.get
        for sequence in sequences:
            items = sequence.items() if hasattr(sequence, "items") else sequence
            before = len(ends)
            for item in items:
                for attribute, value in attributes_of(item):
                    number = find(attribute)
                    if number is not None:
                        numbers.append(number)
                        values.append(value)
                ends.append(len(numbers))
            lengths.append(len(ends) - before)
        shape = len(ends) - 1, len(self.file.attributes)
        attributes = csr_array((np.array(values, dtype=np.float64), numbers, ends), shape=shape)
        return EncodedItems(attributes, np.array(lengths, dtype=np.int64))

    def tag(self, sequence: Any) -> list[str]:
        """Return the best labels of one sequence, as ``pycrfsuite.Tagger.tag`` does."""
        found = self.decode(self.encode([sequence])).labels
        return [self.file.labels[label] for label in found.tolist()]

    def emissions(self, encoded: EncodedItems) -> Floats:
        """Return what each label of each token is worth: **shape (tokens, L)**, float64."""
        emissions: Floats = (encoded.attributes @ self.file.weights).toarray()
        return emissions

    def decode(self, encoded: EncodedItems) -> ChainSolutions:
        """Find and certify the best labelling of each sequence."""
        from ...decoders.chain import ForwardDominance

        found = ForwardDominance().decode_batch(
            self.chain_model, self.emissions(encoded), encoded.lengths
        )
        return cast("ChainSolutions", found)

    @cached_property
    def chain_model(self) -> ChainModel:
        """The transitions, in single precision."""
        from ...decoders.chain import ChainModel

        return ChainModel(self.file.transitions.astype(np.float32))


def attributes_of(item: Any) -> Iterator[tuple[str, float]]:
    """Yield the attributes of one token and their values, as ``python-crfsuite`` reads them.

    A token is a list of attributes; or a dict from attributes to numbers, to bools, to a string
    (``a`` with ``"b"`` is the attribute ``a:b``), to several strings, or to a dict of the like.
    Raises `ProblemError` if a value is something else.

    Examples
    --------
    >>> list(attributes_of({"word": "Main", "next": {"digits": True}, "length": 4}))
    [('word:Main', 1.0), ('next:digits', 1.0), ('length', 4.0)]
    """
    if not isinstance(item, Mapping):
        for name in item:
            yield _text(name), 1.0
        return
    for key, value in item.items():
        name = _text(key)
        if isinstance(value, (str, bytes)):
            yield name + SEPARATOR + _text(value), 1.0
        elif isinstance(value, (bool, int, float, np.number, np.bool_)):
            yield name, float(value)
        elif isinstance(value, (Mapping, Sequence, set, frozenset)):
            for inner, amount in attributes_of(value):
                yield name + SEPARATOR + inner, amount
        else:
            raise ProblemError(
                f"items: the attribute {name!r} has a value of type {type(value).__name__}; "
                "expected a number, a string, several strings or a dict."
            )


def _text(name: Any) -> str:
    return name.decode("utf8") if isinstance(name, bytes) else str(name)


# --- the file -------------------------------------------------------------------------

HEADER = struct.Struct("<4sI4sIIIIIIIII")
CHUNK = struct.Struct("<4sII")
DATABASE = struct.Struct("<4sIIIII")
FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])

#: What stands in every database, so that a reader knows the order of bytes.
BYTE_ORDER = 0x62445371
VERSION = 100
STATE, TRANSITION = 0, 1


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a model file says."""

    #: The labels in the order of their numbers.
    labels: tuple[str, ...]
    #: The number of each attribute.
    attributes: dict[str, int]
    #: **Shape (L, L)**, float64: from-row to column; 0 where there is no feature.
    transitions: NDArray[np.float64]
    #: A sparse array, **shape (attributes, L)**, float64: what each label gains by an attribute.
    weights: Any


def read_model_file(source: str | PathLike[str] | bytes) -> ModelFile:
    """Read a model file, and check all of it that is used.

    A file has a header; the list of features, each with its weight; labels and attributes, as
    constant databases (CQDB) from strings to numbers, which also list their strings in order; and
    two lists of references to features, which are not needed here. All numbers are little-endian.
    ``pycrfsuite.Tagger.info()`` is no way to read it: it prints weights to six digits, and fails
    on attributes with line breaks, as the model of usaddress has them.

    Parameters
    ----------
    source
        Its path, or its content.

    Raises
    ------
    ProblemError
        If it is no model of CRFsuite's, is damaged, or of a kind that is not known.
    OSError
        If it can't be read.

    References
    ----------
    Okazaki 2007, *CRFsuite: a fast implementation of Conditional Random Fields*.
    """
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    try:
        return _parsed(content)
    except (ValueError, struct.error) as error:
        raise ProblemError(
            "model file: it is no first-order model of CRFsuite 0.12 (lCRF, FOMC, version "
            f"{VERSION}), or damaged: {error}."
        ) from error


def _parsed(content: bytes) -> ModelFile:
    """Read the content of a file; what is damaged raises, as numpy, struct or the checks say."""
    from scipy.sparse import csr_array

    magic, size, kind, version, _, label_count, attribute_count, *offsets = HEADER.unpack_from(
        content
    )
    _check(magic == b"lCRF" and kind == b"FOMC" and version == VERSION, "another header")
    _check(size == len(content), f"it should have {size} bytes and has {len(content)}")
    feature_offset, label_offset, attribute_offset = offsets[:3]
    labels = _strings(content[label_offset:], label_count)
    attributes = _strings(content[attribute_offset:], attribute_count)
    chunk, _, count = CHUNK.unpack_from(content, feature_offset)
    _check(chunk == b"FEAT", "no features")
    features = np.frombuffer(content, FEATURE, count, feature_offset + CHUNK.size)
    states = features[features["kind"] == STATE]
    links = features[features["kind"] == TRANSITION]
    _check(len(states) + len(links) == count, "a feature is of neither a state nor a transition")
    _check(bool(np.isfinite(features["weight"]).all()), "a weight is no finite number")
    for numbers, names in (
        (states["source"], attributes),
        (states["target"], labels),
        (links["source"], labels),
        (links["target"], labels),
    ):
        _check(int(numbers.max(initial=0)) < max(1, len(names)), "a feature has no such name")
    transitions = np.zeros((len(labels), len(labels)))
    transitions[links["source"], links["target"]] = links["weight"]
    shape = len(attributes), len(labels)
    return ModelFile(
        tuple(labels),
        {attribute: number for number, attribute in enumerate(attributes)},
        read_only(transitions),
        csr_array((states["weight"], (states["source"], states["target"])), shape=shape),
    )


def _strings(content: bytes, count: int) -> list[str]:
    """Read the database of strings that content begins with, in the order of their numbers."""
    magic, size, _, order, listed, list_offset = DATABASE.unpack_from(content)
    _check(magic == b"CQDB" and order == BYTE_ORDER and listed == count, "no list of names")
    _check(size <= len(content), "the names are cut off")
    content = content[:size]
    strings = []
    for number, offset in enumerate(np.frombuffer(content, "<u4", count, list_offset).tolist()):
        own, length = struct.unpack_from("<II", content, offset)
        string = content[offset + 8 : offset + 8 + length]
        _check(own == number and len(string) == length, "a name is cut off, or not in order")
        _check(string.endswith(b"\0"), "a name without its end")
        strings.append(string[:-1].decode("utf8"))
    _check(len(set(strings)) == count, "a name is there twice")
    return strings


def _check(holds: bool, fault: str) -> None:
    if not holds:
        raise ValueError(fault)
