"""``python -m spacy decoders info``."""

from spacy_decoders.kernel_cache import PACKAGE, PLACES, kept_code

from .commands import invoke


def test_info_names_versions_decoders_and_cache():
    done = invoke("info")
    assert done.exit_code == 0, done.output
    names = "spacy-decoders.Viterbi.v1", "matrix unit", "CC BY-SA 4.0"
    for expected in ("spacy-decoders", "numba", *names):
        assert expected in done.output


def test_code_is_counted_where_it_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    assert kept_code()[tmp_path] == 0
    # numba's folder of the functions of a folder has a name made from its path
    (locator,) = PLACES[0]._impl_class._locator_classes
    kernels = PACKAGE / "decoders" / "chain" / "kernels" / "lattice.py"
    folder = tmp_path / locator.get_suitable_cache_subpath(str(kernels))
    folder.mkdir()
    (folder / "lattice.k_best-1.py311.nbi").write_bytes(b"")
    (tmp_path / "of_another_package").mkdir()
    (tmp_path / "of_another_package" / "x.nbi").write_bytes(b"")
    assert kept_code()[tmp_path] == 1
