"""The base class of components with calibrated probabilities, and calibrating a pipeline."""

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
    correctable_loss,
    cross_fitted,
    fit_correction,
    fit_temperature,
)
from .decoding_pipe import DecodingPipe

__all__ = ["CalibratedPipe", "Fitted", "calibrate_pipeline"]

#: With fewer wrong answers, probabilities near 1 can't be calibrated.
FEWEST_WRONG = 10

#: The key of a component's `cfg` under which its calibrations are saved.
SAVED = "calibration"


class Fitted(NamedTuple):
    """A calibration, and the answers that it was fitted to."""

    #: Fitted to all answers; stored with the component.
    calibration: Calibration
    #: The answers with the probabilities of the model, at temperature 1.
    before: Answers
    #: The answers with probabilities by calibrations that were fitted to other documents, at the
    #: temperature of all. The likely alternatives among them may differ from those before.
    after: Answers


class CalibratedPipe(DecodingPipe):
    """A component whose probabilities are calibrated on held-out data.

    A subclass implements `answers`.
    """

    @property
    def calibration(self) -> dict[str, dict[str, Any]]:
        """The calibration of each kind of answer, in plain types; saved with the component.

        It can be assigned: {} for the uncalibrated probabilities of the model.
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
        # rounded as on disk, where numbers have ten digits
        self.cfg[SAVED] = srsly.json_loads(srsly.json_dumps(checked))

    def check_settings(self) -> None:
        """Raise if the settings that were loaded are invalid."""
        super().check_settings()
        if SAVED in self.cfg:
            self.calibration = self.cfg[SAVED]

    @property
    def annotation(self) -> str:
        """The annotation that examples need to calibrate the component, as errors name it."""
        return "answers"

    def calibration_of(self, kind: str) -> Calibration:
        """The calibration of one kind of answer."""
        return Calibration.from_dict(self.cfg.get(SAVED, {}).get(kind, {}))

    @property
    def temperature(self) -> float:
        """The divisor of scores before they become probabilities, of the first kind."""
        saved = self.cfg.get(SAVED, {})
        return next((float(values["temperature"]) for values in saved.values()), 1.0)

    def loss_at(
        self, examples: Sequence[Example], scores: Sequence[Any], decoded: Any, heat: float
    ) -> float:
        """Return the loss at a temperature, here of the first kind of answers, right or wrong."""
        self.calibration = {"at first": Calibration(heat).as_dict()}
        answers, *_ = self.answers(examples, scores, decoded).values()
        return correctable_loss(answers)

    def answers(
        self, examples: Sequence[Example], scores: Sequence[Any], decoded: Any
    ) -> dict[str, Answers]:
        """Return the decoded answers of each kind, with probabilities by the present calibration.

        The first kind is the one whose loss is `loss_at`.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement answers().")

    def calibrate(self, examples: Iterable[Example]) -> dict[str, Fitted]:
        """Fit the calibration of every kind of answer, and keep it.

        Kinds without answers in the examples keep their calibration. So does the temperature, if
        the first kind, to whose loss it is fitted, is among them.

        Parameters
        ----------
        examples
            Held-out examples; their predicted documents have what earlier components wrote.

        Returns
        -------
        For each kind with answers the calibration, and the answers by cross-validation. Empty, and
        nothing is changed, if no example has the annotation that the component predicts.

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
            else:  # the loss would be the same at all temperatures
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
    """Warn that probabilities are unreliable because there were too few wrong answers."""
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
    """Calibrate the components of a pipeline, each on the annotation by those before it.

    The examples are held out from training. Without names, all components that have probabilities
    are calibrated. Returns what was fitted for each component and kind of answer.

    Raises
    ------
    ProblemError
        If a name is unknown, the component has no calibration, or the examples lack the annotation
        of a named component, or of all.
    """
    pipes = {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, CalibratedPipe)}
    known = list(pipes)
    unknown = [name for name in components if name not in known]
    if unknown or not known:
        raise ProblemError(
            f"components: {', '.join(unknown) or 'the pipeline'} can't be calibrated; those of "
            f"this pipeline that can: {', '.join(known) or 'none'}."
        )
    given = list(examples)
    docs = [example.predicted for example in given]
    fitted = {}
    for name in nlp.pipe_names:
        if name in (components or known):
            pairs = zip(docs, given, strict=True)
            found = [Example(doc, example.reference) for doc, example in pairs]
            calibrations = pipes[name].calibrate(found)
            if calibrations:
                fitted[name] = calibrations
        with nlp.select_pipes(enable=name):
            docs = list(nlp.pipe(docs))
    lacking = [name for name in components or known if name not in fitted]
    if lacking and (components or not fitted):
        kinds = dict.fromkeys(pipes[name].annotation for name in lacking)
        raise ProblemError(f"examples: no annotation of {', '.join(kinds)}.")
    return fitted
