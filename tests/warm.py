"""What many processes need, imported and loaded once, before they are forked."""

import scipy.optimize  # noqa: F401

import spacy_decoders
from spacy_decoders import cli, models  # noqa: F401
from tests.entry_points import list_by_group

list_by_group()
spacy_decoders.load()("The old man can fish in Coventry. Binary search finds an item in a list.")
