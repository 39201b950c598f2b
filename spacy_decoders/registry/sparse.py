"""``@architectures`` and ``@misc`` of the sparse model and of word clusters."""

from .deferred import Deferred

sparse_chain_scorer = Deferred("models.tagger.sparse.scorer:build_sparse_chain_scorer")
tensor_vectors = Deferred("models.tagger.tensors:build_tensor_vectors")
cluster_embed = Deferred("models.clusters.embed:build_cluster_embed")
word_clusters = Deferred("models.clusters.sources:WordClusters")
word_vectors = Deferred("models.clusters.sources:WordVectors")
gazetteer = Deferred("models.tagger.sparse.gazetteer:Gazetteer")
