"""A picture before it is painted: where nodes stand, what names and bars they show, and where arcs run."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayeslearn import validation
from bayeslearn.errors import CapacityError
from bayeslearn.network.dag import DAG
from bayeslearn.network.inference.evidence import as_evidence, observe
from bayeslearn.network.visualization.layout import GAP, Layout, layered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.cpt import CPT


#: Heights in pixels: of the letters, of the line with the name, of a state, and of the room below the last.
NAME_SIZE, STATE_SIZE = 13.0, 11.0
HEAD, LINE, FOOT, SIDE = 24.0, 17.0, 6.0, 9.0

#: The height of the density of a number, and its points.
CURVE, CURVE_POINTS = 34.0, 48

#: The same of compact cards, which hold a name only, and where the letters stand in either.
COMPACT_NAME_SIZE, COMPACT_HEAD, COMPACT_SIDE = 10.5, 18.0, 6.0
BASE, COMPACT_BASE = 16.5, 12.75

#: Widths of the bar and of the percentage, and what a name and a state may take before they are cut.
BAR, PERCENT = 56.0, 48.0
LONGEST_NAME, LONGEST_STATE, COMPACT_LONGEST = 190.0, 110.0, 160.0

#: Characters that XML cannot hold, and line breaks.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Line:
    """A state, or what is left of many, with its probability."""

    label: str
    p: float
    rest: bool = False


@dataclass(frozen=True)
class Card:
    """One node: its name, its lines, and whether it was observed."""

    name: str
    lines: tuple[Line, ...] = ()
    observed: bool = False
    state: str = ""
    compact: bool = False
    #: Of a number: heights of its density from 0 to 1, at equal steps, and its mean and standard deviation as text.
    curve: tuple[float, ...] = ()
    caption: str = ""

    @property
    def title(self) -> str:
        """The line at the top; without bars it has the observed state too."""
        return self.name if self.lines or self.curve or not self.observed else f"{self.name} = {self.state}"

    @property
    def letters(self) -> float:
        """The size of the letters of the name."""
        return COMPACT_NAME_SIZE if self.compact else NAME_SIZE

    @property
    def base(self) -> float:
        """How far below the upper edge the name stands."""
        return COMPACT_BASE if self.compact else BASE

    @property
    def label_width(self) -> float:
        """The column of the states."""
        return max((width(line.label, STATE_SIZE) for line in self.lines), default=0.0)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the box."""
        head = width(self.title, self.letters, bold=True)
        if self.compact:
            return round(head + 2 * COMPACT_SIDE), COMPACT_HEAD
        if self.curve:
            return round(
                max(head, BAR + PERCENT, width(self.caption, STATE_SIZE)) + 2 * SIDE
            ), HEAD + CURVE + LINE + FOOT
        if not self.lines:
            return round(head + 2 * SIDE), HEAD
        body = self.label_width + 6 + BAR + PERCENT
        return round(max(head, body) + 2 * SIDE), HEAD + LINE * len(self.lines) + FOOT


def card_of(cpt: CPT, evidence: Mapping[str, Any], belief: Any, rows: int, *, compact: bool = False) -> Card:
    """The card of a variable: with bars if a belief is given, at most `rows` of them; else it may be compact."""
    card = name_card(cpt.name, compact=compact and belief is None)
    seen = cpt.name in evidence
    state = fitted(str(evidence[cpt.name]), card.letters, LONGEST_STATE) if seen else ""
    if hasattr(belief, "pdf"):
        return replace(
            card, curve=curve_of(belief), caption=f"{belief.mean:.4g} ± {belief.sd:.3g}", observed=seen, state=state
        )
    return replace(card, lines=() if belief is None else _lines(belief, rows), observed=seen, state=state)


def curve_of(posterior: Any) -> tuple[float, ...]:
    """Heights of the density of a number between its quantiles of 0.1 % and 99.9 %, the highest being 1."""
    low, high = posterior.interval(0.998)
    if not high > low:
        return ()
    heights = [float(posterior.pdf(low + (high - low) * i / (CURVE_POINTS - 1))) for i in range(CURVE_POINTS)]
    top = max(heights)
    return tuple(height / top for height in heights) if 0 < top < float("inf") else ()


def name_card(name: str, *, compact: bool) -> Card:
    """The card of a node that shows its name only."""
    size, longest = (COMPACT_NAME_SIZE, COMPACT_LONGEST) if compact else (NAME_SIZE, LONGEST_NAME)
    return Card(fitted(name, size, longest, bold=True), compact=compact)


