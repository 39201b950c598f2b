"""``python -m spacy decoders info``."""

from importlib import metadata

from .commands import invoke, run


def test_info_names_versions_decoders_and_cache():
    done = invoke("info")
    assert done.exit_code == 0, done.output
    for expected in ("spacy-decoders", "numba", "spacy-decoders.Viterbi.v1", "CC BY-SA 4.0"):
        assert expected in done.output


def test_packages_of_extras_may_be_missing(monkeypatch):
    version = metadata.version

    def without_mip(package):
        if package == "mip":
            raise metadata.PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr(metadata, "version", without_mip)
    (line,) = [line for line in run("info").splitlines() if line.startswith("mip ")]
    assert line.split(maxsplit=1)[1].strip() == "not installed"
