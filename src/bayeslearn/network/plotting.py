"""Results of inference drawn on axes of matplotlib."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import short
from bayeslearn.network.inference.results import probability_of

if TYPE_CHECKING:
    from bayeslearn.network.inference.explanation import Sensitivity
    from bayeslearn.network.inference.results import QueryResult

#: Bars that are drawn, and characters of a label.
MAX_BARS, MAX_LABEL = 60, 40


def bars_of(found: QueryResult) -> list[tuple[str, float, float]]:
    """The label, the probability and the standard error of each state, variable after variable."""
    errors = getattr(found, "errors", {})
    return [
        (plain(f"{name} = {state}"), p, errors.get(name, {}).get(state, 0.0))
        for name, of in found.beliefs.items()
        for state, p in of.items()
    ][:MAX_BARS]


def paint_query(axes: Any, found: QueryResult) -> None:
    """A bar for the probability of each state."""
    bars = bars_of(found)
    labels, p, errors = zip(*bars, strict=True) if bars else ((), (), ())
    axes.barh(range(len(bars)), p, xerr=errors if any(errors) else None, color="#56b4e9")
    axes.set_yticks(range(len(bars)), labels)
    axes.set(xlabel="Probability", xlim=(0, 1))
    axes.invert_yaxis()
    axes.set_title(plain(probability_of(found.beliefs, found.evidence), 2 * MAX_LABEL), fontsize="medium")


def paint_sensitivity(axes: Any, found: Sensitivity, n: int) -> None:
    """A bar from the posterior with a probability of 0 to that with 1, for each of the most influential ones."""
    cells = list(islice(found.cells(), n))
    low = [min(cell.at_zero, cell.at_one) for cell in cells]
    high = [max(cell.at_zero, cell.at_one) for cell in cells]
    axes.barh(range(len(cells)), [b - a for a, b in zip(low, high, strict=True)], left=low, color="#56b4e9")
    axes.axvline(found.belief, color="black", linewidth=1)
    axes.set_yticks(range(len(cells)), [plain(cell.name) for cell in cells])
    axes.set(xlabel=plain(f"P({found.target}={found.state} | evidence) if the number were 0 to 1"), xlim=(0, 1))
    axes.invert_yaxis()


def plain(label: str, most: int = MAX_LABEL) -> str:
    """A label without mathematics, and not longer than there is room for."""
    return short(label, most).replace("$", r"\$")
