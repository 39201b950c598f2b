"""Alternatives: every other choice, the best answer that has it, and its cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["Change", "Choice", "Alternative", "Ranking", "Reading"]


class Alternative(NamedTuple):
    """Another value of a choice; `reading` is the number of the best answer that has it."""

    value: str
    loss: float
    reading: int


class Choice(NamedTuple):
    """A decision and its alternatives, the cheapest first.

    `margin` is the least cost of another value, where it is known independently of the options.
    """

    place: str
    chosen: str
    options: tuple[Alternative, ...]
    margin: float | None = None


class Change(NamedTuple):
    """A place where another answer differs from the best one."""

    place: str
    value: str
    instead: str


class Reading(NamedTuple):
    """Another answer: its number, its loss, and where it differs."""

    number: int
    loss: float
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Ranking:
    """The choices that several answers leave, and those answers that are the best for one."""

    #: The places where the answers differ.
    choices: tuple[Choice, ...]
    #: The best answer for each option, by its number in the ranking; the best of all is 0.
    readings: tuple[Reading, ...]
    #: How many answers were ranked.
    count: int
    #: The loss of the last of them: more expensive alternatives may not be listed.
    loss: float

    @classmethod
    def of(
        cls,
        scores: Sequence[float],
        answers: Sequence[Mapping[Any, str]],
        name: Callable[[Any], str],
        absent: str = "",
    ) -> Ranking | None:
        """Compare ranked answers, the best first; None where they leave no choice.

        Parameters
        ----------
        scores
            Of each answer.
        answers
            The value at each place; places are sorted.
        name
            Names a place.
        absent
            The value of a place that an answer does not have.

        Examples
        --------
        >>> ranking = Ranking.of([2.0, 1.5], [{0: "DT", 1: "NN"}, {0: "DT", 1: "VB"}], str)
        >>> [(c.chosen, [(o.value, o.loss) for o in c.options]) for c in ranking.choices]
        [('NN', [('VB', 0.5)])]
        """
        losses = [max(scores[0] - score, 0.0) for score in scores]
        places = sorted({place for answer in answers for place in answer})
        first: dict[Any, dict[str, Alternative]] = {place: {} for place in places}
        for number, (answer, loss) in enumerate(zip(answers, losses, strict=True)):
            for place in places:
                value = answer.get(place, absent)
                first[place].setdefault(value, Alternative(value, loss, number))
        choices = []
        for place in places:
            chosen, *others = first[place].values()
            if others:
                choices.append(Choice(name(place), chosen.value, tuple(others)))
        if not choices:
            return None
        shown = {option.reading for choice in choices for option in choice.options}
        best = answers[0]
        readings = tuple(
            Reading(
                number,
                losses[number],
                tuple(
                    Change(name(place), value, instead)
                    for place in places
                    if (value := answers[number].get(place, absent))
                    != (instead := best.get(place, absent))
                ),
            )
            for number in sorted(shown)
        )
        return cls(tuple(choices), readings, len(answers), losses[-1])

    @property
    def closest(self) -> Reading:
        """The cheapest other answer."""
        return min(self.readings, key=lambda reading: reading.loss)
