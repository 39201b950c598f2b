"""CRFsuite models (first-order Markov CRF with dyad features), read from their binary files."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ...arrays import Floats, Integers, checked_list, checked_path, checked_type, read_only
from ...errors import ProblemError

if TYPE_CHECKING:
    from ...decoders.chain import ChainModel, ChainSolutions

__all__ = ["CrfSuiteModel", "EncodedItems", "ModelFile", "attributes_of", "read_model_file"]

#: Separates the parts of an attribute's name.
SEPARATOR = ":"


class EncodedItems(NamedTuple):
    """The known attributes of the tokens of several sequences, concatenated."""

    #: A sparse array, **shape (tokens, attributes)**: the values of the attributes.
    attributes: Any
    #: **Shape (sequences,)**: the number of tokens of each sequence.
    lengths: Integers


@dataclass(frozen=True, eq=False)
class CrfSuiteModel:
    """A CRFsuite model, read from its file; CRFsuite itself is not needed.

    Scores are summed in double precision and decoded in single precision: labels are those of
    ``pycrfsuite.Tagger.tag``, unless the scores of two labellings agree to seven digits. The
    functions of :mod:`spacy_decoders.decoders.chain` take its `chain_model` and `emissions`, for
    margins, rankings and more.

    Parameters
    ----------
    file
        The parsed model file.

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
        """Read a model from a path, a file's content, or a fitted ``sklearn_crfsuite.CRF``.

        Raises `ProblemError` if it is no CRFsuite model.
        """
        file = getattr(source, "modelfile", None)
        return cls(read_model_file(source if file is None else file.name))

    # python-crfsuite has a method of this name
    def labels(self) -> list[str]:
        """Return the labels in the order of their numbers."""
        return list(self.file.labels)

    def encode(self, sequences: Iterable[Any]) -> EncodedItems:
        """Look up the attributes of sequences, once for all further calls.

        Each sequence is a list of tokens for :func:`attributes_of`, or a
        ``pycrfsuite.ItemSequence``. As in CRFsuite, unknown attributes are left out.
        """
        from scipy.sparse import csr_array

        numbers: list[int] = []
        values: list[float] = []
        ends, lengths = [0], []
        find = self.file.attributes.get
        for sequence in checked_list("sequences", sequences, "sequences of tokens"):
            is_theirs = hasattr(sequence, "items") and not isinstance(sequence, Mapping)
            items = sequence.items() if is_theirs else sequence
            before = len(ends)
            for item in checked_list("sequences", items, "tokens for each"):
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
        """Return the score of each label of each token: **shape (tokens, L)**, float64."""
        checked_type("encoded", encoded, EncodedItems, "encode(sequences)")
        return (encoded.attributes @ self.file.weights).toarray()

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

    A token is a list of attributes, or a dict from attributes to numbers, bools, a string
    (``a`` with ``"b"`` is the attribute ``a:b``), several strings, or another such dict. Raises
    `ProblemError` for other values.

    Examples
    --------
    >>> list(attributes_of({"word": "Main", "next": {"digits": True}, "length": 4}))
    [('word:Main', 1.0), ('next:digits', 1.0), ('length', 4.0)]
    """
    if not isinstance(item, Iterable):
        raise ProblemError(f"items: expected a list of attributes, or a dict; got {item!r}.")
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
    return name.decode("utf8", "surrogateescape") if isinstance(name, bytes) else str(name)


# --- the file -------------------------------------------------------------------------

HEADER = struct.Struct("<4sI4sIIIIIIIII")
CHUNK = struct.Struct("<4sII")
DATABASE = struct.Struct("<4sIIIII")
FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])

#: A number in every database, which tells the order of bytes.
BYTE_ORDER = 0x62445371
VERSION = 100
STATE, TRANSITION = 0, 1


@dataclass(frozen=True, eq=False)
class ModelFile:
    """The content of a model file."""

    #: The labels in the order of their numbers.
    labels: tuple[str, ...]
    #: The number of each attribute.
    attributes: dict[str, int]
    #: **Shape (L, L)**, float64: from-row to column; 0 without a feature.
    transitions: Floats
    #: A sparse array, **shape (attributes, L)**, float64: the weight of each attribute and label.
    weights: Any


def read_model_file(source: str | PathLike[str] | bytes) -> ModelFile:
    """Read a model file, and check all of it that is used.

    A file has a header; the list of features, each with its weight; labels and attributes, as
    constant databases (CQDB) from strings to numbers, which also list their strings in order; and
    two lists of references to features, which are not needed here. All numbers are little-endian.
    ``pycrfsuite.Tagger.info()`` can't replace this: it prints weights to six digits, and fails on
    attributes with line breaks, which the model of usaddress has.

    Parameters
    ----------
    source
        Its path, or its content.

    Raises
    ------
    ProblemError
        If it is no CRFsuite model, of an unknown kind, or damaged.
    OSError
        If it can't be read.

    References
    ----------
    Okazaki 2007, *CRFsuite: a fast implementation of Conditional Random Fields*.
    """
    content = source if isinstance(source, bytes) else checked_path("source", source).read_bytes()
    try:
        return _parsed(content)
    except (ValueError, struct.error) as error:
        raise ProblemError(
            "model file: it is damaged, or not a first-order model of CRFsuite 0.12 (lCRF, FOMC, "
            f"version {VERSION}): {error}."
        ) from error


def _parsed(content: bytes) -> ModelFile:
    """Parse the content of a file; numpy, struct or the checks raise if it is damaged."""
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
    _check(len(states) + len(links) == count, "a feature is neither of a state nor a transition")
    _check(bool(np.isfinite(features["weight"]).all()), "a weight is not finite")
    for numbers, names in (
        (states["source"], attributes),
        (states["target"], labels),
        (links["source"], labels),
        (links["target"], labels),
    ):
        _check(int(numbers.max(initial=0)) < max(1, len(names)), "a feature has an unknown name")
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
    """Read the database at the beginning of `content`: strings in the order of their numbers."""
    magic, size, _, order, listed, list_offset = DATABASE.unpack_from(content)
    _check(magic == b"CQDB" and order == BYTE_ORDER and listed == count, "no list of names")
    _check(size <= len(content), "the list of names is truncated")
    content = content[:size]
    strings = []
    for number, offset in enumerate(np.frombuffer(content, "<u4", count, list_offset).tolist()):
        own, length = struct.unpack_from("<II", content, offset)
        string = content[offset + 8 : offset + 8 + length]
        _check(own == number and len(string) == length, "a name is truncated, or out of order")
        _check(string.endswith(b"\0"), "a name without its end")
        strings.append(string[:-1].decode("utf8"))
    _check(len(set(strings)) == count, "a name occurs twice")
    return strings


def _check(holds: bool, fault: str) -> None:
    if not holds:
        raise ValueError(fault)
