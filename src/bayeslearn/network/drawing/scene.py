"""A picture before it is painted: which card stands where, and where the arcs run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn import validation
from bayeslearn.errors import CapacityError
from bayeslearn.network.drawing.cards import Card, card_of
from bayeslearn.network.drawing.layout import GAP, Layout, layered
from bayeslearn.network.inference.evidence import observe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.network.network import BayesianNetwork

#: With `bars=None`, networks of more variables than this show names only.
MOST_WITH_BARS = 60

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
) -> Picture:
    """Everything that the picture of a network shows.

    Parameters
    ----------
    evidence
        States, numbers or ranges by name of variable: the bars are the beliefs given these, and nodes with one observed
        state stand out.
    bars
        True draws the beliefs in all nodes, False draws names only. None draws beliefs in networks of at most 60
        variables, if exact inference is within its memory.
    rows
        Most lines in a node: of longer lists the most probable states are shown, and the others together.
    """
    validation.choice("bars", bars, (None, True, False))
    rows = validation.integer("rows", rows, least=2)
    evidence = dict(evidence or {})
    seen = {name: o.states[0] for name, o in observe(network, evidence).items() if len(o.states) == 1}
    beliefs = _beliefs(network, evidence, seen, bars=None if bars is None else bool(bars))
    cards = {cpt.name: card_of(cpt, seen, beliefs.get(cpt.name), rows) for cpt in network}
    sizes = {name: card.size for name, card in cards.items()}
    return Picture(network.name, cards, layered(network.dag, sizes, gap=GAP if beliefs else GAP / 2))


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
