"""``@architectures``: the models of our components."""

from .deferred import Deferred

arc_scorer = Deferred("models.parser.arc_scorer:ArcScorer")
bilstm_encoder = Deferred("models.bilstm:build_bilstm")
chain_scorer = Deferred("models.tagger.scorer:build_chain_scorer")
phrase_selection = Deferred("models.headline.selection:build_phrase_selection")
word_selection = phrase_selection  # the name in configs of 0.2
