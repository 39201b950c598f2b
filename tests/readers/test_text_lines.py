"""Every reader of text names the place of bytes that are no UTF-8."""

import pytest
import spacy

from spacy_decoders import ProblemError
from spacy_decoders.readers.headlines import HeadlineCorpus
from spacy_decoders.readers.linked import LinkedCorpus
from spacy_decoders.readers.sentences import read_columns, read_conllu
from spacy_decoders.readers.text_lines import text_lines

from .files import written

READERS = {
    "a.conllu": read_conllu,
    "a.conll": read_conllu,
    "a.tsv": lambda path: read_columns(path, ["form", "tag"]),
    "a.jsonl": lambda path: HeadlineCorpus(path)(spacy.blank("en")),
    "b.jsonl": lambda path: LinkedCorpus(path)(spacy.blank("en")),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gzip"])
def test_the_place_is_named(tmp_path, name, zipped):
    text = b'{"title": "A", "text": "b", "mentions": []}' if "json" in name else b"# A comment"
    path = written(tmp_path, f"{name}.gz" if zipped else name, text + b"\n" + b"caf\xe9\n")
    with pytest.raises(ProblemError, match=r"line 2: byte 4 is 0xe9.*iconv") as caught:
        list(READERS[name](path))
    assert str(caught.value).startswith(str(path))


def test_marks_and_line_ends(tmp_path):
    path = written(tmp_path, "a.txt", "\ufeffone\r\ntwo\u2028\ufeffthree\n\nfour")
    assert list(text_lines(path)) == ["one\n", "two\u2028\ufeffthree\n", "\n", "four"]