def _lines(belief: Mapping[Any, float], rows: int) -> tuple[Line, ...]:
    """All states, or the most probable ones in their order and the rest together."""
    shown = set(range(len(belief)))
    values = list(belief.values())
    if len(values) > rows:
        shown = set(sorted(shown, key=lambda i: -values[i])[: rows - 1])
    lines = [
        Line(fitted(str(state), STATE_SIZE, LONGEST_STATE), p)
        for i, (state, p) in enumerate(belief.items())
        if i in shown
    ]
    if len(shown) < len(values):
        rest = sum(p for i, p in enumerate(values) if i not in shown)
        lines.append(Line(f"+{len(values) - len(shown)} more", rest, rest=True))
    return tuple(lines)


def percent(p: float) -> str:
    """A probability in percent: only what is certain is 0% or 100%.

    >>> percent(0.5), percent(1), percent(0.0004), percent(0.9999)
    ('50.0%', '100%', '<0.1%', '>99.9%')
    """
    if p < 1e-12 or p > 1 - 1e-12:
        return f"{round(p):.0%}"
    if p < 0.0005:
        return "<0.1%"
    return ">99.9%" if p >= 0.9995 else f"{p:.1%}"


### widths of text


def printable(text: str) -> str:
    """The text without characters that a picture cannot hold."""
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def width(text: str, size: float, *, bold: bool = False) -> float:
    """About how wide a text is in a plain font of this size, rather too much than too little."""
    return sum(map(_advance, text)) * size * (1.08 if bold else 1.0)


def fitted(text: str, size: float, most: float, *, bold: bool = False) -> str:
    """The text, or as much of its beginning as there is room for, and an ellipsis."""
    text = printable(text)
    if width(text, size, bold=bold) <= most:
        return text
    while text and width(f"{text}…", size, bold=bold) > most:
        text = text[:-1]
    return f"{text}…"


def _advance(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.05
    if sign in "iljtfr.,:;|!'()[] ":
        return 0.38
    if sign in "mwMW@%—…":
        return 0.98
    return 0.74 if sign.isupper() else 0.62


#: With `compact=None`, networks of more variables than this are compact.
MOST_IN_FULL = 30

#: With `bars=None`, networks of more variables than this show names only, compact or not.
MOST_WITH_BARS = 60

#: The room between boxes and between layers of compact pictures, as a part of that of others.
COMPACT_GAP, COMPACT_DROP = 0.45, 0.62

#: Colors that people tell apart whatever their eyes (Okabe and Ito): what is believed is blue, what was seen orange.
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
    network: BayesianNetwork | DAG,
    evidence: Mapping[str, Any] | None = None,
    *,
    bars: bool | None = None,
    rows: int = 6,
    compact: bool | None = None,
) -> Picture:
    """Everything that the picture of a network, or of a graph alone, shows.

    Parameters
    ----------
    network
        A network, or a graph, whose nodes show their names only.
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
    compact = validation.choice("compact", compact, (None, True, False))
    bars = validation.choice("bars", bars, (None, True, False))
    rows = validation.integer("rows", rows, min_value=2)
    if isinstance(network, DAG):
        compact = len(network) > MOST_IN_FULL if compact is None else compact
        return arranged("graph", network, {name: name_card(name, compact=compact) for name in network}, compact=compact)
    evidence = as_evidence(network, evidence)
    seen = {name: o.states[0] for name, o in observe(network, evidence).items() if len(o.states) == 1}
    compact = (len(network) > MOST_IN_FULL and not bars) if compact is None else compact
    bars = bool(bars) if compact or bars is not None else None
    beliefs = _beliefs(network, evidence, seen, bars=bars)
    cards = {cpt.name: card_of(cpt, seen, beliefs.get(cpt.name), rows, compact=compact) for cpt in network}
    return arranged(network.name, network.dag, cards, compact=compact)


def arranged(name: str, dag: DAG, cards: dict[str, Card], *, compact: bool) -> Picture:
    """The picture of cards that are joined by the arcs of a graph."""
    sizes = {node: card.size for node, card in cards.items()}
    wide = any(card.lines for card in cards.values())
    gap, drop = (GAP * COMPACT_GAP, COMPACT_DROP) if compact else (GAP if wide else GAP / 2, 1.0)
    return Picture(name, cards, layered(dag, sizes, gap=gap, drop=drop))


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
    discrete = {name: state for name, state in seen.items() if hasattr(network[name].variable, "states")}
    certain = {name: {s: float(s == state) for s in network.states(name)} for name, state in discrete.items()}
    return {**found, **certain}
