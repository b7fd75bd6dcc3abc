"""What ``bayeslearn fit network`` reports: what is in the network, its hold-out check, and its weakest parts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.cli import output
from bayeslearn.cli.parameters_fit import row_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayeslearn.network import BackgroundKnowledge, LearnedArc, StructureFitInfo
    from bayeslearn.network.evaluation import BaselineComparison, HoldoutScore
    from bayeslearn.network.structure.preprocessing import PreparedData
    from bayeslearn.network.structure.scoring.criteria import StructureScore
    from bayeslearn.network.structure.uncertainty.bootstrap import ArcStrength

#: Arcs that are shown, the surest first; `--json` lists all.
MOST_ARCS = 40

#: Doubts that are told of each kind.
MOST_DOUBTS = 3

#: Resamples that must join a pair for it to be missed when it is not there.
MISSED = 0.25


@dataclass(frozen=True)
class Asked:
    """What a reader of the report should be reminded of."""

    resamples: int
    knowledge: BackgroundKnowledge
    #: What ended the search, if something did.
    ended: str | None = None
    #: Why no rows were held out, though they should have been.
    unchecked: str | None = None


def ended(fit: StructureFitInfo, limit: float | None, *, by_hand: bool) -> str | None:
    """What ended a search before it was through."""
    if by_hand:
        return "Ctrl-C"
    return "the time limit" if fit.stopped or (limit is not None and fit.seconds > limit) else None


### for people


def show(fit: StructureFitInfo, checked: HoldoutScore | None, asked: Asked) -> None:
    """The report."""
    output.show_pairs(_head(fit, asked))
    if fit.arcs:
        output.gap()
        _show_arcs(fit)
    doubts = list(_doubts(fit, asked))
    if doubts:
        output.gap()
        output.show_pairs(doubts)
    if checked is not None:
        output.gap()
        _show_check(checked)
    show_columns(fit.prepared, fit.notes)


def _head(fit: StructureFitInfo, asked: Asked) -> list[tuple[str, str]]:
    from bayeslearn.network.structure.algorithms import METHODS

    cells, missing = fit.table.n_rows * len(fit.table.schema), sum(fit.missing.values())
    share = f" ({100 * missing / cells:.3g} %)" if missing else ""
    pairs = [("rows", counted(fit.table)), ("missing cells", f"{missing} of {cells}{share}")]
    if fit.passes:
        pairs.append(("passes", str(fit.passes)))
    pairs += [("hidden", _hidden(fit, name)) for name in hidden(fit)]
    pairs += [("method", f"{fit.method}: {METHODS[fit.method].about}")]
    pairs += [("score", f"{score_name(fit.scored_by)} {fit.score:.8g}"), ("arcs", str(len(fit.arcs)))]
    if fit.tests is not None:
        pairs.append(("tests", str(fit.tests.tests)))
    if resamples(fit):
        given = f" of {asked.resamples}" if asked.resamples > resamples(fit) else ""
        pairs.append(("resamples", f"{resamples(fit)}{given}"))
    if asked.ended:
        pairs.append(("ended by", f"{asked.ended}: this is the best so far"))
    return pairs


def _hidden(fit: StructureFitInfo, name: str) -> str:
    states = f"{name} ({len(fit.network.states(name))} states)"
    found = fit.expectation
    if found is None or found.hidden_gain is None:
        return states
    return f"{states}, joined to nothing" if name in found.isolated else f"{states}, gain {found.hidden_gain:.4g}"


def _show_arcs(fit: StructureFitInfo) -> None:
    head = ["arc", "gain", *(["strength", "direction"] if resamples(fit) else [])]
    rows = [
        [
            arrow(arc),
            output.number(arc.gain),
            *([f"{arc.strength:.2f}", f"{arc.direction:.2f}"] if resamples(fit) else []),
        ]
        for arc in fit.arcs[:MOST_ARCS]
    ]
    output.show_table(head, rows)
    if len(fit.arcs) > MOST_ARCS:
        output.show_pairs([("…", f"and {len(fit.arcs) - MOST_ARCS} more, less sure than these")])


def _doubts(fit: StructureFitInfo, asked: Asked) -> Iterable[tuple[str, str]]:
    """What is least certain, in a line each."""
    if len(fit.arcs) > MOST_DOUBTS:
        yield "least certain", ", ".join(_with_reason(arc, fit) for arc in fit.least_certain(MOST_DOUBTS))
    missed = nearly(fit)[:MOST_DOUBTS]
    if missed:
        yield "nearly joined", ", ".join(f"{_pair(arc)} (strength {arc.strength:.2f})" for arc in missed)
    turnable = either_way(fit, asked.knowledge)
    if turnable:
        more = f" and {len(turnable) - MOST_ARCS} more" if len(turnable) > MOST_ARCS else ""
        yield "either way", ", ".join(" — ".join(pair) for pair in turnable[:MOST_ARCS]) + more
    weakest = [f"{row_name(row.variable, row.given)} {output.number(row.cases)}" for row in weakest_rows(fit)]
    if weakest:
        yield "fewest cases", ", ".join(weakest)
    if asked.unchecked:
        yield "not checked", asked.unchecked


def _pair(arc: ArcStrength) -> str:
    return " — ".join(sorted((arc.parent, arc.child)))


def _with_reason(arc: LearnedArc, fit: StructureFitInfo) -> str:
    why = f"strength {arc.strength:.2f}" if resamples(fit) else f"gain {output.number(arc.gain)}"
    return f"{arrow(arc)} ({why})"


def _show_check(checked: HoldoutScore) -> None:
    def beside(name: str, other: BaselineComparison) -> list[str]:
        return [name, output.number(other.log_likelihood), f"{other.ahead:.3g} ± {other.error:.2g}"]

    output.show_table(
        [f"{checked.rows} rows held out", "ln P per case", "learned is ahead by"],
        [
            ["learned", output.number(checked.log_likelihood), ""],
            beside(f"naive, around {checked.center}", checked.naive),
            beside("empty", checked.empty),
        ],
    )


def show_columns(prepared: PreparedData, notes: Iterable[str]) -> None:
    """What became of the columns, and what else to know."""
    if prepared.cuts:
        output.gap()
        rows = [[name, ", ".join(map(output.number, cuts))] for name, cuts in prepared.cuts.items()]
        output.show_table(["column", "cut at"], rows)
    pairs = [("left out", why) for why in prepared.left_out.values()]
    pairs += [("note", note) for note in notes]
    if pairs:
        output.gap()
        output.show_pairs(pairs)


### for machines


def show_json(fit: StructureFitInfo, checked: HoldoutScore | None, asked: Asked) -> None:
    """All of it as one object."""
    output.show_json(
        {
            "rows": fit.table.n_rows,
            "weight": fit.table.total_weight,
            "missing": fit.missing,
            "hidden": {name: list(fit.network.states(name)) for name in hidden(fit)},
            "hidden_gain": fit.expectation and fit.expectation.hidden_gain,
            "method": fit.method,
            "score": {"name": score_name(fit.scored_by), "value": fit.score},
            "arcs": [asdict(arc) for arc in fit.arcs],
            "tests": fit.tests and fit.tests.tests,
            "resamples": resamples(fit),
            "least_certain": [asdict(arc) for arc in fit.least_certain()],
            "nearly_joined": [asdict(arc) for arc in nearly(fit)],
            "either_way": either_way(fit, asked.knowledge),
            "fewest_cases": [asdict(row) for row in weakest_rows(fit)],
            "held_out": checked and asdict(checked),
            "cuts": fit.prepared.cuts,
            "left_out": fit.prepared.left_out,
            "notes": fit.notes,
            "passes": fit.passes,
            "seconds": fit.seconds,
            "ended_by": asked.ended,
        }
    )


### what both tell


def arrow(arc: LearnedArc) -> str:
    """An arc as it is written."""
    return f"{arc.parent} → {arc.child}"


def score_name(score: StructureScore) -> str:
    """A score as it is asked for."""
    return f"{score.name}:{score.cases:g}" if score.name in {"bdeu", "bds"} else score.name


def counted(table: Any) -> str:
    """How many there are, and what they weigh."""
    plain = (
        table.sample_weight if hasattr(table, "sample_weight") else table.weight
    ) is None  # of a table, of a source
    weight = "" if plain else f", which count as {output.amount(table.total_weight)}"
    return f"{table.n_rows}{weight}"


def resamples(fit: StructureFitInfo) -> int:
    """How many there were."""
    return 0 if fit.strengths is None else fit.strengths.rounds


def hidden(fit: StructureFitInfo) -> list[str]:
    """Variables that no row shows."""
    return [name for name in fit.network.names if name not in fit.table.schema]


def nearly(fit: StructureFitInfo) -> list[ArcStrength]:
    """Pairs that are not joined but were by many resamples, the strongest first."""
    joined = {frozenset(arc) for arc in fit.dag.arcs}
    pairs = [] if fit.strengths is None else fit.strengths.table()
    return [arc for arc in pairs if arc.strength >= MISSED and frozenset((arc.parent, arc.child)) not in joined]


def either_way(fit: StructureFitInfo, knowledge: BackgroundKnowledge) -> list[list[str]]:
    """Arcs whose direction no rows can tell; none where it was known."""
    from bayeslearn.network.structure.algorithms import METHODS

    if METHODS[fit.method].needs or knowledge.directs:
        return []
    return sorted(sorted(pair) for pair in fit.dag.cpdag().undirected)


def weakest_rows(fit: StructureFitInfo) -> list[Any]:
    """The rows of tables that rest on the fewest cases."""
    from bayeslearn.network.parameters.credible_intervals import supports

    return sorted(supports(fit.network), key=lambda row: row.cases)[:MOST_DOUBTS]
