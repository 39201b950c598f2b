"""The scores of dependency trees.

``arc_scorer`` is the network: an encoder, ``biaffine`` arcs, ``labels``, ``boundaries`` of
sentences and messages between likely ``relatives``. ``tree_scores`` applies it to documents,
``losses`` trains it. ``factor_weights`` and ``factor_templates`` score grandparents and siblings,
``factor_training`` trains these. ``decoding`` builds and solves the decoding problem.
"""
