"""The number of hypotheses, as its logarithm, so that 2^(2^30) can be represented.

    conjunctions of n literals   3^n            each variable positive, negated or absent
    k-CNF                        2^(C(n,k) 2^k)  any set of clauses of k literals; shorter ones are several of them
    k-term DNF                   3^(nk)          k conjunctions
    k-decision lists             2 · 3^N · N!    N terms of at most k literals, each 0, 1 or absent, in any order
    unbiased                     2^(2^n)         every function of n variables

All but the first and the last count formulas, of which several may be equivalent: they are upper bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn import validation
from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.reports import Pairs, Report, Reported

if TYPE_CHECKING:
    from collections.abc import Callable

#: The most bits of a number that is written out.
MOST_BITS = 4096


@dataclass(frozen=True, repr=False)
class HypothesisCount(Reported):
    """The number of hypotheses: its natural logarithm, its formula, and its value if it is not too long.

    >>> HypothesisCount.conjunctions(10)
    3^10 = 59,049
    >>> HypothesisCount.unbiased(30), round(HypothesisCount.unbiased(30).log)
    (2^(2^30), 744261118)
    """

    log: float
    name: str
    exact: int | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.log) and self.log >= 0):
            raise ParameterError(
                f"a class has at least one hypothesis and finitely many, got ln|H| = {self.log}",
                hint="an infinite class is bounded by its VC dimension",
            )

    def __repr__(self) -> str:
        whole = "" if self.exact is None or self.exact >= 10**15 else f"{self.exact:,}"
        return f"{self.name} = {whole}" if whole and whole != self.name else self.name

    __str__ = __repr__

    @property
    def log2(self) -> float:
        """log₂|H|."""
        return math.log2(self.exact) if self.exact is not None else self.log / math.log(2)

    def report(self) -> Report:
        """Return the number and its logarithms."""
        return Report(repr(self), Pairs({"ln|H|": self.log, "log₂|H|": self.log2}))

    def to_dict(self) -> dict[str, Any]:
        """Return the formula, the number (None if it is too long) and its logarithms as plain values."""
        return {"name": self.name, "exact": self.exact, "log": self.log, "log2": self.log2}

    # -- numbers

    @classmethod
    def from_number(cls, given: Any) -> HypothesisCount:
        """From a whole number, text such as ``3^10``, a sized collection, or a HypothesisCount."""
        if isinstance(given, HypothesisCount):
            return given
        if isinstance(given, str):
            return cls.parse(given)
        if isinstance(given, float):
            hint = "an infinite class is bounded by its VC dimension; others by a whole number, or a text like '3^10'"
            raise ParameterError(f"the number of hypotheses must be a whole number, got {given:g}", hint=hint)
        count = len(given) if hasattr(given, "__len__") else given
        if isinstance(count, bool) or not hasattr(count, "__index__"):
            raise ParameterError(f"the number of hypotheses must be a whole number, got {count!r}")
        count = int(count)
        if count < 1:
            raise ParameterError(f"a class has at least one hypothesis, got {count}")
        return cls(math.log(count), _long(count), count if count.bit_length() <= MOST_BITS else None)

    @classmethod
    def parse(cls, text: str) -> HypothesisCount:
        """From text: ``973``, ``3^10``, ``2^2^30``, ``conjunctions:10`` and similar.

        >>> HypothesisCount.parse("k-cnf:10,3"), HypothesisCount.parse("2^2^30").log2 == 2**30
        (2^(C(10,3)·2^3), True)
        """
        kind, colon, rest = text.partition(":")
        if colon:
            build: Callable[..., HypothesisCount] = KINDS[validation.choice("n_hypotheses", kind, KINDS)]
            try:
                return build(*(int(part) for part in rest.split(",")))
            except (TypeError, ValueError) as error:
                if isinstance(error, ParameterError):
                    raise
                raise ParameterError(f"{kind!r} takes whole numbers, n or n,k, got {rest!r}") from None
        try:
            base, *powers = (int(part.replace(",", "")) for part in text.strip().split("^"))
        except ValueError:
            raise ParameterError(
                f"cannot read the size {text!r}",
                hint=f"write 973, 3^10, or one of {', '.join(f'{k}:N' for k in KINDS)}",
            ) from None
        return cls.power(base, _tower(powers, text.strip()), name=text.strip()) if powers else cls.from_number(base)

    @classmethod
    def power(cls, base: int, exponent: int, *, name: str | None = None) -> HypothesisCount:
        """base^exponent."""
        base, exponent = whole("base", base, least=1), whole("exponent", exponent)
        name = f"{_short(base)}^{_short(exponent)}" if name is None else name
        bits = exponent * base.bit_length()
        try:
            return cls(exponent * math.log(base), name, base**exponent if bits <= MOST_BITS else None)
        except OverflowError:
            raise _beyond(name) from None

    # -- the usual classes

    @classmethod
    def conjunctions(cls, n_variables: int) -> HypothesisCount:
        """3^n satisfiable conjunctions of literals over n Boolean variables."""
        return cls.power(3, whole("n_variables", n_variables))

    @classmethod
    def attributes(cls, given: Any) -> HypothesisCount:
        """1 + Π (k + 1) conjunctions over attributes of k states each: a Schema, or a mapping of names to states."""
        from bayeslearn.hypotheses import AttributeSpace  # noqa: PLC0415 - loads families, which sizes do without

        known = AttributeSpace.parse(given)
        count = known.n_conjunctions
        return cls(math.log(count), f"1 + {' · '.join(str(len(s) + 1) for s in known.states)}", count)

    @classmethod
    def k_cnf(cls, n_variables: int, k: int) -> HypothesisCount:
        """2^(C(n,k) 2^k) conjunctions of clauses of k literals over n Boolean variables."""
        n, k = _literals(n_variables, k)
        return cls.power(2, math.comb(n, k) << k, name=f"2^(C({n},{k})·2^{k})")

    @classmethod
    def k_term_dnf(cls, n_variables: int, n_terms: int) -> HypothesisCount:
        """3^(nk) disjunctions of k conjunctions over n Boolean variables."""
        return cls.power(3, whole("n_variables", n_variables, least=1) * whole("n_terms", n_terms, least=1))

    @classmethod
    def decision_lists(cls, n_variables: int, max_literals: int = 1) -> HypothesisCount:
        """2 · 3^N · N! lists of rules "if term then label" with N terms of at most `max_literals` literals."""
        n, k = _literals(n_variables, max_literals, "max_literals")
        terms = sum(math.comb(n, j) << j for j in range(1, k + 1))
        name = f"2·3^{_short(terms)}·{_short(terms)}!"
        if terms <= 300:
            return cls(math.log(count := 2 * 3**terms * math.factorial(terms)), name, count)
        try:
            return cls(math.log(2) + terms * math.log(3) + math.lgamma(terms + 1), name)
        except OverflowError:
            raise _beyond(name) from None

    @classmethod
    def unbiased(cls, n_variables: int) -> HypothesisCount:
        """2^(2^n) functions of n Boolean variables: every concept."""
        n = whole("n_variables", n_variables)
        if n > 1023:
            raise _beyond(f"2^(2^{n})")
        return cls.power(2, 2**n, name=f"2^(2^{n})")


#: The classes that have a name on the command line.
KINDS: dict[str, Callable[..., HypothesisCount]] = {
    "conjunctions": HypothesisCount.conjunctions,
    "k-cnf": HypothesisCount.k_cnf,
    "k-term-dnf": HypothesisCount.k_term_dnf,
    "decision-lists": HypothesisCount.decision_lists,
    "unbiased": HypothesisCount.unbiased,
}


def whole(name: str, value: Any, *, least: int = 0) -> int:
    """A whole number that may be too long for a float."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ParameterError(f"`{name}` must be a whole number, got {value!r}", value=value)
    if int(value) < least:
        raise ParameterError(f"`{name}` must be at least {least}, got {int(value)}", value=value)
    return int(value)


### inside


def _tower(powers: list[int], text: str) -> int:
    """a^(b^c); numbers whose logarithm overflows are refused before they are computed."""
    top = 1
    for power in reversed(powers):
        if power > 1 and top * math.log2(power) > 1024:
            raise _beyond(text)
        top = power**top
    return top


def _literals(n_variables: int, k: int, name: str = "k") -> tuple[int, int]:
    n = whole("n_variables", n_variables, least=1)
    return n, min(whole(name, k, least=1), n)


def _short(count: int) -> str:
    return str(count) if count < 10**15 else f"(about 2^{math.log2(count):.4g})"


def _long(count: int) -> str:
    return f"{count:,}" if count < 10**15 else f"about 2^{math.log2(count):.4g}"


def _beyond(name: str) -> CapacityError:
    return CapacityError(f"ln {name} is more than a float can hold (1.8e308)", hint="restrict the class of hypotheses")
