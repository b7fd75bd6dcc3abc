"""Why: the neighbours that are heard, how far they are, what they weigh, and what each of them says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.neighbours import reading
from bayeslearn.tables import Discrete

if TYPE_CHECKING:
    from bayeslearn.neighbours.model import Neighbours


@dataclass(frozen=True)
class Voice:
    """One example: its number, its distance, how many cases it counts as, what it says, and its cells."""

    row: int
    distance: float
    weight: float
    says: Any
    cells: dict[str, Any]


@dataclass(frozen=True)
class Explanation:
    """The answer for one row and the voices it rests on, the nearest first."""

    target: str
    predicted: Any
    #: P(class) by class, or the bounds of a number in which it lies with 95 %.
    belief: dict[Any, float] | tuple[float, float]
    voices: tuple[Voice, ...]

    def told(self, name: str = "") -> str:
        """The explanation in words."""
        if isinstance(self.belief, dict):
            head = f"{self.target} = {self.predicted}  (P = {self.belief[self.predicted]:.4g})"
        else:
            head = f"{self.target} = {self.predicted:.6g}  (95 %: {self.belief[0]:.6g} to {self.belief[1]:.6g})"
        lines = [
            f"  example {v.row} at {v.distance:.4g}, weight {v.weight:.4g}, says {shown(v.says)}:  "
            + ", ".join(f"{column} {shown(cell)}" for column, cell in v.cells.items())
            for v in self.voices
        ]
        return "\n".join([f"{name}{head}", *lines])


def shown(cell: Any) -> str:
    """A cell as people write it."""
    if cell is None:
        return "?"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def explanations(model: Neighbours, data: Any, most: int = 20) -> list[Explanation]:
    """One for each row; of more voices than `most` the nearest are told."""
    rows = reading.new_rows(model.examples.schema, data)
    predicted = model.predict(rows)
    found = []
    for distances, examples, weights in model.heard(rows):
        for d, e, w in zip(distances, examples, weights, strict=True):
            heard = [(i, x, y) for i, x, y in zip(e.tolist(), d.tolist(), w.tolist(), strict=True) if y > 0][:most]
            found.append(tuple(voice(model, *each) for each in heard))
    beliefs = beliefs_of(model, rows)
    return [
        Explanation(model.target.name, p.item() if hasattr(p, "item") else p, b, voices)
        for p, b, voices in zip(predicted, beliefs, found, strict=True)
    ]


def voice(model: Neighbours, row: int, distance: float, weight: float) -> Voice:
    """One neighbour."""
    said = model.said[row].item()
    says = model.target.states[said] if isinstance(model.target, Discrete) else said
    return Voice(row, distance, weight, says, model.examples.row(row))


def beliefs_of(model: Neighbours, rows: Any) -> list[Any]:
    """How sure each answer is."""
    if isinstance(model.target, Discrete):
        return [dict(zip(model.target.states, p, strict=True)) for p in model.predict_proba(rows).tolist()]
    low, high = model.predict_interval(rows)
    return list(zip(low.tolist(), high.tolist(), strict=True))
