"""A structure that was learned, with the strength of its arcs, or with the arcs that resamples agree on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bayeslearn.errors import ParameterError
from bayeslearn.network.learning.fit import fit_tables, uniform
from bayeslearn.network.learning.impute import impute
from bayeslearn.network.structure.counting.cache import ScoreCache
from bayeslearn.network.structure.counting.counts import FamilyCounts
from bayeslearn.network.structure.doubt.averaging import averaged
from bayeslearn.network.structure.reaching import require_rows
from bayeslearn.network.structure.results import arcs_of
from bayeslearn.network.structure.tables import graph, tables_of

if TYPE_CHECKING:
    from bayeslearn.network.structure.doubt.bootstrap import ArcStrengths
    from bayeslearn.network.structure.recipe import Recipe
    from bayeslearn.network.structure.results import LearnedArc, StructureFit


def resampled(recipe: Recipe, fit: StructureFit, rounds: int, *, average: bool) -> StructureFit:
    """The same with the strength of every arc, or with the arcs that resamples agree on."""
    table, holes = require_rows(fit.prepared, "resamples"), fit.expectation is not None
    if holes and fit.prepared.looked is not None:
        raise ParameterError(
            "the rows of a source are not resampled where cells are missing: equal rows would be filled alike",
            hint="take the rows into memory first: learn(source.table(), bootstrap=...)",
        )
    if holes:
        table = impute(fit.network, table, how="draw", rng=recipe.seed)
    strengths = recipe.on_resamples(table, rounds)
    if not strengths.rounds:
        without = "the arcs are those of all rows" if average else "how sure arcs are is not known"
        return replace(fit, notes=(*fit.notes, f"no resample was done in time: {without}"))
    drawn = ["strengths are those of one completion of the rows, drawn at random"] if holes else []
    fit = replace(fit, strengths=strengths, notes=(*fit.notes, *drawn))
    if average:
        fit = _averaged(recipe, fit, strengths, FamilyCounts(table))
    return replace(fit, arcs=_with_strengths(fit.arcs, strengths))


def _averaged(recipe: Recipe, fit: StructureFit, strengths: ArcStrengths, counts: FamilyCounts) -> StructureFit:
    """The network of the arcs that resamples agree on, its tables learned from the rows as they are."""
    agreed = averaged(strengths, allowed=recipe.knowledge.of(strengths.names))
    arcs, cache = agreed.arcs, ScoreCache(fit.counts or counts, recipe.score)
    notes = [f"{arc.parent} -> {arc.child} {why} and was dropped" for arc, why in agreed.dropped.items()]
    if fit.expectation is None:
        network = tables_of(cache.counts, arcs, recipe.prior)
    else:
        frame = uniform(graph(strengths.names, arcs), {cpt.name: cpt.variable for cpt in fit.network})
        hidden = {name: frame.states(name) for name in frame.names if name not in fit.table.schema.names}
        network = fit_tables(frame, fit.table, prior=recipe.prior, hidden=hidden, rng=recipe.seed).network
    kept = arcs_of(network, recipe.score, cache.counts.total)
    return replace(fit, network=network, score=cache.graph(arcs), arcs=kept, notes=(*fit.notes, *notes))


def _with_strengths(arcs: tuple[LearnedArc, ...], strengths: ArcStrengths) -> tuple[LearnedArc, ...]:
    """The same arcs with their strength and direction, the strongest first."""
    place = {name: i for i, name in enumerate(strengths.names)}
    known = []
    for arc in arcs:
        way = place[arc.parent], place[arc.child]
        known.append(replace(arc, strength=float(strengths.strength[way]), direction=float(strengths.direction[way])))
    return tuple(sorted(known, key=lambda arc: (-(arc.strength or 0), -arc.gain, arc.parent, arc.child)))
