"""``python -m spacy decoders ...``: a command's module is imported when it runs.

spaCy imports this module for each of its commands, so that it must be light.
"""

from importlib import import_module
from typing import Any, ClassVar

import typer
from spacy.cli._util import app as spacy_app
from typer.core import TyperGroup
from typer.main import get_command

# so that `spacy find-function` and other commands know `@decoders`
from .. import registry  # noqa: F401
from ..errors import CONTROLS, DecodersError

__all__ = ["app"]


class LazyGroup(TyperGroup):
    """Commands that are imported when they are run, or their help is shown."""

    #: For each command its module in this folder, a colon, and the function.
    homes: ClassVar[dict[str, str]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*self.homes, *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command."""
        if cmd_name not in self.homes:
            return super().get_command(ctx, cmd_name)
        module, function = self.homes[cmd_name].split(":")
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cmd_name)(getattr(import_module(f".{module}", __name__), function))
        return get_command(alone)


class DecodersGroup(LazyGroup):
    """The commands; expected errors are printed without a traceback, and the exit code is 1."""

    homes: ClassVar[dict[str, str]] = {
        "demo": "demo:demo",
        "info": "info:info",
        "warmup": "warmup:warmup",
        "convert": "corpora:convert_corpus",
        "annotate": "corpora:annotate_corpus",
        "calibrate": "corpora:calibrate_model",
    }

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # as of `| head`: typer ends without a word
            raise
        except (DecodersError, OSError) as error:  # also spaCy's about a missing pipeline
            message = str(error)
            if isinstance(error, OSError) and error.strerror and error.filename:
                message = f"{error.filename}: {error.strerror}"
            typer.secho(message.translate(CONTROLS), fg=typer.colors.RED, err=True)
            raise typer.Exit(1) from None


class KnowledgeGroup(LazyGroup):
    """The commands of knowledge bases."""

    homes: ClassVar[dict[str, str]] = {
        "build": "knowledge:build_from_file",
        "build-wikidata": "knowledge:build_from_wikidata",
        "build-wordnet": "knowledge:build_from_wordnet",
        "build-wikipedia": "knowledge:build_from_wikipedia",
        "info": "knowledge:show",
        "look-up": "knowledge:look_up",
    }


app = typer.Typer(
    name="decoders",
    cls=DecodersGroup,
    help="Exact, certified decoding: try it, look into it, annotate a corpus.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(
    typer.Typer(
        name="kb",
        cls=KnowledgeGroup,
        help="Knowledge bases for graph_entity_linker.",
        no_args_is_help=True,
    )
)
spacy_app.add_typer(app)
