"""A trained sentence recognizer of spaCy's, with transitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.language import Language
from spacy.pipeline import SentenceRecognizer
from spacy.tokens import Doc
from spacy.training import Example

from ...components import extensions
from ..learning import ChainRules, LearnedChain
from .sample import component_of, learned_chain

if TYPE_CHECKING:
    from ...decoders.chain import ChainModel, ChainSolution

__all__ = ["ExactSenter", "exact_senter_from"]


class ExactSenter(SentenceRecognizer):  # type: ignore[misc]
    """A sentence recognizer whose boundaries are decoded as a chain.

    The first token of a text begins a sentence, and how likely a sentence of one token is
    follows from the texts that the transitions were learned from. The certificate of each text is
    in ``doc._.certificates[name]``.
    """

    def set_chain(self, learned: LearnedChain) -> None:
        """Take transitions, which are saved with the component."""
        parts = {name: getattr(learned, name).tolist() for name in ("transitions", "end")}
        # that a text does not begin within a sentence is known, and JSON knows no infinity
        self.cfg["chain"] = {**parts, "start": float(learned.start[1]), "scale": learned.scale}
        self.__dict__.pop("_chain", None)

    @cached_property
    def _chain(self) -> tuple[ChainModel, float]:
        from ...decoders.chain import ChainModel

        nothing = {"transitions": [[0.0, 0.0]] * 2, "start": 0.0, "end": [0.0] * 2, "scale": 1.0}
        given: Any = self.cfg.get("chain", nothing)
        model = ChainModel(given["transitions"], [-np.inf, given["start"]], given["end"])  # type: ignore[arg-type]
        return model, float(given["scale"])

    def predict(self, docs: Iterable[Doc]) -> list[ChainSolution]:
        """Score and decode a batch."""
        from ...decoders.chain import ForwardDominance

        given = list(docs)
        if not any(len(doc) for doc in given):
            rows, lengths = np.zeros((0, 2)), [0] * len(given)
        else:
            scores = self.model.predict(given)
            rows = np.concatenate([self.model.ops.to_numpy(of_doc) for of_doc in scores])
            lengths = [len(doc) for doc in given]
        chain, scale = self._chain
        return list(ForwardDominance().decode_batch(chain, rows * scale, lengths))

    def set_annotations(self, docs: Iterable[Doc], solutions: Sequence[ChainSolution]) -> None:
        """Write the boundaries and their certificates."""
        given = list(docs)
        super().set_annotations(given, [solution.labels for solution in solutions])
        for doc, solution in zip(given, solutions, strict=True):
            extensions.record_certificates(doc, self.name, [solution.certificate])

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> ExactSenter:
        """Load the component from bytes."""
        super().from_bytes(bytes_data, exclude=tuple(exclude))
        self.__dict__.pop("_chain", None)
        return self

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> ExactSenter:
        """Load the component from a folder."""
        super().from_disk(path, exclude=tuple(exclude))
        self.__dict__.pop("_chain", None)
        return self


def exact_senter_from(
    nlp: Language,
    name: str = "senter",
    examples: Iterable[Example] = (),
    *,
    l2: float = 1.0,
    learn_scale: bool = True,
) -> LearnedChain | None:
    """Put an ``exact_senter`` with the same network in the place of a trained senter.

    Parameters
    ----------
    nlp
        The pipeline, which is changed.
    name
        Of the senter in it, and afterwards of the ``exact_senter``.
    examples
        Texts with sentence boundaries.
    l2, learn_scale
        As for :func:`~spacy_decoders.adapt.learning.learn_chain`.

    Returns
    -------
    What was learned; None without examples.

    Raises
    ------
    ProblemError
        If the component is no trained senter of spaCy's.
    """
    senter = component_of(nlp, name, SentenceRecognizer)
    rules = ChainRules.none(2)._replace(can_start=np.array([False, True]))
    learned = learned_chain(
        nlp, name, examples, _boundaries, rules, l2=l2, learn_scale=learn_scale
    )
    config = nlp.get_pipe_config(name)
    options = {key: config[key] for key in ("model", "overwrite") if key in config}
    exact: Any = nlp.replace_pipe(name, "exact_senter", config=options)
    exact.model.from_bytes(senter.model.to_bytes())
    if learned is not None:
        exact.set_chain(learned)
    return learned


def _boundaries(example: Example) -> list[int]:
    """The labels of an example's tokens: 1 for the first of a sentence, 0 for others."""
    values = example.get_aligned("SENT_START")
    return [-1 if value is None else int(value == 1) for value in values]
