"""The scores of dependency trees.

``arc_scorer`` is the network: an encoder, ``biaffine`` arcs, ``labels``, ``boundaries`` of
sentences and messages between likely ``relatives``. ``tree_scores`` applies it to documents,
``losses`` trains it. ``factors`` scores grandparents and siblings, ``patterns`` hand-made
patterns. ``decoding`` builds and solves the decoding problem.
"""
