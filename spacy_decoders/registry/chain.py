"""``@decoders`` of tag sequences."""

from .deferred import Deferred

build_beam = Deferred("decoders.chain:Beam")
build_column_generation = Deferred("decoders.chain:ColumnGeneration")
build_forward_dominance = Deferred("decoders.chain:ForwardDominance")
build_pruned_viterbi = Deferred("decoders.chain:PrunedViterbi")
build_viterbi = Deferred("decoders.chain:Viterbi")
