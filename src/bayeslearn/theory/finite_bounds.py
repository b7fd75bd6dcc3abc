"""How many examples make a finite class learnable, and the same theorem solved for anything else in it.

    consistent learner     P(some h of error > ε agrees with m examples)       ≤ |H| e^(−εm)     = δ
    agnostic learner       P(some h errs over ε more often than it was seen to) ≤ |H| e^(−2ε²m)  = δ

so with r = ε or 2ε², ln δ = ln|H| − r m, whichever of the four is wanted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.theory.bound import Bound, down, probability, sample, shown, sure, the_unknown, up
from bayeslearn.theory.sizes import Size

if TYPE_CHECKING:
    from collections.abc import Callable


def pac(size: Any = None, *, epsilon: float | None = None, delta: float | None = None, m: int | None = None) -> Bound:
    """Of |H|, ε, δ and m, the one that is left out: for learners whose hypothesis agrees with every example.

    >>> print(pac(Size.conjunctions(10), epsilon=0.1, delta=0.05))
    With 140 examples, each of 3^10 = 59,049 hypotheses that agrees with them all has a true error of at most 0.1,
    with probability 0.95 or more.
    m ≥ (1/ε)(ln|H| + ln(1/δ)) = (1/0.1)(10.99 + 2.996) = 139.8
    >>> round(float(pac(973, delta=0.05, m=100)), 4)                                                # ε
    0.0988
    """
    return _solved(CONSISTENT, size, epsilon, delta, m)


def agnostic(
    size: Any = None, *, epsilon: float | None = None, delta: float | None = None, m: int | None = None
) -> Bound:
    """The same for learners that take the hypothesis of least training error, whatever the target is (Hoeffding).

    >>> int(agnostic(Size.conjunctions(10), epsilon=0.1, delta=0.05))
    700
    """
    return _solved(AGNOSTIC, size, epsilon, delta, m)


@dataclass(frozen=True)
class Law:
    """ln δ = ln|H| − rate(ε) m, and how it reads."""

    rate: Callable[[float], float]
    epsilon: Callable[[float], float]
    #: The formula for each quantity, and for its numbers.
    formulas: dict[str, tuple[str, str]]
    sentence: str


CONSISTENT = Law(
    rate=lambda e: e,
    epsilon=lambda rate: rate,
    formulas={
        "m": ("m ≥ (1/ε)(ln|H| + ln(1/δ))", "(1/{e})({L} + {d})"),
        "epsilon": ("ε ≥ (1/m)(ln|H| + ln(1/δ))", "(1/{m})({L} + {d})"),
        "delta": ("δ ≥ |H| e^(−εm)", "e^({L} − {e}·{m})"),
        "size": ("ln|H| ≤ εm − ln(1/δ)", "{e}·{m} − {d}"),
    },
    sentence="each of {size} hypotheses that agrees with them all has a true error of at most {epsilon}",
)
AGNOSTIC = Law(
    rate=lambda e: 2 * e * e,
    epsilon=lambda rate: math.sqrt(rate / 2),
    formulas={
        "m": ("m ≥ (1/2ε²)(ln|H| + ln(1/δ))", "(1/(2·{e}²))({L} + {d})"),
        "epsilon": ("ε ≥ √((ln|H| + ln(1/δ)) / 2m)", "√(({L} + {d}) / (2·{m}))"),
        "delta": ("δ ≥ |H| e^(−2ε²m)", "e^({L} − 2·{e}²·{m})"),
        "size": ("ln|H| ≤ 2ε²m − ln(1/δ)", "2·{e}²·{m} − {d}"),
    },
    sentence="none of {size} hypotheses has a true error more than {epsilon} above its training error",
)


def _solved(law: Law, size: Any, epsilon: float | None, delta: float | None, m: int | None) -> Bound:
    wanted = the_unknown(size=size, epsilon=epsilon, delta=delta, m=m)
    space = None if size is None else Size.of(size)
    given: dict[str, Any] = {
        "epsilon": None if epsilon is None else probability("epsilon", epsilon),
        "delta": None if delta is None else probability("delta", delta),
        "m": None if m is None else sample("m", m),
    }
    exact = _value(law, wanted, None if space is None else space.log, **given)
    value: float = up(exact) if wanted == "m" else exact
    holds = exact >= 0 if wanted == "size" else wanted == "m" or exact < 1
    told = given | {"size": _largest(exact) if space is None else str(space)}
    if wanted != "size":
        told[wanted] = value
    formula, pattern = law.formulas[wanted]
    numbers = {
        "e": told["epsilon"], "m": told["m"], "L": space and space.log, "d": delta and math.log(1 / delta)
    }  # fmt: skip
    filled = pattern.format(**{key: shown(x) for key, x in numbers.items() if x is not None})
    return Bound(
        quantity={"size": "ln|H|"}.get(wanted, wanted),
        value=value,
        formula=formula,
        filled=f"{filled} = {shown(exact)}",
        sentence=_sentence(law, told) if holds else _nothing(wanted, exact),
        numbers={**({} if space is None else {"ln|H|": space.log, "size": str(space)}), **_left(given)},
        holds=holds,
    )


def _value(law: Law, wanted: str, log: Any, epsilon: Any, delta: Any, m: Any) -> float:
    """ln δ = ln|H| − rate m, turned round."""
    if wanted == "m":
        return (log + math.log(1 / delta)) / law.rate(epsilon)
    if wanted == "epsilon":
        return law.epsilon((log + math.log(1 / delta)) / m)
    if wanted == "delta":
        return math.exp(min(log - law.rate(epsilon) * m, 700.0))
    return law.rate(epsilon) * m - math.log(1 / delta)


def _sentence(law: Law, told: dict[str, Any]) -> str:
    words = {"size": told["size"], "epsilon": shown(told["epsilon"])}
    many = "1 example" if told["m"] == 1 else f"{shown(told['m'])} examples"
    return f"With {many}, {law.sentence.format(**words)}, with probability {sure(told['delta'])} or more."


def _largest(log: float) -> str:
    if log < 30:
        return f"at most {down(math.exp(log)):,}"
    return f"at most e^{log:.4g}"


def _nothing(wanted: str, exact: float) -> str:
    what = {"size": "no class is small enough", "epsilon": "the error may be anything", "delta": "it may well fail"}
    return f"The bound says nothing here: {what[wanted]} ({wanted} would be {shown(exact)})."


def _left(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}
