"""Options of components, each declared once, with its type, default and check.

A component's factory signature and default config are derived from its class of options, from
which the component inherits a validated attribute for each.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from inspect import get_annotations
from typing import Any, ClassVar, NamedTuple

import srsly

from ..errors import ProblemError
from .option_checks import check_of

__all__ = ["Option", "WithOptions", "option"]

#: The key of a component's `cfg` under which options are saved that differ from its config, or
#: contain dollar signs, which every save of a config doubles.
SAVED = "changed_options"


class Option(NamedTuple):
    """The declaration of an option, in the body of a class of options."""

    #: The default in the config; a dict that names a registered function stands for its result.
    default: Any
    #: A check instead of that of the annotated type: it takes the option's name and a value, and
    #: returns what to store, or raises ``ProblemError``.
    check: Any = None
    #: Why the option can't be changed once the component is made; None if it can.
    fixed: str | None = None


#: Declares an attribute of whatever type it is annotated with.
option: Any = Option


class WithOptions:
    """A component with options, to which only declared attributes can be assigned.

    An assigned option is checked, and takes effect on the next document. A subclass declares its
    other public attributes in the class.

    Examples
    --------
    >>> class PipeOptions(WithOptions):
    ...     margins: bool = option(False)
    ...     k_best: int = option(1)
    >>> class Pipe(PipeOptions):
    ...     name, cfg = "pipe", {}
    >>> pipe = Pipe()
    >>> pipe.configure(**Pipe.option_defaults())
    >>> pipe.k_best = "two"
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: k_best: input should be a valid integer; got 'two'.
    >>> pipe.margin = True
    Traceback (most recent call last):
    AttributeError: Pipe has no attribute 'margin'; did you mean 'margins'?
    """

    #: The declared options, in their order.
    _declared: ClassVar[Mapping[str, Option]] = {}
    name: str
    cfg: dict[str, Any]
    _configured: Mapping[str, Any] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        types = get_annotations(cls, eval_str=True)
        own = {
            name: given._replace(check=given.check or check_of(types[name]))
            for name, given in vars(cls).items()
            if isinstance(given, Option)
        }
        cls._declared = {**cls._declared, **own}

    @classmethod
    def option_defaults(cls) -> dict[str, Any]:
        """The default of each option, as a config gives it."""
        return {name: declared.default for name, declared in cls._declared.items()}

    def configure(self, **values: Any) -> None:
        """Set several options at once, all or none.

        Raises
        ------
        ProblemError
            If a value, or a combination of options, is not allowed; nothing is changed then.
        AttributeError
            If there is no such option.
        """
        checked = {name: self._checked(name, value) for name, value in values.items()}
        options = {**self._options, **checked}
        self.check_options(options)
        # instance attributes, which are accessed without a descriptor's call
        self.__dict__.update(options)
        self._configured = self._configured or options
        self._note_changes()

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise if options contradict each other or the model."""

    def restore_options(self) -> None:
        """Set the options that were saved as changed, unless the config has changed since."""
        saved = self.cfg.get(SAVED, {})
        self.configure(
            **{
                name: changed
                for name, (configured, changed) in saved.items()
                if _are_alike(self._checked(name, configured), self._configured[name])
            }
        )

    def changed_options(self) -> dict[str, Any]:
        """The options whose values are not those of the config."""
        return {
            name: value
            for name, value in self._options.items()
            # a user's object need not be comparable
            if value is not self._configured[name] and value != self._configured[name]
        }

    def unsaved_changes(self, *, on_disk: bool) -> dict[str, str]:
        """Options that were changed to objects, which can't be saved, and how to keep each."""
        changed = self.changed_options()
        return {name: "set it in the config" for name in changed if not _is_plain(changed[name])}

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._declared:
            self.configure(**{name: value})
        elif not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(self._unknown("attribute", name))
        else:
            super().__setattr__(name, value)

    @property
    def _options(self) -> dict[str, Any]:
        """The options that are set, by name."""
        own = self.__dict__
        return {name: own[name] for name in self._declared if name in own}

    def _checked(self, name: str, value: Any) -> Any:
        declared = self._declared.get(name)
        if declared is None:
            raise AttributeError(self._unknown("option", name))
        checked = declared.check(name, value)
        if _is_plain(checked):
            try:
                srsly.json_dumps(checked)
            except OverflowError:  # it could not be saved
                raise ProblemError(
                    f"{name}: expected numbers of up to 64 bits; got {checked!r}."
                ) from None
        if declared.fixed and checked != self.__dict__.get(name, checked):
            raise ProblemError(f"{name}: {declared.fixed}")
        return checked

    def _note_changes(self) -> None:
        """Store options that a config does not keep, with both values, in the saved `cfg`."""
        self.cfg.pop(SAVED, None)
        changed = self.changed_options()
        saved = {
            name: [self._configured[name], value]
            for name, value in self._options.items()
            if _is_plain(value) and (name in changed or "$" in repr(value))
        }
        if saved:
            self.cfg[SAVED] = saved

    def _unknown(self, kind: str, name: str) -> str:
        known = [known for known in dir(type(self)) if not known.startswith("_")]
        near = get_close_matches(name, [*self._declared, *known], n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"options: {', '.join(self._declared)}."
        return f"{type(self).__name__} has no {kind} {name!r}; {hint}"


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, float, int, str, tuple, dict))


def _are_alike(saved: Any, configured: Any) -> bool:
    """Whether a config still has the value that it had when it was saved.

    Each save of a config doubles dollar signs, and joins neighbouring strings that have some.
    """

    def plain(value: Any) -> str:
        return re.sub(r"[$\s'\",()\[\]]", "", repr(value))

    return bool(saved == configured or ("$" in repr(saved) and plain(saved) == plain(configured)))
