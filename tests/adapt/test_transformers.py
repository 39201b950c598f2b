"""The drop-in for the pipeline of ``transformers``, with a tiny random model of its own."""

import pickle
import re
from copy import deepcopy
from itertools import pairwise
from pathlib import Path

import pytest

# PyTorch takes hundreds of megabytes: no part of the extra `dev`
pytest.importorskip("torch", reason="needs PyTorch: pip install spacy-decoders[transformers]")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")

import spacy  # noqa: E402
from spacy.tokens import Span  # noqa: E402

from spacy_decoders import ProblemError  # noqa: E402
from spacy_decoders.adapt.tokens import EntityDecoder, exact_pipeline  # noqa: E402

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
TEXT = "Angela Merkel went to New York, and then Mr. Smith came back from San Francisco."


@pytest.fixture(scope="module")
def pipe():
    model, tokenizer = tiny_model()
    return transformers.pipeline(
        "token-classification", model, tokenizer=tokenizer, aggregation_strategy="simple"
    )


def tiny_model():
    """A token classifier with random weights, over a WordPiece tokenizer of single letters."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{c}" for c in letters)]
    pieces += ["new", "york", "went", "##ela", "mer"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    )
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        id2label=dict(enumerate(LABELS)),
        initializer_range=1.0,
    )
    return transformers.BertForTokenClassification(config).eval(), fast


def is_legal(entities):
    return all(a["end"] <= b["start"] for a, b in pairwise(entities))


def test_it_is_called_as_the_pipeline_is(pipe):
    exact = exact_pipeline(pipe)
    found = exact(TEXT)
    assert found and is_legal(found)
    for entity in found:
        assert entity["word"] == TEXT[entity["start"] : entity["end"]]
        assert 0.0 <= entity["score"] <= 1.0
        assert entity["status"] == "optimal"
        # whole words: none ends within one
        assert not TEXT[entity["end"] : entity["end"] + 1].isalnum()
    assert exact([TEXT, "x"])[0] == found
    assert list(pipe(TEXT)) != found  # the given one is as it was


def test_words_that_are_given(pipe):
    exact = exact_pipeline(pipe)
    words = TEXT.split()
    (found,) = exact(words, is_split_into_words=True)
    text = " ".join(words)
    assert all(entity["word"] == text[entity["start"] : entity["end"]] for entity in found)


@pytest.mark.parametrize(
    "options", [{"aggregation_strategy": "simple", "stride": 16}, {"aggregation_strategy": "none"}]
)
def test_long_texts_go_in_windows(pipe, options):
    windowed = transformers.pipeline(
        "token-classification", pipe.model, tokenizer=pipe.tokenizer, **options
    )
    text = " ".join([TEXT] * 3)
    exact = exact_pipeline(windowed)
    exact(text.split(), is_split_into_words=True)  # is forgotten afterwards
    found = exact(text)
    windowed.tokenizer = deepcopy(pipe.tokenizer)
    windowed.tokenizer.pad_token = None
    assert exact_pipeline(windowed)(text) == found
    assert windowed.tokenizer.pad_token is None
    assert is_legal(found)
    assert found[-1]["end"] > 2 * len(TEXT)


def test_other_things_are_refused(pipe):
    with pytest.raises(ProblemError, match="token-classification"):
        exact_pipeline("model")


def test_the_examples_of_the_docs_run(folder):
    """Those that need PyTorch; the others run with all examples of the docs."""
    page = Path(__file__).parents[2] / "docs" / "adapters" / "token-classifiers.md"
    examples = re.findall(r"^```py\n(.*?)^```$", page.read_text(encoding="utf8"), re.M | re.S)
    assert len(examples) == 2
    for code in examples:
        exec(code.replace("dslim/bert-base-NER", str(folder)), {})


# --- the component


@pytest.fixture(scope="module")
def folder(pipe, tmp_path_factory):
    """The model on disk, as a pipeline names it."""
    path = tmp_path_factory.mktemp("model")
    pipe.model.save_pretrained(path)
    pipe.tokenizer.save_pretrained(path)
    return path


@pytest.fixture
def nlp(folder):
    nlp = spacy.blank("en")
    config = {"model": str(folder), "rename": {"PER": "PERSON"}, "stride": 8}
    nlp.add_pipe("exact_token_classifier", config=config)
    return nlp


def test_two_processes_find_the_same(nlp):
    found = entities(nlp(TEXT))  # PyTorch's threads are there now, and the network is loaded
    sent = pickle.loads(pickle.dumps(nlp.get_pipe("exact_token_classifier")))
    assert entities(sent(nlp.make_doc(TEXT))) == found
    assert [entities(doc) for doc in nlp.pipe([TEXT] * 4, n_process=2)] == [found] * 4


def test_a_pipeline_finds_entities(nlp, tmp_path):
    doc = nlp(TEXT)
    assert doc.ents
    assert {ent.label_ for ent in doc.ents} <= {"PERSON", "LOC"}
    assert all(0.0 <= ent._.prob <= 1.0 for ent in doc.ents)
    assert doc._.certificates["exact_token_classifier"][0]["status"] == "optimal"
    texts = [TEXT, "", "  ", " ".join([TEXT] * 4)]
    docs = list(nlp.pipe(texts))
    assert entities(docs[0]) == entities(doc) and not docs[1].ents and not docs[2].ents
    assert docs[3].ents[-1].start_char > 3 * len(TEXT)  # beyond the first window
    nlp.to_disk(tmp_path)
    assert entities(spacy.load(tmp_path)(TEXT)) == entities(doc)


def test_entities_that_are_set_are_kept(nlp):
    nlp.get_pipe("exact_token_classifier").overwrite = False
    doc = nlp.make_doc(TEXT)
    doc.ents = [Span(doc, 0, 1, "MINE")]
    doc = nlp.get_pipe("exact_token_classifier")(doc)
    assert entities(doc)[0] == (0, 1, "MINE")


def test_other_transitions_are_taken(nlp):
    component = nlp.get_pipe("exact_token_classifier")
    rules = component.decoder.rules
    component.decoder = EntityDecoder(rules.names, start=[0, -9e9, -9e9, -9e9, -9e9])
    assert nlp(TEXT)[0].ent_type_ == ""


def entities(doc):
    return [(ent.start, ent.end, ent.label_) for ent in doc.ents]
