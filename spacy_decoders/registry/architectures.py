"""``@architectures``: the models of our components."""

from .deferred import Deferred

arc_scorer = Deferred("models.parser.arc_scorer:ArcScorer")
bilstm_encoder = Deferred("models.bilstm:build_bilstm")
chain_scorer = Deferred("models.tagger.scorer:build_chain_scorer")
word_selection = Deferred("models.headline.word_selection:build_word_selection")
phrase_selection = Deferred("models.headline.phrase_scorer:build_phrase_selection")
