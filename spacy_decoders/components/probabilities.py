"""What components with calibrated probabilities have in common."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import srsly
from spacy.language import Language
from spacy.training import Example, validate_examples

from ..errors import ProblemError
from ..models.calibration import (
    Answers,
    Calibration,
    cross_fitted,
    fit_correction,
    fit_temperature,
)
from .decoding_pipe import DecodingPipe

__all__ = ["CalibratedPipe", "Fitted", "calibrate_pipeline"]

#: With fewer wrong answers there is hardly a difference between likely and certain.
FEWEST_WRONG = 10

#: Key of a component's `cfg` under which its calibrations are saved.
SAVED = "calibration"


class Fitted(NamedTuple):
    """A calibration, and the answers that it was fitted to."""

    #: What is stored with the component.
    calibration: Calibration
    #: The answers with the probabilities of the model as it is, at temperature 1.
    before: Answers
    #: The answers with the probability of each by a calibration that was fitted to other
    #: documents, at the temperature of all. What counts as a likely alternative may differ.
    after: Answers


class CalibratedPipe(DecodingPipe):
    """A component whose probabilities are calibrated on held-out data.

    A subclass implements `loss_at` and `answers`.
    """

    @property
    def calibration(self) -> dict[str, dict[str, Any]]:
        """The calibration of each kind of answer, in plain types; saved with the component.

        Assigning replaces it: {} for the probabilities of the model as it is.
        """
        saved: Mapping[str, Mapping[str, Any]] = self.cfg.get(SAVED, {})
        return {kind: dict(values) for kind, values in saved.items()}

    @calibration.setter
    def calibration(self, calibration: Mapping[str, Mapping[str, Any]]) -> None:
        if not isinstance(calibration, Mapping):
            raise ProblemError(f"calibration: expected a dict; got {calibration!r}.")
        checked = {
            kind: Calibration.from_dict(values).as_dict() for kind, values in calibration.items()
        }
        # as it will be read again: on disk, numbers have ten digits
        self.cfg[SAVED] = srsly.json_loads(srsly.json_dumps(checked))

    def check_settings(self) -> None:
        """Raise if what was loaded can't be a component's settings."""
        super().check_settings()
        if SAVED in self.cfg:
            self.calibration = self.cfg[SAVED]

    @property
    def annotation(self) -> str:
        """What examples must be annotated with to calibrate the component, as errors name it."""
        return "answers"

    def calibration_of(self, kind: str) -> Calibration:
        """The calibration of one kind of answer."""
        return Calibration.from_dict(self.cfg.get(SAVED, {}).get(kind, {}))

    @property
    def temperature(self) -> float:
        """What scores are divided by before they become probabilities, of the first kind."""
        saved = self.cfg.get(SAVED, {})
        return next((float(values["temperature"]) for values in saved.values()), 1.0)

    def loss_at(
        self, examples: Sequence[Example], scores: Sequence[Any], decoded: Any, heat: float
    ) -> float:
        """Return the loss, such as -log probability of what is right, at a temperature."""
        raise NotImplementedError(f"{type(self).__name__} must implement loss_at().")

    def answers(
        self, examples: Sequence[Example], scores: Sequence[Any], decoded: Any
    ) -> dict[str, Answers]:
        """Return what was decoded as answers of each kind, by the present calibration.

        The first kind is the one that `loss_at` looks at.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement answers().")

    def calibrate(self, examples: Iterable[Example]) -> dict[str, Fitted]:
        """Fit the calibration of every kind of answer, and keep it.

        Kinds without answers in the examples keep the calibration that they had. So does the
        temperature, if the first kind, whose loss it is fitted to, is among them.

        Parameters
        ----------
        examples
            Held-out examples; their predicted documents have what earlier components wrote.

        Returns
        -------
        For each kind that has answers the calibration, and how it does on other documents. Empty,
        and the calibration is as it was, if no example is annotated with what the component
        predicts.

        Raises
        ------
        ProblemError
            If no example has a word.
        """
        found = list(examples)
        validate_examples(found, "calibrate")
        given = [example for example in found if len(example.predicted)]
        if not given:
            raise ProblemError(f"examples: {self.name} needs some with words to be calibrated.")
        docs = [example.predicted for example in given]
        scores = self.predict(docs)
        decoded = self.decode_together(docs, scores)  # no calibration changes it
        before, self.calibration = self.calibration, {}
        try:
            plain = self.answers(given, scores, decoded)
            if not any(len(answers.right) for answers in plain.values()):
                return {}
            if len(next(iter(plain.values())).right):
                heat = fit_temperature(lambda heat: self.loss_at(given, scores, decoded, heat))
            else:  # the loss would be the same at any
                first = before.get(next(iter(plain)), {})
                heat = float(first.get("temperature", 1.0))
            self.calibration = dict.fromkeys(plain, Calibration(heat).as_dict())
            heated = self.answers(given, scores, decoded)
        finally:
            self.calibration = before
        fitted = {
            kind: Fitted(
                fit_correction(answers, temperature=heat),
                plain[kind],
                cross_fitted(answers, temperature=heat),
            )
            for kind, answers in heated.items()
            if len(answers.right)
        }
        merged = before | {kind: found.calibration.as_dict() for kind, found in fitted.items()}
        # `temperature` is that of the first
        self.calibration = {kind: merged[kind] for kind in (*before, *plain) if kind in merged}
        _warn_of_few(self.name, fitted)
        return fitted


def _warn_of_few(name: str, fitted: Mapping[str, Fitted]) -> None:
    """Say that probabilities are not to be relied on for want of wrong answers."""
    kind, found = next(iter(fitted.items()))
    right = found.after.right
    wrong = int((~right).sum())
    if wrong < FEWEST_WRONG:
        warnings.warn(
            f"{name}: calibrated by {wrong} wrong answers of {len(right)} ({kind}): too few, so "
            "that probabilities may come out as certain. Give more held-out documents.",
            UserWarning,
            stacklevel=3,
        )


def calibrate_pipeline(
    nlp: Language, examples: Iterable[Example], *, components: Sequence[str] = ()
) -> dict[str, dict[str, Fitted]]:
    """Calibrate the components of a pipeline, each on what the ones before it wrote.

    Returns for each component and each kind of answer what was fitted, to held-out examples that
    were not seen in training. Without names all components are calibrated that have probabilities.

    Raises
    ------
    ProblemError
        If a name is unknown, the component has no calibration, or there is nothing to calibrate:
        the examples lack the annotation of a component that was named, or of all.
    """
    known = [name for name, pipe in nlp.pipeline if hasattr(pipe, "calibrate")]
    unknown = [name for name in components if name not in known]
    if unknown or not known:
        raise ProblemError(
            f"components: {', '.join(unknown) or 'the pipeline'} can't be calibrated; those of "
            f"this pipeline that can: {', '.join(known) or 'none'}."
        )
    given = list(examples)
    docs = [example.predicted for example in given]
    fitted = {}
    for name, pipe in nlp.pipeline:
        if name in (components or known):
            pairs = zip(docs, given, strict=True)
            found = [Example(doc, example.reference) for doc, example in pairs]
            calibrations = pipe.calibrate(found)  # type: ignore[attr-defined]
            if calibrations:
                fitted[name] = calibrations
        with nlp.select_pipes(enable=name):
            docs = list(nlp.pipe(docs))
    lacking = [name for name in components or known if name not in fitted]
    if lacking and (components or not fitted):
        kinds = dict.fromkeys(nlp.get_pipe(name).annotation for name in lacking)  # type: ignore[attr-defined]
        raise ProblemError(f"examples: no annotation of {', '.join(kinds)}.")
    return fitted
