"""``@decoders``: a registry of decoders, which config files refer to by name.

Its entries come from the entry points in the group ``spacy_decoders``, ours and those of other
packages.
"""

from typing import Any

import catalogue
import spacy

__all__ = ["decoders"]

# catalogue, not `spacy.registry.create`: that one would look for entry points in the group
# "thinc_decoders"
if not hasattr(spacy.registry, "decoders"):
    setattr(  # noqa: B010 - spaCy's class does not declare it
        spacy.registry, "decoders", catalogue.create("spacy", "decoders", entry_points=True)
    )

decoders: Any = vars(spacy.registry)["decoders"]
