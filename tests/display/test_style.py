"""Colours can be told apart: texts at 4.5 to 1, borders and edges at 3 to 1 (WCAG 2.2)."""

import re
from itertools import product
from pathlib import Path

import pytest

from spacy_decoders import display

STYLE = (Path(display.__file__).parent / "templates" / "style.css").read_text(encoding="utf8")
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): (#\w{6})", part)) for part in STYLE.split("@media")[:2]
)


def luminance(colour):
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(w * s for w, s in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_edges_stand_out(scheme):
    assert set(scheme) == set(LIGHT)
    grounds = ("paper", "card")
    texts = [*product(("ink", "soft", "best", "doubt"), grounds)]
    texts += [("ink", soft) for soft in ("best-soft", "doubt-soft")]
    texts += [(colour, f"{colour}-soft") for colour in ("best", "doubt")]
    for text, ground in texts:
        assert contrast(scheme[text], scheme[ground]) >= 4.5, (text, ground)
    for edge, ground in product(("line", "focus"), grounds):
        assert contrast(scheme[edge], scheme[ground]) >= 3, (edge, ground)


def test_all_colours_are_the_schemes_own():
    rules = STYLE[STYLE.index("* {") :]
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(", rules)
    assert set(re.findall(r"var\(--([\w-]+)\)", rules)) == set(LIGHT)
    # a halo around labels is no edge
    edges = rules.replace("paint-order: stroke; stroke: var(--card)", "")
    for kind, colour in re.findall(r"(border|stroke)(?:-\w+)?: [^;]*var\(--([\w-]+)\)", edges):
        assert not colour.endswith("-soft") and colour not in ("paper", "card"), kind
