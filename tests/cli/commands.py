"""Running a command in this process."""

from spacy.cli._util import app
from typer.testing import CliRunner

import spacy_decoders.cli  # noqa: F401 - registers the commands


def run(*words, code=0, stdin=None):
    """Run a command, as spaCy does, that ends with this code; what it printed."""
    arguments = ["decoders", *map(str, words)]
    result = CliRunner(env={"COLUMNS": "300"}).invoke(app, arguments, input=stdin)
    assert result.exit_code == code, result.output
    return result.output
