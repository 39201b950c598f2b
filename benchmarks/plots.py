"""The few kinds of plot that the benchmarks draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

__all__ = ["bars", "curves", "panels"]

Series = Mapping[str, tuple[Sequence[float], Sequence[float]]]


def curves(
    path: Path,
    title: str,
    x_label: str,
    y_label: str,
    series: Series,
    *,
    log: str = "xy",
) -> None:
    """Draw one line for each series and write the plot.

    Parameters
    ----------
    path
        Where to write it.
    title, x_label, y_label
        What is shown, with units.
    series
        The points of each line: name -> (x, y).
    log
        The logarithmic axes: ``""``, ``"x"``, ``"y"`` or ``"xy"``.
    """
    panels(path, [(title, x_label, y_label, series, log)])


def panels(path: Path, given: Sequence[tuple[str, str, str, Series, str]]) -> None:
    """Draw several plots of curves side by side; each is (title, x, y, series, log axes)."""
    figure, axes = plt.subplots(1, len(given), figsize=(7.5 * len(given), 5), squeeze=False)
    for axis, (title, x_label, y_label, series, log) in zip(axes[0], given, strict=True):
        for number, (name, (x, y)) in enumerate(series.items()):
            marker = "osD^vPX*<>"[number % 10]
            axis.plot(x, y, marker=marker, markersize=5, linewidth=1.4, label=name)
        if "x" in log:
            axis.set_xscale("log")
        if "y" in log:
            axis.set_yscale("log")
        _dress(axis, title, x_label, y_label)
        axis.legend(fontsize=8, frameon=False)
    _write(figure, path)


def bars(path: Path, title: str, x_label: str, values: Mapping[str, float], *, log: bool) -> None:
    """Draw one horizontal bar for each value and write the plot."""
    figure, axis = plt.subplots(figsize=(7.5, 0.8 + 0.35 * len(values)))
    names = list(values)[::-1]
    axis.barh(names, [values[name] for name in names], log=log)
    _dress(axis, title, x_label, "")
    _write(figure, path)


def _dress(axis: Any, title: str, x_label: str, y_label: str) -> None:
    axis.set_title(title, fontsize=11)
    axis.set_xlabel(x_label)
    axis.set_ylabel(y_label)
    axis.grid(True, which="major", alpha=0.3)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def _write(figure: Any, path: Path) -> None:
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
