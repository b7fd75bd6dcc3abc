"""Sample complexity by VC dimension, and upper bounds on the VC dimension of networks.

    enough        m ≥ (1/ε)(4 log₂(2/δ) + 8 VC log₂(13/ε))
    too few       m < max[(1/ε) ln(1/δ), (VC − 1)/(32ε)]          some distribution and target defeat any learner
    networks      VC ≤ 2 d s log₂(es)                             s ≥ 2 units, each from a class of dimension d
    perceptrons   VC ≤ 2 (r + 1) s log₂(es)                       each of r inputs: d = r + 1

The second holds for VC ≥ 2, ε < 1/8 and δ < 1/100.
"""

from __future__ import annotations

import math
from typing import Any

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.learning_theory.hypothesis_counts import whole
from bayeslearn.learning_theory.pac_bounds import (
    Bound,
    SampleCurve,
    down,
    probability,
    sample,
    shown,
    sure,
    the_unknown,
    up,
)

#: The upper bound, solved for each of its quantities; ε has no closed form.
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
    lower: bool = False,
) -> Bound:
    """PAC bound of consistent learners by VC dimension: of the dimension, ε, δ and m, the one that is not given.

    Parameters
    ----------
    dimension
        The VC dimension of the class.
    epsilon, delta, n_examples
        As in :func:`pac_bound`.
    lower
        Whether to return :func:`vc_lower_bound`, which needs `dimension` and `delta`.

    Examples
    --------
    >>> print(vc_bound(3, epsilon=0.1, delta=0.05))                                            # half-planes
    With 1,899 examples, each hypothesis of a class of VC dimension 3 that agrees with them all has a true error of
    at most 0.1, with probability 0.95 or more.
    m ≥ (1/ε)(4 log₂(2/δ) + 8 VC log₂(13/ε)) = (1/0.1)(4·5.322 + 8·3·7.022) = 1898
    """
    if lower:
        if dimension is None or delta is None:
            raise ParameterError("the lower bound needs `dimension` and `delta`")
        return vc_lower_bound(dimension, epsilon=epsilon, delta=delta, n_examples=n_examples)
    wanted = the_unknown(dimension=dimension, epsilon=epsilon, delta=delta, n_examples=n_examples)
    given: dict[str, Any] = {
        "dimension": None if dimension is None else dimension_of(dimension),
        "epsilon": None if epsilon is None else probability("epsilon", epsilon),
        "delta": None if delta is None else probability("delta", delta),
        "m": None if n_examples is None else sample("n_examples", n_examples),
    }
    exact, holds = _vc_value(wanted, **given)
    value: float = up(exact) if wanted == "m" else max(down(exact), 0) if wanted == "dimension" else exact
    known = given | {wanted: value}
    formula, pattern = FORMULAS[wanted]
    numbers = {
        "e": known["epsilon"],
        "m": known["m"],
        "d": known["dimension"],
        "a": math.log2(2 / known["delta"]) if known["delta"] > 0 else math.inf,
        "b": math.log2(13 / known["epsilon"]),
    }
    sentence = (
        f"With {shown(known['m'])} examples, each hypothesis of a class of VC dimension {shown(known['dimension'])} "
        f"that agrees with them all has a true error of at most {shown(known['epsilon'])}, "
        f"with probability {sure(known['delta'])} or more."
    )
    return Bound(
        quantity=wanted,
        value=value,
        formula=formula,
        substituted=f"{pattern.format(**{key: shown(x) for key, x in numbers.items()})} = {shown(exact)}",
        conclusion=sentence if holds else f"The bound does not apply: {wanted} would be {shown(exact)}.",
        inputs={name: x for name, x in given.items() if x is not None},
        is_attainable=holds,
        curve=SampleCurve(
            lambda e: up(_enough(known["dimension"], e, known["delta"])), (known["epsilon"], known["m"]),
            f"VC dimension {shown(known['dimension'])}, δ = {shown(known['delta'])}",
        ),
    )  # fmt: skip


def vc_lower_bound(
    dimension: float, *, epsilon: float | None = None, delta: float, n_examples: int | None = None
) -> Bound:
    """Lower bound by VC dimension: the examples that every learner needs for ε, or the ε that m examples allow.

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
        conclusion=sentence if error < 0.125 else f"The bound is for errors below 1/8, and ε would be {shown(error)}.",
        inputs={"dimension": d, "delta": delta, "epsilon" if wanted == "m" else "m": divisor},
        is_attainable=error < 0.125,
        curve=SampleCurve(
            lambda e: up(max(math.log(1 / delta), (d - 1) / 32) / e), (error, few),
            f"VC dimension {shown(d)}, δ = {shown(delta)}", (0.01, 0.12),
        ),
    )  # fmt: skip


def network_dimension(n_units: int, unit_dimension: float) -> Bound:
    """Upper bound on the VC dimension of a layered network of s ≥ 2 units, each from a class of VC dimension d."""
    s, d = whole("n_units", n_units, least=2), dimension_of(unit_dimension)
    exact = 2 * d * s * math.log2(math.e * s)
    return Bound(
        quantity="dimension",
        value=down(exact),
        formula="VC ≤ 2 d s log₂(es)",
        substituted=f"2·{shown(d)}·{shown(s)}·{shown(math.log2(math.e * s))} = {shown(exact)}",
        conclusion=f"A layered network of {shown(s)} units, each of a class of VC dimension {shown(d)}, has a VC "
        f"dimension of at most {down(exact):,}.",
        inputs={"n_units": s, "unit_dimension": d},
    )


def perceptrons_dimension(n_units: int, n_inputs: int) -> Bound:
    """Upper bound on the VC dimension of a network of perceptrons with r inputs: half-spaces, of dimension r + 1.

    >>> int(perceptrons_dimension(10, 5))
    571
    """
    return network_dimension(n_units, whole("n_inputs", n_inputs, least=1) + 1)


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
