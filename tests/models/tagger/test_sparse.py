"""The sparse scorer inside ``exact_tagger``: it learns, is saved and joins a network."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import Adam

from spacy_decoders.errors import ProblemError
from spacy_decoders.models.clusters.table import ClusterTable
from spacy_decoders.models.tagger.losses import LOSSES
from tests.components.tagger.tagging import SENTENCES, annotated, bare, examples

NAME = "spacy-decoders.SparseChainScorer.v1"


class Clusters:
    """Clusters as a config's source gives them."""

    def read(self) -> ClusterTable:
        return ClusterTable.of({"Mercury": 0b111, "Venus": 0b111, "boats": 0b10, "ships": 0b10})


def pipeline(steps: int = 12, loss: str = "crf", target="tag", clusters=None, **model):
    nlp = spacy.blank("en")
    spacy.util.fix_random_seed(0)
    config = {"model": {"@architectures": NAME, "bits": 12, **model}}
    tagger = nlp.add_pipe("exact_tagger", config={"loss": loss, "target": target, **config})
    tagger.model.layers[0].attrs["clusters"] = clusters
    golds = examples(nlp)
    nlp.initialize(lambda: golds)
    for _ in range(steps):
        nlp.update(golds, sgd=Adam(0.01))
    return nlp


def tags(nlp, sentences=SENTENCES):
    return [[token.tag_ for token in nlp(bare(nlp, sentence))] for sentence in sentences]


def gold(nlp):
    return [[token.tag_ for token in annotated(nlp, [sentence])] for sentence in SENTENCES]


@pytest.mark.parametrize("loss", list(LOSSES))
def test_it_learns_by_every_loss(loss):
    nlp = pipeline(loss=loss)
    assert tags(nlp) == gold(nlp)
    doc = nlp(bare(nlp, SENTENCES[0]))
    assert [c["status"] for c in doc._.certificates["exact_tagger"]] == ["optimal"]


def test_parts_of_labels_share_their_weights(tmp_path):
    nlp = pipeline(target=["tag", "ent"], templates="entities", factored=True)
    tagger = nlp.get_pipe("exact_tagger")
    parts = {(k, part) for label in tagger.labels for k, part in enumerate(label.split())}
    weights = tagger.model.layers[0].shims[0]
    assert weights.size == len(parts)
    assert tags(nlp) == gold(nlp)
    doc = nlp(bare(nlp, SENTENCES[2]))
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("New York", "CITY")]
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert tags(loaded) == gold(nlp)
    with pytest.raises(ProblemError, match="label: a model of"):  # which is trained
        tagger.add_label("NEW O")
    assert tags(pipeline(factored=True)) == tags(pipeline())  # of one target there are no parts


def test_a_saved_pipeline_tags_alike(tmp_path):
    nlp = pipeline(clusters=Clusters(), least=0.0)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert tags(loaded) == tags(nlp)
    weights = loaded.get_pipe("exact_tagger").model.layers[0].shims[0]
    assert weights.clusters.lookup(["Venus"]).tolist() == [[7, 0]]
    assert loaded.to_bytes() == spacy.load(tmp_path).to_bytes()
    golds = examples(loaded)
    loaded.update(golds, sgd=Adam(0.01))  # and can be trained on
    assert tags(loaded) == gold(nlp)


def test_a_cluster_lends_its_weights_to_unseen_words():
    nlp = pipeline(clusters=Clusters(), templates=["cluster[0]", "lower[0]"])
    assert tags(nlp, ["Venus sees the ships ."])[0] == ["NNP", "VBZ", "DT", "NNS", "."]


def test_features_of_a_users_own():
    def features(doc: Doc) -> list[list[str]]:
        return [[f"ends={token.text[-1]}", "bias"] for token in doc]

    @spacy.registry.misc("test_sparse_features")
    def make():
        return features

    nlp = pipeline(steps=30, templates=[], features={"@misc": "test_sparse_features"})
    assert tags(nlp, ["Mercury sees the boats ."]) == [["NNP", "VBZ", "DT", "NNS", "."]]
    reader = nlp.get_pipe("exact_tagger").model.layers[0].attrs["reader"]
    for wrong in ([], ["a string", "another"]):
        reader.features = lambda doc, wrong=wrong: wrong
        with pytest.raises(ProblemError, match="a list of strings for each of 2 tokens"):
            nlp(bare(nlp, "the boats"))


def test_dropout_leaves_out_features_in_training_only():
    nlp = pipeline()
    layer = nlp.get_pipe("exact_tagger").model.layers[0]
    doc = bare(nlp, SENTENCES[0])
    whole = layer.predict([doc])[0]
    layer.attrs["dropout_rate"] = 0.5
    np.testing.assert_array_equal(layer.predict([doc])[0], whole)
    drawn = np.mean([layer([doc], is_train=True)[0][0] for _ in range(400)], axis=0)
    assert not np.array_equal(layer([doc], is_train=True)[0][0], whole)
    np.testing.assert_allclose(drawn, whole, atol=0.25 * np.abs(whole).max())
    nlp = pipeline(steps=0)
    for _ in range(60):
        nlp.update(examples(nlp), sgd=Adam(0.01), drop=0.4)
    assert tags(nlp) == gold(nlp)
