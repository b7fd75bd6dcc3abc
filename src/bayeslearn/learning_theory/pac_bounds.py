"""How many examples make a class learnable, and the same theorems solved for any other quantity in them.

Finite classes, with r = ε or 2ε², obey ln δ = ln|H| − r m:

    consistent learner     P(some h of error > ε agrees with m examples)              ≤ |H| e^(−εm)     = δ
    agnostic learner       P(some h has an error over ε more than its training error) ≤ |H| e^(−2ε²m)   = δ

Classes of a VC dimension, which may be infinite:

    enough        m ≥ (1/ε)(4 log₂(2/δ) + 8 VC log₂(13/ε))
    too few       m < max[(1/ε) ln(1/δ), (VC − 1)/(32ε)]          some distribution and target defeat any learner
    networks      VC ≤ 2 d s log₂(es)                             s ≥ 2 units, each from a class of dimension d
    perceptrons   VC ≤ 2 (r + 1) s log₂(es)                       each of r inputs: d = r + 1

The second holds for VC ≥ 2, ε < 1/8 and δ < 1/100. A result has the formula, the numbers put in, and what follows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.learning_theory.hypothesis_counts import HypothesisCount, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: The errors between which a curve is drawn, and how many of them.
ERRORS, STEPS = (0.01, 0.5), 60

#: The smallest error or probability that is worked with.
SMALLEST = 1e-100


@dataclass(frozen=True)
class Bound:
    """What a theorem says of one quantity once the others are given.

    `quantity` is m, epsilon, delta, dimension or ln|H|; `inputs` are the other numbers, and `substituted` is the
    formula with all of them. `is_attainable` is False where the theorem is void, as when a probability would be
    bounded by more than one.
    """

    quantity: str
    value: float
    formula: str
    substituted: str
    sentence: str
    inputs: Mapping[str, Any]
    is_attainable: bool = True

    def __str__(self) -> str:
        return f"{self.summary()}\n{self.formula} = {self.substituted}"

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def summary(self) -> str:
        """What follows, as a sentence."""
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        words = {
            "formula": self.formula,
            "filled": self.substituted,
            "sentence": self.sentence,
            "holds": self.is_attainable,
        }
        return {"quantity": self.quantity, "value": self.value, **words, "given": dict(self.inputs)}


def probability(name: str, value: float) -> float:
    """A number strictly between 0 and 1, and not so small that its square is none."""
    value = validation.number(name, value, above=0, below=1)
    if value < SMALLEST:
        raise ParameterError(f"`{name}` must be at least {SMALLEST:g}, got {value:g}", value=value)
    return value


def the_unknown(**given: Any) -> str:
    """The one name that has no value, as its symbol: m for a number of examples, size for one of hypotheses."""
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        names = ", ".join(f"`{name}`" for name in given)
        left = "none" if not missing else " and ".join(f"`{name}`" for name in missing)
        raise ParameterError(f"give all but one of {names}; left out: {left}", hint="the one left out is worked out")
    return {"n_examples": "m", "n_hypotheses": "size"}.get(missing[0], missing[0])


def up(x: float) -> int:
    """The least whole number that is at least x, as far as floats can tell."""
    if not math.isfinite(x):
        raise CapacityError("the number of examples is more than a float can hold (1.8e308)", hint="allow more error")
    return max(1, math.ceil(x - 1e-12 * abs(x)))


def down(x: float) -> int:
    """The largest whole number that is at most x, as far as floats can tell."""
    return math.floor(x + 1e-12 * abs(x))


def sample(name: str, value: int) -> int:
    """A number of examples."""
    value = whole(name, value, least=1)
    if value > 10**300:
        raise ParameterError(f"`{name}` must be at most 10^300, got a number of {value.bit_length()} bits")
    return value


def sure(delta: float) -> str:
    """1 − δ, where a tiny δ is not rounded away."""
    return f"1 − {delta:.2g}" if delta < 1e-4 else f"{1 - delta:.4g}"


def shown(x: float) -> str:
    """A number for a sentence: four digits, whole ones in full."""
    if isinstance(x, int):
        return f"{x:,}" if abs(x) < 10**15 else f"{float(x):.4g}"
    return f"{x:.4g}"


### finite classes


def pac_bound(
    n_hypotheses: Any = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    n_examples: int | None = None,
) -> Bound:
    """Of |H|, ε, δ and m, the one that is left out: for learners whose hypothesis agrees with every example.

    >>> print(pac_bound("conjunctions:10", epsilon=0.1, delta=0.05))
    With 140 examples, each of 3^10 = 59,049 hypotheses that agrees with them all has a true error of at most 0.1,
    with probability 0.95 or more.
    m ≥ (1/ε)(ln|H| + ln(1/δ)) = (1/0.1)(10.99 + 2.996) = 139.8
    >>> round(float(pac_bound(973, delta=0.05, n_examples=100)), 4)                                                # ε
    0.0988
    """
    return _solved(CONSISTENT, n_hypotheses, epsilon, delta, n_examples)


def agnostic_bound(
    n_hypotheses: Any = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    n_examples: int | None = None,
) -> Bound:
    """The same for learners that take the hypothesis of least training error, whatever the target is (Hoeffding).

    >>> int(agnostic_bound("conjunctions:10", epsilon=0.1, delta=0.05))
    700
    """
    return _solved(AGNOSTIC, n_hypotheses, epsilon, delta, n_examples)


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
    wanted = the_unknown(n_hypotheses=size, epsilon=epsilon, delta=delta, n_examples=m)
    space = None if size is None else HypothesisCount.from_number(size)
    given: dict[str, Any] = {
        "epsilon": None if epsilon is None else probability("epsilon", epsilon),
        "delta": None if delta is None else probability("delta", delta),
        "m": None if m is None else sample("n_examples", m),
    }
    exact = _finite_value(law, wanted, None if space is None else space.log, **given)
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
        substituted=f"{filled} = {shown(exact)}",
        sentence=_sentence(law, told) if holds else _nothing(wanted, exact),
        inputs={**({} if space is None else {"ln|H|": space.log, "size": str(space)}), **_left(given)},
        is_attainable=holds,
    )


def _finite_value(law: Law, wanted: str, log: Any, epsilon: Any, delta: Any, m: Any) -> float:
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


### classes of a VC dimension


#: The upper bound, turned to each of its quantities; ε has no closed form.
FORMULAS = {
    "m": ("m ≥ (1/ε)(4 log₂(2/δ) + 8 VC log₂(13/ε))", "(1/{e})(4·{a} + 8·{d}·{b})"),
    "epsilon": ("ε ≥ (1/m)(4 log₂(2/δ) + 8 VC log₂(13/ε))", "(1/{m})(4·{a} + 8·{d}·{b})"),
    "delta": ("δ ≥ 2^(1 − (εm − 8 VC log₂(13/ε))/4)", "2^(1 − ({e}·{m} − 8·{d}·{b})/4)"),
    "dimension": ("VC ≤ (εm − 4 log₂(2/δ)) / (8 log₂(13/ε))", "({e}·{m} − 4·{a}) / (8·{b})"),
}


def vc_bound(
    dimension: float | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    n_examples: int | None = None,
) -> Bound:
    """Of the VC dimension, ε, δ and m, the one that is left out: for learners that agree with every example.

    >>> print(vc_bound(3, epsilon=0.1, delta=0.05))                                            # half-planes
    With 1,899 examples, each hypothesis of a class of VC dimension 3 that agrees with them all has a true error of
    at most 0.1, with probability 0.95 or more.
    m ≥ (1/ε)(4 log₂(2/δ) + 8 VC log₂(13/ε)) = (1/0.1)(4·5.322 + 8·3·7.022) = 1898
    """
    wanted = the_unknown(dimension=dimension, epsilon=epsilon, delta=delta, n_examples=n_examples)
    given: dict[str, Any] = {
        "dimension": None if dimension is None else dimension_of(dimension),
        "epsilon": None if epsilon is None else probability("epsilon", epsilon),
        "delta": None if delta is None else probability("delta", delta),
        "m": None if n_examples is None else sample("n_examples", n_examples),
    }
    exact, holds = _vc_value(wanted, **given)
    value: float = up(exact) if wanted == "m" else max(down(exact), 0) if wanted == "dimension" else exact
    told = given | {wanted: value}
    formula, pattern = FORMULAS[wanted]
    numbers = {
        "e": told["epsilon"],
        "m": told["m"],
        "d": told["dimension"],
        "a": math.log2(2 / told["delta"]) if told["delta"] > 0 else math.inf,
        "b": math.log2(13 / told["epsilon"]),
    }
    sentence = (
        f"With {shown(told['m'])} examples, each hypothesis of a class of VC dimension {shown(told['dimension'])} that "
        f"agrees with them all has a true error of at most {shown(told['epsilon'])}, "
        f"with probability {sure(told['delta'])} or more."
    )
    return Bound(
        quantity=wanted,
        value=value,
        formula=formula,
        substituted=f"{pattern.format(**{key: shown(x) for key, x in numbers.items()})} = {shown(exact)}",
        sentence=sentence if holds else f"The bound says nothing here: {wanted} would be {shown(exact)}.",
        inputs={name: x for name, x in given.items() if x is not None},
        is_attainable=holds,
    )


def vc_lower_bound(
    dimension: float, *, epsilon: float | None = None, delta: float, n_examples: int | None = None
) -> Bound:
    """How many examples are too few for any learner; or, of m examples, how small an error none can promise.

    >>> int(vc_lower_bound(100, epsilon=0.01, delta=0.005))
    530
    """
    wanted = the_unknown(epsilon=epsilon, n_examples=n_examples)
    d, delta = dimension_of(dimension), validation.number("delta", delta, above=0, below=0.01)
    if d < 2:
        raise ParameterError(f"the lower bound is for classes of VC dimension 2 or more, got {shown(d)}")
    # one is max[…] by the other
    if n_examples is not None:
        divisor: float = sample("n_examples", n_examples)
    else:
        divisor = validation.number("epsilon", epsilon or 0, above=0, below=0.125)
    exact = max(math.log(1 / delta), (d - 1) / 32) / divisor
    value: float = up(exact) if wanted == "m" else exact
    error, few = (divisor, value) if wanted == "m" else (value, divisor)
    sentence = (
        f"With fewer than {shown(few)} examples, any learner of a class of VC dimension {shown(d)} has an error above "
        f"{shown(error)} with probability {shown(delta)} or more, for some distribution and target."
    )
    parts = f"max[{shown(math.log(1 / delta))}, {shown((d - 1) / 32)}]"
    return Bound(
        quantity=wanted,
        value=value,
        formula=f"{'m ≥ (1/ε)' if wanted == 'm' else 'ε ≥ (1/m)'} max[ln(1/δ), (VC − 1)/32]",
        substituted=f"(1/{shown(divisor)}) {parts} = {shown(exact)}",
        sentence=sentence if error < 0.125 else f"The bound is for errors below 1/8, and ε would be {shown(error)}.",
        inputs={"dimension": d, "delta": delta, "epsilon" if wanted == "m" else "m": divisor},
        is_attainable=error < 0.125,
    )


def network_dimension(units: int, unit_dimension: float) -> Bound:
    """The most that the VC dimension of a layered network can be: s ≥ 2 units, each of a class of dimension d."""
    s, d = whole("units", units, least=2), dimension_of(unit_dimension)
    exact = 2 * d * s * math.log2(math.e * s)
    return Bound(
        quantity="dimension",
        value=down(exact),
        formula="VC ≤ 2 d s log₂(es)",
        substituted=f"2·{shown(d)}·{shown(s)}·{shown(math.log2(math.e * s))} = {shown(exact)}",
        sentence=f"A layered network of {shown(s)} units, each of a class of VC dimension {shown(d)}, has a VC "
        f"dimension of at most {down(exact):,}.",
        inputs={"units": s, "unit_dimension": d},
    )


def perceptrons_dimension(units: int, inputs: int) -> Bound:
    """The same for perceptrons of r inputs, half-spaces of dimension r + 1.

    >>> int(perceptrons_dimension(10, 5))
    571
    """
    return network_dimension(units, whole("inputs", inputs, least=1) + 1)


def dimension_of(value: float) -> int:
    """A VC dimension: a whole number; an infinite one has no bound."""
    if isinstance(value, float) and math.isinf(value):
        raise ParameterError(
            "a class of infinite VC dimension cannot be learned from any number of examples",
            hint="bias the class: fewer terms, fewer literals, fewer parameters",
        )
    return sample("dimension", value) if value else whole("dimension", value)  # type: ignore[arg-type]


def _vc_value(wanted: str, dimension: Any, epsilon: Any, delta: Any, m: Any) -> tuple[float, bool]:
    if wanted == "m":
        return _enough(dimension, epsilon, delta), True
    if wanted == "epsilon":
        return _error(dimension, delta, m)
    per = math.log2(13 / epsilon)
    if wanted == "delta":
        power = 1 - (epsilon * m - 8 * dimension * per) / 4
        return 2.0 ** min(power, 1000.0), power < 0
    exact = (epsilon * m - 4 * math.log2(2 / delta)) / (8 * per)
    return exact, exact >= 0


def _enough(dimension: int, epsilon: float, delta: float) -> float:
    return (4 * math.log2(2 / delta) + 8 * dimension * math.log2(13 / epsilon)) / epsilon


def _error(dimension: int, delta: float, m: int) -> tuple[float, bool]:
    """The ε at which m examples are just enough: more error always needs fewer of them, so halve the bracket."""
    low, high = 0.0, 1.0
    if _enough(dimension, high, delta) >= m:
        return _enough(dimension, high, delta) / m, False
    while (middle := (low + high) / 2) not in {low, high}:
        low, high = (middle, high) if _enough(dimension, middle, delta) > m else (low, middle)
    return high, True


### plots


def paint_sample_sizes(
    axes: Any, curve: Callable[[float], float], at: tuple[float, float], title: str, between: tuple[float, float]
) -> None:
    """The examples of a bound, by the error allowed, and the point that was asked for."""
    errors = np.geomspace(min(between[0], at[0]), max(between[1], at[0]), STEPS)
    axes.plot(errors, [curve(float(e)) for e in errors])
    axes.plot(*at, marker="o", color="black")
    axes.annotate(f"ε = {at[0]:.4g}, m = {at[1]:,.0f}", at, xytext=(8, 8), textcoords="offset points")
    axes.set(xscale="log", yscale="log", xlabel="error allowed, ε", ylabel="examples, m", title=title)
    axes.grid(alpha=0.3)
