"""The two kinds of plot that the benchmarks draw: ours in colour, those of others in grey."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

__all__ = ["bars", "curves"]

#: Our lines are solid, with filled markers; those of others grey and broken, with open ones.
COLOURS = [plt.get_cmap("tab10")(i) for i in (0, 1, 2, 3, 4, 5, 6, 8, 9)]
MARKERS = "osD^v<>ph"
GREYS = ("0.1", "0.4", "0.6")
OTHER_MARKERS = "xP*+1d"


def curves(
    path: Path,
    title: str,
    x_label: str,
    y_label: str,
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    log: str = "xy",
    peers: Collection[str] = (),
) -> None:
    """Draw one line for each series and write the plot.

    Parameters
    ----------
    path
        The file.
    title, x_label, y_label
        What is shown, with units.
    series
        The points of each line: name -> (x, y).
    log
        The logarithmic axes: ``""``, ``"x"``, ``"y"`` or ``"xy"``.
    peers
        The names of those lines that are not ours.
    """
    figure, axis = plt.subplots(figsize=(9.5, 5))
    own, others = count(), count()
    for name, (x, y) in series.items():
        style = _peer(next(others)) if name in peers else _own(next(own))
        axis.plot(x, y, markersize=5, linewidth=1.4, label=name, **style)
    if "x" in log:
        axis.set_xscale("log")
    if "y" in log:
        axis.set_yscale("log")
    # beside the plot, where it hides nothing
    axis.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    _write(figure, path, title, x_label, y_label)


def bars(
    path: Path, title: str, x_label: str, values: Mapping[str, float], peers: Collection[str] = ()
) -> None:
    """Draw one horizontal bar for each value and write the plot."""
    figure, axis = plt.subplots(figsize=(7.5, 0.8 + 0.35 * len(values)))
    names = list(values)[::-1]
    colours = [GREYS[2] if name in peers else COLOURS[0] for name in names]
    axis.barh(names, [values[name] for name in names], color=colours)
    _write(figure, path, title, x_label, "")


def _own(number: int) -> dict[str, Any]:
    """The style of one of our lines: colour and marker together come once."""
    colour, turn = number % len(COLOURS), number // len(COLOURS)
    return {"color": COLOURS[colour], "marker": MARKERS[(colour + turn) % len(MARKERS)]}


def _peer(number: int) -> dict[str, Any]:
    marker = OTHER_MARKERS[number % len(OTHER_MARKERS)]
    return {"color": GREYS[number % len(GREYS)], "marker": marker, "linestyle": "--"}


def _write(figure: Any, path: Path, title: str, x_label: str, y_label: str) -> None:
    (axis,) = figure.axes
    axis.set_title(title, fontsize=11)
    axis.set_xlabel(x_label)
    axis.set_ylabel(y_label)
    axis.grid(True, which="major", alpha=0.3)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, bbox_inches="tight")
    plt.close(figure)
