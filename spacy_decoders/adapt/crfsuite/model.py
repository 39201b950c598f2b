"""A model of CRFsuite as a chain, whose labels are certified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from .model_file import ModelFile, read_model_file

if TYPE_CHECKING:
    from ...decoders.chain import ChainModel, ChainSolutions

__all__ = ["CrfSuiteModel", "EncodedItems", "attributes_of"]

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
