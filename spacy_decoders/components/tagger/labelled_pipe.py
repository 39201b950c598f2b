"""The labels of ``exact_tagger``, and what they mean."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from ...errors import ProblemError
from ...models.saved import damaged
from ...models.tagger.scorer import ChainScores
from ..constraints.places import WithConstraints
from ..factories.exact_tagger import TaggerOptions, Target
from ..probabilities import CalibratedPipe
from .label_space import LabelSpace

__all__ = ["LabelledPipe"]


class LabelledPipe(WithConstraints, TaggerOptions, CalibratedPipe):
    """A component with labels, which are known before its model is initialised."""

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], ChainScores],
        name: str = "exact_tagger",
        **options: Any,
    ) -> None:
        super().__init__(vocab, model, name, cfg={"labels": []}, **options)
        # the chain model of the weights when they were last seen
        self._chain: Any = None

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """What is tagged: one target, or several jointly."""
        return (self.target,) if isinstance(self.target, str) else tuple(self.target)

    @cached_property
    def kind(self) -> str:
        """What attributes of tokens begin with: ``tag`` for ``tag_prob`` and ``tag_margin``."""
        return next(kind for kind in ("tag", "morph", "pos", "ent") if kind in self.targets)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels; of several targets, their values joined by a blank."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> list[str]:
        """What ``spacy init labels`` saves."""
        return list(self.cfg["labels"])

    @cached_property
    def space(self) -> LabelSpace:
        """What the labels mean."""
        return LabelSpace(self.vocab, self.targets, self.cfg["labels"])

    def add_label(self, label: str) -> int:
        """Add a label before the model is initialised; returns 0 if it is there already."""
        if not isinstance(label, str):
            raise ProblemError(f"label: expected a string, got {label!r}.")
        if label in self.space.index:
            return 0
        if self.model.get_ref("output_layer").has_dim("nO"):
            raise ProblemError(
                f"label: a model of {len(self.labels)} labels can't learn {label!r} as well; "
                "train a new component on examples of all labels."
            )
        # raises if the label does not fit the targets
        _ = LabelSpace(self.vocab, self.targets, [label]).values
        self.cfg["labels"].append(label)
        self._forget()
        return 1

    def check_settings(self) -> None:
        """Raise if what was loaded can't be a component's settings."""
        super().check_settings()
        outputs = self.model.get_ref("output_layer").maybe_get_dim("nO")
        if outputs is not None and outputs != len(self.labels):
            raise damaged("cfg, labels", f"{len(self.labels)} for a model of {outputs}")
        self._forget()
        self._describe_labels()

    def _describe_labels(self) -> None:
        """Tell the model what the labels are made of, where it asks."""
        describe = self.model.attrs.get("describe_labels")
        if describe is not None:
            describe(self.model, self.space.parts)

    def _forget(self) -> None:
        """Drop what was derived from labels and weights."""
        self.__dict__.pop("space", None)
        self._chain = None
