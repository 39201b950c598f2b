"""``exact_token_classifier``, with a tiny random model of ``transformers``."""

from __future__ import annotations

import pytest

# PyTorch takes hundreds of megabytes: no part of the extra `dev`
pytest.importorskip("torch", reason="needs PyTorch: pip install spacy-decoders[transformers]")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")

import spacy  # noqa: E402
from spacy.tokens import Span  # noqa: E402

from spacy_decoders.adapt.tokens import EntityDecoder  # noqa: E402

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
TEXT = "Angela Merkel went to New York, and then Mr. Smith came back from San Francisco."


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The model on disk, as a pipeline names it."""
    path = tmp_path_factory.mktemp("model")
    for part in tiny_model():
        part.save_pretrained(path)
    return path


@pytest.fixture
def nlp(folder):
    nlp = spacy.blank("en")
    config = {"model": str(folder), "rename": {"PER": "PERSON"}, "stride": 8}
    nlp.add_pipe("exact_token_classifier", config=config)
    return nlp


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
