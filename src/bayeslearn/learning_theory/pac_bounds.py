"""Sample complexity: how many examples a class requires, and the same theorems solved for their other quantities.

Finite classes, with r = ε or 2ε², obey ln δ = ln|H| − r m:

    consistent learner     P(some h of error > ε agrees with m examples)              ≤ |H| e^(−εm)     = δ
    agnostic learner       P(some h has an error over ε more than its training error) ≤ |H| e^(−2ε²m)   = δ

A result has the formula, its numbers, and the conclusion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayeslearn import lazy_imports, validation
from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.learning_theory.hypothesis_counts import HypothesisCount, whole
from bayeslearn.reports import Pairs, Report, Reported, Words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: The smallest error or probability.
SMALLEST = 1e-100


@dataclass(frozen=True, repr=False)
class Bound(Reported):
    """A bound of one quantity, given the others.

    Attributes
    ----------
    quantity, value
        The quantity (m, epsilon, delta, dimension or ln|H|) and its bound.
    formula, substituted
        The formula, and the formula with the numbers.
    conclusion
        The conclusion, as a sentence.
    inputs
        The other numbers.
    is_attainable
        Whether the bound is of use; False for example if a probability is bounded by more than one.
    """

    quantity: str
    value: float
    formula: str
    substituted: str
    conclusion: str
    inputs: Mapping[str, Any]
    is_attainable: bool = True
    #: The number of examples by ε, the point (ε, m) of this bound, and the title and range of its plot.
    curve: SampleCurve | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"Bound({self.quantity} = {shown(self.value)})"

    def __str__(self) -> str:
        return f"{self.summary()}\n{self.formula} = {self.substituted}"

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    @property
    def n_examples(self) -> float | None:
        """The number of examples, bounded or given; None if the bound has none."""
        return self.value if self.quantity == "m" else self.inputs.get("m")

    def summary(self) -> str:
        """Return the conclusion, as a sentence."""
        return self.conclusion

    def report(self) -> Report:
        """Return the conclusion, the formula with its numbers, and the inputs."""
        lines = Words([self.conclusion, f"{self.formula} = {self.substituted}"])
        return Report(f"{self.quantity} = {shown(self.value)}", lines, Pairs(self.inputs, "Inputs"))

    def to_dict(self) -> dict[str, Any]:
        """Return the value, the formula, the conclusion and the inputs as plain values."""
        return {
            "quantity": self.quantity, "value": self.value, "formula": self.formula, "substituted": self.substituted,
            "summary": self.conclusion, "is_attainable": self.is_attainable, "inputs": dict(self.inputs),
        }  # fmt: skip

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the number of examples by the error ε (:func:`bayeslearn.plots.plot_sample_complexity`)."""
        if self.curve is None or not self.is_attainable:
            raise ParameterError(f"there is no curve to draw: {self.conclusion}")
        return plots.plot_sample_complexity(self, ax=ax)


@dataclass(frozen=True)
class SampleCurve:
    """The number of examples that a bound requires, by the error ε."""

    n_examples: Callable[[float], float]
    at: tuple[float, float]
    title: str = ""
    between: tuple[float, float] = (0.01, 0.5)


def probability(name: str, value: float) -> float:
    """A number strictly between 0 and 1 whose square is above 0."""
    value = validation.number(name, value, above=0, below=1)
    if value < SMALLEST:
        raise ParameterError(f"`{name}` must be at least {SMALLEST:g}, got {value:g}", value=value)
    return value


def the_unknown(**given: Any) -> str:
    """The quantity without a value, as its symbol: m for the number of examples, size for that of hypotheses."""
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        names = ", ".join(f"`{name}`" for name in given)
        left = "none" if not missing else " and ".join(f"`{name}`" for name in missing)
        raise ParameterError(f"give all but one of {names}; missing: {left}", hint="the missing one is computed")
    return {"n_examples": "m", "n_hypotheses": "size"}.get(missing[0], missing[0])


