"""Naive Bayes models and explanations drawn on axes of matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn.errors import short
from bayeslearn.naive_bayes.tabular.indicators import class_indicators

if TYPE_CHECKING:
    from bayeslearn.naive_bayes.tabular.explanation import CellContributions
    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel

#: Bars that are drawn, and characters of a label.
MAX_BARS, MAX_LABEL = 40, 40


def label(text: str) -> str:
    """A label without mathematics, and not longer than there is room for."""
    return short(text, MAX_LABEL).replace("$", r"\$")


def bars(axes: Any, names: list[str], values: list[float], colors: Any = "#56b4e9") -> None:
    """Horizontal bars, the first at the top."""
    axes.barh(range(len(names)), values, color=colors)
    axes.set_yticks(range(len(names)), [label(name) for name in names])
    axes.invert_yaxis()


def paint_indicators(axes: Any, model: NaiveBayesModel, max_results: int, colors: Any) -> None:
    """A bar for each indicator, in the color of its class."""
    found = [
        (f"{name}: {one}", one.strength, colors(c))
        for c, (name, of) in enumerate(class_indicators(model, max_results=max_results).items())
        for one in of
    ][:MAX_BARS]
    bars(axes, [name for name, _, _ in found], [s for _, s, _ in found], [color for _, _, color in found])
    axes.set(xlabel="Mean gain in log odds (nats)")
    axes.set_title(label(f"Indicators of {model.target.name}"), fontsize="medium")


def paint_contributions(axes: Any, found: CellContributions, row: int) -> None:
    """A bar for the start and for each cell, the strongest first."""
    cells = [
        ("start", float(found.start[row])),
        *((found.cell_name(row, name), add) for name, _, add in found.row(row)),
    ]
    bars(
        axes,
        [name for name, _ in cells],
        [add for _, add in cells],
        ["#56b4e9" if add >= 0 else "#e69f00" for _, add in cells],
    )
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(xlabel=f"Log odds (sum {found.log_odds[row]:.4g})")
    axes.set_title(label(f"Row {row}: {found.classes[row]}"), fontsize="medium")
