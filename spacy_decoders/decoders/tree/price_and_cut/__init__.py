"""Parse, price and cut: trees with grandparents by linear programs with delayed columns and rows.

Riedel, Smith and McCallum (2012). `decoder` is the way in; `subgradient` improves the duals
before there is a program, `search` solves and branches, `master` is the program itself,
`pricing` says which columns enter it and `separation` which rows, and `incumbent` is the best
tree so far.
"""

from .decoder import PriceAndCut

__all__ = ["PriceAndCut"]
