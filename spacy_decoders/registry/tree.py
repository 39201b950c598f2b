"""``@decoders`` of dependency trees."""

from .deferred import Deferred

build_branch_and_bound = Deferred("decoders.tree:BranchAndBound")
build_chu_liu_edmonds = Deferred("decoders.tree:ChuLiuEdmonds")
build_eisner = Deferred("decoders.tree:Eisner")
build_price_and_cut = Deferred("decoders.tree:PriceAndCut")
build_second_order = Deferred("decoders.tree:SecondOrder")
