"""A wordnet becomes concepts with names, types and links."""

import pytest

from spacy_decoders.knowledge.sources.wordnet import WordNet
from tests.campaigns.dumps import LMF
from tests.readers.files import written


@pytest.mark.parametrize("name", ["wn.xml", "wn.xml.gz"])
def test_lmf_of_a_wordnet(tmp_path, name):
    source = WordNet(written(tmp_path, name, LMF))
    snake, language = source
    assert (snake.aliases, snake.links, snake.type) == ({"python": 1.0}, ("language",), "organism")
    assert (language.aliases, language.type, language.qid) == (
        {"Python": 8.0},
        "communication",
        "Q28865",
    )
    assert source.bad.count == 1