def up(x: float) -> int:
    """The least whole number that is at least x, up to rounding errors."""
    if not math.isfinite(x):
        raise CapacityError("the number of examples is more than a float can hold (1.8e308)", hint="allow more error")
    return max(1, math.ceil(x - 1e-12 * abs(x)))


def down(x: float) -> int:
    """The largest whole number that is at most x, up to rounding errors."""
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
    """PAC bound of consistent learners: of |H|, ε, δ and m, the one that is not given.

    Parameters
    ----------
    n_hypotheses
        The number of hypotheses: a number, text such as ``"3^10"`` or ``"conjunctions:10"``, or a
        :class:`HypothesisCount`.
    epsilon, delta
        The true error, and the probability that it is larger.
    n_examples
        The number of training examples.

    Examples
    --------
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
    """PAC bound of agnostic learners, which minimize the training error (Hoeffding). Parameters: :func:`pac_bound`.

    >>> int(agnostic_bound("conjunctions:10", epsilon=0.1, delta=0.05))
    700
    """
    return _solved(AGNOSTIC, n_hypotheses, epsilon, delta, n_examples)


@dataclass(frozen=True)
class Law:
    """ln δ = ln|H| − rate(ε) m, with its formulas and its conclusion."""

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
    known = given | {"size": _largest(exact) if space is None else str(space)}
    if wanted != "size":
        known[wanted] = value
    formula, pattern = law.formulas[wanted]
    numbers = {
        "e": known["epsilon"], "m": known["m"], "L": space and space.log, "d": delta and math.log(1 / delta)
    }  # fmt: skip
    numbers_in = pattern.format(**{key: shown(x) for key, x in numbers.items() if x is not None})
    return Bound(
        quantity={"size": "ln|H|"}.get(wanted, wanted),
        value=value,
        formula=formula,
        substituted=f"{numbers_in} = {shown(exact)}",
        conclusion=_sentence(law, known) if holds else _nothing(wanted, exact),
        inputs={**({} if space is None else {"ln|H|": space.log, "size": str(space)}), **_left(given)},
        is_attainable=holds,
        curve=_finite_curve(law, HypothesisCount(max(value, 0.0), "H") if space is None else space, known),
    )


def _finite_curve(law: Law, space: HypothesisCount, known: dict[str, Any]) -> SampleCurve:
    """The number of examples by ε, for this class and δ."""

    def n_examples(epsilon: float) -> float:
        return up(_finite_value(law, "m", space.log, epsilon=epsilon, delta=known["delta"], m=None))

    return SampleCurve(n_examples, (known["epsilon"], known["m"]), f"|H| = {space}, δ = {shown(known['delta'])}")


def _finite_value(law: Law, wanted: str, log: Any, epsilon: Any, delta: Any, m: Any) -> float:
    """ln δ = ln|H| − rate m, solved for a quantity."""
    if wanted == "m":
        return (log + math.log(1 / delta)) / law.rate(epsilon)
    if wanted == "epsilon":
        return law.epsilon((log + math.log(1 / delta)) / m)
    if wanted == "delta":
        return math.exp(min(log - law.rate(epsilon) * m, 700.0))
    return law.rate(epsilon) * m - math.log(1 / delta)


def _sentence(law: Law, known: dict[str, Any]) -> str:
    words = {"size": known["size"], "epsilon": shown(known["epsilon"])}
    many = "1 example" if known["m"] == 1 else f"{shown(known['m'])} examples"
    return f"With {many}, {law.sentence.format(**words)}, with probability {sure(known['delta'])} or more."


def _largest(log: float) -> str:
    if log < 30:
        return f"at most {down(math.exp(log)):,}"
    return f"at most e^{log:.4g}"


def _nothing(wanted: str, exact: float) -> str:
    what = {"size": "no class is small enough", "epsilon": "no error is excluded", "delta": "failure is not excluded"}
    return f"The bound does not apply: {what[wanted]} ({wanted} would be {shown(exact)})."


def _left(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}
