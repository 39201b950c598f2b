"""What is told of an installation."""

from importlib import metadata

from typer.testing import CliRunner

from spacy_decoders.cli import app


def test_packages_of_extras_may_be_missing(monkeypatch):
    version = metadata.version

    def without_mip(package):
        if package == "mip":
            raise metadata.PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr(metadata, "version", without_mip)
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["info"])
    assert result.exit_code == 0, result.output
    (line,) = [line for line in result.output.splitlines() if line.startswith("mip ")]
    assert line.split(maxsplit=1)[1].strip() == "not installed"
