"""A picture before it is painted: which card stands where, and where the arcs run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn import validation
from bayeslearn.errors import CapacityError
from bayeslearn.network.drawing.cards import Card, card_of
from bayeslearn.network.drawing.layout import GAP, Layout, layered
from bayeslearn.network.inference.arguments import as_evidence
from bayeslearn.network.inference.evidence import observe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.network.network import BayesianNetwork

#: With `compact=None`, networks of more variables than this are compact.
MOST_IN_FULL = 30

#: With `bars=None`, networks of more variables than this show names only, compact or not.
MOST_WITH_BARS = 60

#: The room between boxes and between layers of compact pictures, as a part of that of others.
COMPACT_GAP, COMPACT_DROP = 0.45, 0.62

#: Colours that people tell apart whatever their eyes (Okabe and Ito): what is believed is blue, what was seen orange.
INK, ARC, PAPER = "#1f2933", "#5f6b7a", "#ffffff"
BELIEVED, SEEN, REST, TRACK = "#0072b2", "#e69f00", "#9aa5b1", "#e9edf2"
EDGE, FILL, SEEN_EDGE, SEEN_FILL = "#8592a3", "#f8fafc", "#b87800", "#fff4d9"


@dataclass(frozen=True)
class Picture:
    """The cards of all nodes, in the order of the network, and the layout."""

    name: str
    cards: dict[str, Card]
    layout: Layout


def picture(
    network: BayesianNetwork,
    evidence: Mapping[str, Any] | None = None,
    *,
    bars: bool | None = None,
    rows: int = 6,
    compact: bool | None = None,
) -> Picture:
    """Everything that the picture of a network shows.

    Parameters
    ----------
    evidence
        States, numbers or ranges by name of variable: the bars are the beliefs given these, and nodes with one observed
        state stand out.
    bars
        True draws the beliefs in all nodes, False draws names only. None draws beliefs in pictures that are not compact
        and have at most 60 variables, if exact inference is within its memory.
    rows
        Most lines in a node: of longer lists the most probable states are shown, and the others together.
    compact
        True draws small boxes close to each other, with names only unless `bars` asks for beliefs; False does not. None
        is compact for networks of more than 30 variables, unless `bars` asks for beliefs.
    """
    validation.choice("compact", compact, (None, True, False))
    validation.choice("bars", bars, (None, True, False))
    rows = validation.integer("rows", rows, least=2)
    evidence = as_evidence(network, evidence)
    seen = {name: o.states[0] for name, o in observe(network, evidence).items() if len(o.states) == 1}
    compact = (len(network) > MOST_IN_FULL and not bars) if compact is None else compact
    bars = bool(bars) if compact or bars is not None else None
    beliefs = _beliefs(network, evidence, seen, bars=bars)
    cards = {cpt.name: card_of(cpt, seen, beliefs.get(cpt.name), rows, compact=compact) for cpt in network}
    sizes = {name: card.size for name, card in cards.items()}
    gap, drop = (GAP * COMPACT_GAP, COMPACT_DROP) if compact else (GAP if beliefs else GAP / 2, 1.0)
    return Picture(network.name, cards, layered(network.dag, sizes, gap=gap, drop=drop))


def _beliefs(
    network: BayesianNetwork, evidence: dict[str, Any], seen: dict[str, Any], *, bars: bool | None
) -> dict[str, dict[Any, float]]:
    """Distributions by name, of what was seen too; none when names are enough."""
    if bars is False or (bars is None and len(network) > MOST_WITH_BARS):
        return {}
    try:
        found = network.query(evidence).beliefs
    except CapacityError:
        if bars:
            raise
        return {}
    certain = {name: {s: float(s == state) for s in network.states(name)} for name, state in seen.items()}
    return {**found, **certain}
