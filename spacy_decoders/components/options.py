"""Options of components: each stated once, checked wherever it is set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from ..errors import ProblemError

__all__ = ["Option", "WithOptions"]

#: Key of a component's `cfg` under which options are saved that differ from its config.
SAVED = "changed_options"


class Option:
    """A config option as an attribute of its component.

    Assigning checks the value, and takes effect on the next document.

    Parameters
    ----------
    check
        Takes the option's name and a value; returns what to store, or raises
        ``ProblemError``.
    fixed
        Why the option can't be changed once the component is made; None if it can.
    saved
        Whether a changed value is saved with the component: one of plain types, that is.

    Examples
    --------
    >>> from .option_checks import flag, whole
    >>> class Pipe(WithOptions):
    ...     name, cfg = "pipe", {}
    ...     margins = Option(flag)
    ...     k_best = Option(whole(1))
    >>> pipe = Pipe()
    >>> pipe.configure(margins=False, k_best=1)
    >>> pipe.k_best = 0
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: k_best: expected a whole number from 1 on; got 0.
    >>> pipe.margin = True
    Traceback (most recent call last):
    AttributeError: Pipe has no attribute 'margin'; did you mean 'margins'?
    """

    def __init__(
        self,
        check: Callable[[str, Any], Any],
        *,
        fixed: str | None = None,
        saved: bool = True,
    ) -> None:
        self.check = check
        self.fixed = fixed
        self.saved = saved

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, pipe: WithOptions | None, owner: type | None = None) -> Any:
        if pipe is None:
            return self
        return pipe._options[self.name]

    def __set__(self, pipe: WithOptions, value: Any) -> None:
        pipe.configure(**{self.name: value})


class WithOptions:
    """What a component with options is: every attribute that may be assigned is known.

    A subclass with public attributes of its own declares them in the class.
    """

    name: str
    cfg: dict[str, Any]
    _options: Mapping[str, Any] = {}
    _configured: Mapping[str, Any] = {}

    def configure(self, **values: Any) -> None:
        """Set several options at once, all or none.

        Raises
        ------
        ProblemError
            If a value, or what the options are together, is not allowed; all stay as they
            were.
        AttributeError
            If there is no such option.
        """
        checked = {name: self._checked(name, value) for name, value in values.items()}
        options = {**self._options, **checked}
        self.check_options(options)
        self._options = options
        if not self._configured:
            self._configured = options
        self._note_changes()

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are at odds with each other or with the model."""

    def restore_options(self) -> None:
        """Set the options that were saved as changed, unless the config has changed since."""
        saved = self.cfg.get(SAVED, {})
        self.configure(
            **{
                name: changed
                for name, (configured, changed) in saved.items()
                if self._checked(name, configured) == self._configured[name]
            }
        )

    def unsaved_changes(self) -> list[str]:
        """Options that were changed and that a file of the component has no place for."""
        return [name for name in self._changed() if not getattr(type(self), name).saved]

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(self._unknown("attribute", name))
        super().__setattr__(name, value)

    def _checked(self, name: str, value: Any) -> Any:
        option = getattr(type(self), name, None)
        if not isinstance(option, Option):
            raise AttributeError(self._unknown("option", name))
        checked = option.check(name, value)
        if option.fixed and checked != self._options.get(name, checked):
            raise ProblemError(f"{name}: {option.fixed}")
        return checked

    def _note_changes(self) -> None:
        """Keep in `cfg`, which is saved, what differs from the config: both values."""
        self.cfg.pop(SAVED, None)
        saved = [name for name in self._changed() if getattr(type(self), name).saved]
        if saved:
            self.cfg[SAVED] = {n: [self._configured[n], self._options[n]] for n in saved}

    def _changed(self) -> list[str]:
        before = self._configured
        return [
            name
            for name, value in self._options.items()
            # a user's own object need not be comparable
            if value is not before[name] and value != before[name]
        ]

    def _unknown(self, kind: str, name: str) -> str:
        known = [known for known in dir(type(self)) if not known.startswith("_")]
        near = get_close_matches(name, [*self._options, *known], n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"options: {', '.join(self._options)}."
        return f"{type(self).__name__} has no {kind} {name!r}; {hint}"
