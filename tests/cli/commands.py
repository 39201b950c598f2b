"""Running a command in this process."""

from spacy.cli._util import app
from typer.testing import CliRunner

import spacy_decoders.cli  # noqa: F401 - registers the commands
from spacy_decoders.cli import app as own_app


def invoke(*arguments: str, stdin: str | bytes | None = None):
    """Run a command as spaCy does; what came of it."""
    return CliRunner().invoke(app, ["decoders", *arguments], input=stdin, env={"COLUMNS": "110"})


def run(*words, code=0):
    """Run a command that ends with this code; what it printed."""
    result = CliRunner(env={"COLUMNS": "300"}).invoke(own_app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output
