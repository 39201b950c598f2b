"""Windows of long documents."""

import numpy as np

from spacy_decoders.components.linker.windows import link_windows
from spacy_decoders.knowledge.candidates import CandidateTable
from tests.components.linker.linking import NAME, identifiers, pipeline


def test_windows_decide_every_mention_once():
    table = CandidateTable(
        mentions=[str(i) for i in range(23)],
        offsets=np.arange(24),
        ids=[str(i) for i in range(23)],
        titles=[""] * 23,
        priors=np.ones(23),
        popularity=np.ones(23),
        vectors=np.zeros((23, 0), np.float32),
        concepts=np.arange(23),
    )
    for size in (1, 2, 5, 10, 22, 23, 50):
        windows = link_windows(table, size)
        decided = [m for w in windows for m, keep in zip(w.mentions, w.keeps, strict=True) if keep]
        assert sorted(decided) == list(range(23))
        assert all(len(w.mentions) <= size for w in windows)
        for window in windows:
            assert [table.ids[row] for row in window.rows] == list(window.table.ids)


def test_long_documents_are_cut_and_say_so():
    doc = pipeline(window=3)("Python, Java, Rust, Go, Ruby, Perl and Swift are languages.")
    certificates = doc._.certificates[NAME]
    assert len(certificates) > 1
    assert {certificate["scope"] for certificate in certificates} == {"pruned"}
    assert identifiers(doc)["Rust"] == "rust_language"
