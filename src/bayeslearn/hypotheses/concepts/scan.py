"""Examples taken in order, and the ones at which no conjunction would be left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.hypotheses.concepts.conjunction import Conjunction, covering, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.hypotheses.concepts.examples import Examples


@dataclass(frozen=True)
class Conflict:
    """An example that contradicts the ones before it."""

    position: int
    reason: str


def conflicts_in_order(examples: Examples, s: NDArray[np.intp], negatives: NDArray[np.intp]) -> Iterator[Conflict]:
    """Go through the examples from the most specific hypothesis `s` on; an example in conflict is passed over.

    Only a positive example that s does not cover changes anything, and at most one time more than there are attributes:
    between two changes all examples are looked at together.
    """
    codes, labels = examples.codes, examples.labels
    kept = [negatives]
    i = 0
    while i < len(codes):
        covered = covering(s[None, :], codes[i:])[:, 0]
        before = i
        for j in (i + np.flatnonzero(covered != labels[i:])).tolist():
            if not labels[j]:
                yield Conflict(j, f"{_told(examples, s)}, the most specific for the positive examples, covers it")
                continue
            wider = joined(s, codes[j])
            kept.append(codes[before:j][~labels[before:j] & ~covered[before - i : j - i]])
            before = j
            clash = _first_covered(wider, kept)
            if clash is None:
                s, i = wider, j + 1
                break
            yield Conflict(j, f"{_told(examples, wider)} would have to cover it, and covers {_row(examples, clash)}")
        else:
            return


def _first_covered(h: NDArray[np.intp], blocks: list[NDArray[np.intp]]) -> NDArray[np.intp] | None:
    for block in blocks:
        found = covering(h[None, :], block)[:, 0]
        if found.any():
            return block[int(found.argmax())]
    return None


def _told(examples: Examples, codes: NDArray[np.intp]) -> str:
    return str(Conjunction(examples.attributes, tuple(codes.tolist())))


def _row(examples: Examples, codes: NDArray[np.intp]) -> str:
    values = ", ".join(str(value) for value in examples.attributes.decode(codes).values())
    return f"the negative example ({values})"


def keep_consistent(examples: Examples) -> NDArray[np.bool_]:
    """Which examples can be kept, in order, so that some conjunction agrees with all of them."""
    keep = np.ones(len(examples), dtype=bool)
    nothing = np.array(Conjunction.nothing(examples.attributes).codes)
    for conflict in conflicts_in_order(examples.complete(), nothing, np.empty((0, len(nothing)), dtype=np.intp)):
        keep[conflict.position] = False
    return keep
