"""How many mistakes a learner makes before it has the concept, bounded before it starts.

Find-S      n + 1        conjunctions of n attributes: the first positive example, then one constraint a mistake
Halving     log₂|H|      each mistake of the majority at least halves what is left
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn.hypotheses import Attributes, Conjunction
from bayeslearn.theory.bound import Bound, down, shown
from bayeslearn.theory.sizes import Size, whole
from bayeslearn.theory.trials import Round, Trial

if TYPE_CHECKING:
    from collections.abc import Iterable


def find_s_mistakes(n: int) -> Bound:
    """The most mistakes of Find-S on conjunctions of n attributes."""
    n = whole("n", n, least=1)
    return Bound(
        quantity="mistakes",
        value=n + 1,
        formula="M_Find-S ≤ n + 1",
        filled=f"{n} + 1 = {n + 1}",
        sentence=f"Find-S makes at most {n + 1:,} mistakes before it has any conjunction of {n:,} attributes.",
        numbers={"n": n},
    )


def halving_mistakes(size: Any) -> Bound:
    """The most mistakes of the majority vote over a finite class.

    >>> print(halving_mistakes(973))
    The majority vote over 973 hypotheses makes at most 9 mistakes before it has the right one.
    M_Halving ≤ log₂|H| = 9.926
    """
    space = Size.of(size)
    return Bound(
        quantity="mistakes",
        value=down(space.log2),
        formula="M_Halving ≤ log₂|H|",
        filled=shown(space.log2),
        sentence=f"The majority vote over {space} hypotheses makes at most {shown(down(space.log2))} mistakes "
        "before it has the right one.",
        numbers={"size": str(space), "log₂|H|": space.log2},
    )


def find_s_worst_case(attributes: Any) -> Trial:
    """n + 1 mistakes of Find-S: everything belongs to the concept, and each row differs from the first in one more.

    >>> print(find_s_worst_case({"sky": ["sunny", "rainy"], "air": ["warm", "cold"]}))
    3 mistakes in 3 rounds
      ('sunny', 'warm'): 1, not as guessed
      ('rainy', 'warm'): 1, not as guessed
      ('sunny', 'cold'): 1, not as guessed
    """
    known = Attributes.of(attributes)
    first = tuple(states[0] for states in known.states)
    others = [(*first[:i], states[1], *first[i + 1 :]) for i, states in enumerate(known.states) if len(states) > 1]
    return find_s_trial(known, [(row, True) for row in [first, *others]])


def find_s_trial(attributes: Any, examples: Iterable[tuple[Any, bool]]) -> Trial:
    """Find-S on rows that come one by one: each is guessed before its label is told."""
    h, rounds = Conjunction.nothing(Attributes.of(attributes)), []
    for row, label in examples:
        rounds.append(Round(row, h(row), bool(label)))
        if label:
            h = h.generalise(row)
    return Trial(tuple(rounds))
