"""Parse, price and cut: trees with grandparents by linear programs with delayed columns and rows.

Riedel, Smith and McCallum (2012). `decoder` is the entry point; `subgradient` improves the duals
before a program is built, `search` solves and branches, `master` is the linear program, `pricing`
selects its columns and `separation` its rows, and `incumbent` is the best tree so far.
"""

from .decoder import PriceAndCut

__all__ = ["PriceAndCut"]
