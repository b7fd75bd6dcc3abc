"""Results of inference drawn on axes of matplotlib."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import UnknownStateError, listed, short
from bayeslearn.network.inference.results import probability_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bayeslearn.network.cpt import CPT
    from bayeslearn.network.hybrid.results import NumericPosterior
    from bayeslearn.network.inference.explanation import EvidenceExplanation, Sensitivity
    from bayeslearn.network.inference.results import QueryResult
    from bayeslearn.network.structure.results import StructureFitInfo

#: Bars that are drawn, and characters of a label.
MAX_BARS, MAX_LABEL = 60, 40
#: States that a legend names.
MAX_LEGEND = 20


def bars_of(found: QueryResult) -> list[tuple[str, float, float]]:
    """The label, the probability and the standard error of each state, variable after variable."""
    errors = getattr(found, "errors", {})
    return [
        (plain(f"{name} = {state}"), p, errors.get(name, {}).get(state, 0.0))
        for name, of in found.beliefs.items()
        if isinstance(of, dict)  # not a number
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


def paint_densities(axes: Any, posteriors: Iterable[NumericPosterior]) -> None:
    """A curve for the density of each number, between its quantiles of 0.1 % and 99.9 %."""
    found = list(posteriors)
    for posterior in found:
        low, high = posterior.interval(0.998)
        if high > low:
            x = np.linspace(low, high, 400)
            axes.plot(x, posterior.pdf(x), label=plain(posterior.name))
        else:
            axes.axvline(low, label=plain(posterior.name))
    names = {posterior.name for posterior in found} - {""}
    axes.set(ylabel="Density", xlabel=plain(found[0].name) if len(names) == 1 else "Value")
    if len(names) > 1:
        axes.legend(fontsize="small")


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


def paint_arcs(axes: Any, info: StructureFitInfo) -> None:
    """A bar for each arc: its strength in the bootstrap samples if there are any, else the gain of the score."""
    arcs = info.arcs[:MAX_BARS]
    sure = any(arc.strength is not None for arc in arcs)
    axes.barh(range(len(arcs)), [arc.strength if sure else arc.gain for arc in arcs], color="#56b4e9")
    axes.set_yticks(range(len(arcs)), [plain(str(arc)) for arc in arcs])
    axes.set(xlabel="Bootstrap strength" if sure else f"Score gain ({info.criterion})")
    axes.invert_yaxis()
    axes.set_title(f"{len(info.arcs)} arcs" if arcs else "No arcs")


def rows_of(cpt: CPT) -> list[tuple[str, Any]]:
    """The label and the probabilities of each row of a CPT, the first ones of very many."""
    shape = cpt.probabilities.shape[:-1]
    found = []
    for at in islice(np.ndindex(*shape), MAX_BARS):
        given = ", ".join(f"{v.name} = {v.states[i]}" for v, i in zip(cpt.parents, at, strict=True))
        found.append((plain(given or "no parents"), cpt.probabilities[at]))
    return found


def paint_cpt(axes: Any, cpt: CPT, colors: Callable[[int], Any]) -> None:
    """A stacked bar for each row: the probability of each state."""
    labels, rows = zip(*rows_of(cpt), strict=True)
    p = np.array(rows)
    left = np.zeros(len(p))
    for j, state in enumerate(cpt.variable.states):
        axes.barh(range(len(p)), p[:, j], left=left, color=colors(j), label=plain(str(state)))
        left += p[:, j]
    axes.set_yticks(range(len(p)), labels)
    axes.set(xlabel="Probability", xlim=(0, 1))
    axes.invert_yaxis()
    axes.set_title(plain(f"P({cpt.name})" if not cpt.parents else f"P({cpt.name} | parents)", 2 * MAX_LABEL))
    if len(cpt.variable.states) <= MAX_LEGEND:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def paint_explanation(axes: Any, found: EvidenceExplanation, state: Any) -> None:
    """A bar from the posterior without each piece of evidence to that with all of it."""
    state = max(found.belief, key=found.belief.__getitem__) if state is None else state
    if state not in found.belief:
        raise UnknownStateError(
            f"variable {found.target!r} has no state {state!r}", hint=f"its states: {listed(found.belief)}"
        )
    after = found.belief[state]
    rows = [("no evidence", found.before[state]), *((impact.piece, impact.without[state]) for impact in found.impacts)]
    labels = [plain(rows[0][0]), *(plain(f"without {piece}") for piece, _ in rows[1:])]
    for place, (_, p) in enumerate(rows):
        axes.barh(place, after - p, left=p, color="#56b4e9" if after >= p else "#e69f00")
    axes.axvline(after, color="black", linewidth=1)
    axes.set_yticks(range(len(rows)), labels)
    axes.set(xlabel=plain(f"P({found.target} = {state})"), xlim=(0, 1))
    axes.invert_yaxis()
    axes.set_title(plain(probability_of([found.target], found.evidence), 2 * MAX_LABEL), fontsize="medium")


def plain(label: str, most: int = MAX_LABEL) -> str:
    """A label without mathematics, and not longer than there is room for."""
    return short(label, most).replace("$", r"\$")
