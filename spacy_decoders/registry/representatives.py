"""``@decoders`` that choose one concept for each mention."""

from .deferred import Deferred

build_decomposable = Deferred("decoders.representatives:Decomposable")
build_degree = Deferred("decoders.representatives:Degree")
build_exact_representatives = Deferred("decoders.representatives:ExactRepresentatives")
build_greedy = Deferred("decoders.representatives:Greedy")
build_hitting_distance = Deferred("decoders.representatives:HittingDistance")
build_local_search = Deferred("decoders.representatives:LocalSearch")
build_pagerank = Deferred("decoders.representatives:PageRank")
build_spanning_tree = Deferred("decoders.representatives:SpanningTree")
