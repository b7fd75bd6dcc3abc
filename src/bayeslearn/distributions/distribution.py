"""The four steps that every learner is made of, and that every family offers.

    statistics = family.collect(x, weights=...)
    posterior  = family.update(prior, statistics)
    parameters = family.estimate(posterior)               mean, mode or a draw
                 family.log_evidence(prior, statistics)   the model score, from the same numbers

A distribution is a small value (its size, its dimension); a prior is a distribution of parameters; both are immutable.
Learners ask the distribution of their columns for more than the four steps, so that none has a list of them: expected
statistics of missing parts, the estimate without data and prior, priors with the moments of the data, numbers of free
parameters, and the text of a row of parameters. A new distribution is registered by its name, and from then on the
options, model files and reports of all learners have it:

    @register("exponential")
    class Exponential(Distribution[Durations, Gamma]): ...
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.sufficient_statistics import assign, ratio
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.sufficient_statistics import Assignment, Statistics

    Floats = NDArray[np.float64]


How = Literal["mean", "mode", "draw"]


class Prior(Protocol):
    """A distribution of parameters, before or after the data."""

    def of(self, shape: tuple[int, ...]) -> Self:
        """The same prior for every row; `shape` is that of θ, of p, of a rate or of the mean: (*rows, size of one)."""

    def mean(self) -> Any:
        """The expected parameters."""

    def mode(self) -> Any:
        """The most probable parameters."""

    def draw(self, random_state: np.random.Generator | int | None = None) -> Any:
        """Parameters drawn at random."""

    def interval(self, level: float = 0.95) -> Any:
        """Equal-tailed credible bounds (low, high) of each parameter."""


class Predictive(Protocol):
    """A distribution of one more case, parameters integrated out.

    Most also offer ``mean()`` and, for numbers, ``interval(level)``; a regression asks for its inputs first.
    """

    def log_prob(self, x: ArrayLike) -> NDArray[np.float64]:
        """Log probability (or density) of each case; shape (n, *rows)."""

    def draw(self, n: Any, random_state: np.random.Generator | int | None = None) -> NDArray[Any]:
        """Cases drawn at random, shape (n, *rows); a regression takes its inputs in place of `n`."""


S = TypeVar("S", bound="Statistics")
P = TypeVar("P", bound=Prior)


class Family(ABC, Generic[S, P]):
    """A likelihood with its conjugate prior."""

    def collect(
        self,
        x: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        n_groups: int | None = None,
    ) -> S:
        """The additive statistics of `x`; missing cells add nothing. Weights and groups as in `assignment`."""
        cells = self.cells(x)
        return self.gather(cells, assign(len(cells), sample_weight=sample_weight, groups=groups, n_groups=n_groups))

    @abstractmethod
    def cells(self, x: ArrayLike) -> NDArray[Any]:
        """Cases checked and in their working form, the first axis running over them."""

    @abstractmethod
    def gather(self, cells: NDArray[Any], to: Assignment) -> S:
        """The statistics of checked cases, each giving its share to the rows of `to`."""

    @abstractmethod
    def zero(self, rows: tuple[int, ...] = ()) -> S:
        """The statistics of no data."""

    @abstractmethod
    def update(self, prior: P, statistics: S) -> P:
        """The posterior: prior and evidence added."""

    @abstractmethod
    def log_evidence(self, prior: P, statistics: S) -> NDArray[np.float64]:
        """Log probability of the data with the parameters integrated out, one number per row of parameters."""

    @abstractmethod
    def log_prob(self, parameters: Any, x: ArrayLike, *, groups: ArrayLike | None = None) -> NDArray[np.float64]:
        """Log probability of each case: (n, *rows), or (n,) under the row of parameters that `groups` names.

        A missing cell has log probability 0: it is integrated out. So has a case whose group is −1.
        """

    @abstractmethod
    def predictive(self, posterior: P) -> Predictive:
        """The distribution of one more case."""

    @abstractmethod
    def draw(self, parameters: Any, n: Any, random_state: np.random.Generator | int | None = None) -> NDArray[Any]:
        """`n` cases at random for every row of parameters: (n, *rows); a regression takes its inputs for `n`."""

    def estimate(
        self,
        posterior: P,
        *,
        how: How = "mean",
        random_state: np.random.Generator | int | None = None,
        otherwise: Any = None,
    ) -> Any:
        """Parameters read off a posterior: its mean, its mode or a draw.

        Rows without data and prior have no mean: they are those of `otherwise`, or an error when it is not given.
        """
        how = validation.choice("how", how, ["mean", "mode", "draw"])
        if how == "draw":
            return posterior.draw(validation.generator(random_state))
        if how == "mode":
            return posterior.mode()
        return posterior.mean() if otherwise is None else posterior.mean(otherwise)  # type: ignore[call-arg]

    def fit(
        self,
        x: ArrayLike,
        *,
        prior: P,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        n_groups: int | None = None,
    ) -> P:
        """Collect, then update: the posterior given `x`."""
        return self.update(prior, self.collect(x, sample_weight=sample_weight, groups=groups, n_groups=n_groups))


class Reach(NamedTuple):
    """Where rows of parameters lie: centers (rows, columns), the widest and the narrowest standard deviation."""

    centers: Floats
    widest: float
    narrowest: float


class Distribution(Family[S, P]):
    """A family of which rows of parameters belong to classes, components, states or parent configurations.

    Its priors take ``mean(otherwise)``, for rows without data and prior, and have ``log_cases(parameters)``, the log
    likelihood of the pseudo-rows that they stand for, which EM adds to that of the data.
    """

    #: Its name in options, files and reports; :func:`register` sets it.
    name: ClassVar[str] = ""
    #: The class of its priors, and others that it takes in their place.
    prior_type: ClassVar[Any] = None
    prior_rules: ClassVar[tuple[type, ...]] = ()
    #: Numbers that can be chosen in a row of parameters.
    n_free: ClassVar[int] = 1

    #: How often learners look at the cases: more than once where what is expected of a case depends on parameters.
    n_passes: ClassVar[int] = 1

    #: Whether a case is a vector, be it of one number.
    points_of_columns: ClassVar[bool] = False

    #: Whether :meth:`centers` are the means of the rows.
    centers_are_means: ClassVar[bool] = False

    @property
    def n_columns(self) -> int:
        """How many columns a case has."""
        return 1

    @classmethod
    def accepts(cls, variables: Sequence[Any]) -> bool:
        """Whether columns of these variables can be cases: one column of numbers."""
        return len(variables) == 1 and not hasattr(variables[0], "states")

    @classmethod
    def over(cls, variables: Sequence[Any]) -> Self:  # noqa: ARG003 - others have as many states or dimensions
        """The distribution for columns of these variables."""
        return cls()

    def expected(self, cells: NDArray[Any], to: Assignment, parameters: Any) -> S:  # noqa: ARG002 - others need them
        """The statistics of checked cases, with what is missing in a case integrated out."""
        return self.gather(cells, to)

    @property
    def prior_types(self) -> tuple[type, ...]:
        """The classes of priors that it takes."""
        return (self.prior_type, *self.prior_rules)

    def takes(self, prior: Any) -> bool:
        """Whether this is one of its priors."""
        return isinstance(prior, self.prior_types)

    def none(self) -> P:
        """The prior of no cases: estimates are maximum likelihood."""
        return self.prior_type.none()

    def shaped(self, prior: P, rows: int) -> P:
        """A prior with one row for each of `rows` rows."""
        return self.update(prior, self.zero((rows,)))

    @abstractmethod
    def like(self, parameters: Any, sample_size: float, *, center: float = 1.0, spread: float = 1.0) -> P:
        """The prior of `sample_size` cases that look like these parameters.

        A center has the weight of `center` of them; a spread, where there is one, is taken for `spread` of it.
        """

    def smoothed(self, pooled: S) -> Any:
        """Parameters of all data together, under which nothing that may be seen is impossible."""
        return self.estimate(self.update(self.none(), pooled))

    def require_range(self, cells: NDArray[Any], what: str) -> None:
        """Raise a DataError that names `what` where numbers are too large to be learned from."""

    def varies(self, pooled: S) -> bool:  # noqa: ARG002 - only numbers can be all alike and have no spread
        """Whether the cases behind the statistics differ at all: those that do not are no evidence of anything."""
        return True

    def pooled(self, pooled: S, sample_size: float = 1.0, *, center: float = 1.0, spread: float = 1.0) -> P:
        """The prior of `sample_size` cases that look like all data, given their statistics (one row)."""
        return self.like(self.smoothed(pooled), sample_size, center=center, spread=spread)

    def marginal(self) -> Distribution[Any, Any]:
        """The marginal distribution of each column, whose statistics are enough for :meth:`pooled`."""
        return self

    def log_prior(self, prior: P, parameters: Any) -> float:
        """The log likelihood of the cases that a prior stands for."""
        shaped: Any = prior.of(np.shape(first_of(parameters)))
        return float(np.sum(shaped.log_cases(parameters)))

    def log_likelihood(self, statistics: S, parameters: Any) -> Floats:
        """ln P(D | θ) of the data behind statistics, one number per row; by ln P(D) + ln p(θ | D) − ln p(θ)."""
        prior = self.like(parameters, 1.0)
        after = self.update(prior, statistics).log_pdf(parameters)  # type: ignore[attr-defined]
        return self.log_evidence(prior, statistics) + prior.log_pdf(parameters) - after  # type: ignore[attr-defined]

    def n_parameters(self, rows: int) -> int:
        """The number of free parameters of `rows` rows."""
        return rows * self.n_free

    def average(self, parameters: Any, sample_weight: Floats) -> Any:
        """Rows of parameters that stand for mixtures of the rows, weights (k, rows)."""
        if isinstance(parameters, tuple):
            return type(parameters)(*(sample_weight @ p for p in parameters))
        return sample_weight @ parameters

    def centers(self, parameters: Any) -> Floats | None:
        """A number for each row by which rows are compared, where there is one."""
        return np.asarray(first_of(parameters))

    def means(self, parameters: Any) -> Floats:
        """The mean of a case in each row; of 4,096 drawn cases, where there is no formula."""
        found = self.centers(parameters) if self.centers_are_means else None
        return self.draw(parameters, 4096, 0).mean(axis=0) if found is None else found

    def take(self, parameters: Any, rows: NDArray[np.intp]) -> Any:
        """Some rows of parameters."""
        if isinstance(parameters, tuple):
            return type(parameters)(*(p[rows] for p in parameters))
        return parameters[rows]

    def require_regular(self, parameters: Any, what: str) -> None:
        """Raise an EvidenceError that names `what` where a row has no spread left."""

    def reach(self, parameters: Any) -> Reach | None:  # noqa: ARG002 - only locations reach anywhere
        """Where the rows of parameters lie and how far they reach; None where cases have no place."""
        return None

    def widened(self, parameters: Any, factor: float) -> Any:  # noqa: ARG002 - without a spread there is nothing to do
        """The parameters with every standard deviation `factor` times as large."""
        return parameters

    def points(self, cells: NDArray[Any]) -> Floats:
        """Checked cases as points whose columns have mean 0 and spread 1, by which they are grouped; missing is 0."""
        return standardized(np.asarray(cells, dtype=np.float64).reshape(len(cells), -1))

    # -- what a row of parameters looks like

    def marginals(self, parameters: Any) -> list[tuple[Distribution[Any, Any], Any]]:
        """The marginal distribution of each column, with its parameters."""
        return [(self, parameters)]

    def describe(self, parameters: Any, row: int, *, variable: Any = None, max_states: int = 3) -> str:  # noqa: ARG002
        """A row of parameters in a few words."""
        return ", ".join(f"{p[row]:.4g}" for p in (parameters if isinstance(parameters, tuple) else (parameters,)))

    def contrast(self, parameters: Any, whole: Any, row: int, *, variable: Any = None) -> tuple[str, str]:
        """What a row of parameters has that the whole has not, and how the whole is there."""
        return self.describe(parameters, row, variable=variable), self.describe(whole, 0, variable=variable)

    def divergence(self, parameters: Any, whole: Any) -> Floats:
        """KL(row ‖ whole) in nats, whole one row or one for each; by 4,096 drawn cases, where there is no formula."""
        x = self.draw(parameters, 4096, 0)
        k, several = x.shape[1], len(first_of(whole)) > 1
        own = [self.log_prob(parameters, x[:, j])[:, j] for j in range(k)]
        other = [self.log_prob(whole, x[:, j])[:, j if several else 0] for j in range(k)]
        return np.array([max(float(np.mean(a - b)), 0.0) for a, b in zip(own, other, strict=True)])


def first_of(parameters: Any) -> Any:
    """The parameters, or the first of several."""
    return parameters[0] if isinstance(parameters, tuple) else parameters


def centered(x: Floats) -> Floats:
    """Columns less their means; 0 where missing."""
    seen = ~np.isnan(x)
    x = np.where(seen, x, 0.0)
    return np.where(seen, x - ratio(x.sum(axis=0), seen.sum(axis=0)), 0.0)


def standardized(x: Floats) -> Floats:
    """Columns centered and scaled to a spread of 1; 0 where missing, and where all are alike."""
    n, x = (~np.isnan(x)).sum(axis=0), centered(x)
    spread = np.sqrt(ratio((x * x).sum(axis=0), n))
    return np.asarray(ratio(x, np.broadcast_to(spread, x.shape)))


### by name

#: The modules of the distributions of the package: those of one column, and those of vectors.
COLUMN_MODULES = {
    "categorical": "categorical", "gaussian": "normal", "poisson": "poisson", "exponential": "durations",
    "gamma": "durations", "student_t": "heavy_tailed", "von_mises": "von_mises", "log_normal": "point_mass",
    "negative_binomial": "negative_binomial", "kernel_density": "kernel_density", "zero_inflated": "point_mass",
}  # fmt: skip
VECTOR_MODULES = {"multivariate_gaussian": "multivariate_normal", "multinomial": "multinomial"}
MODULES = COLUMN_MODULES | VECTOR_MODULES

#: The classes of priors by the names they have in model files; those of the package by their names in it.
PRIOR_CLASSES: dict[str, str | type] = {
    "dirichlet": "Dirichlet", "rule": "DirichletRule", "normal-inverse-gamma": "NormalInverseGamma",
    "normal-inverse-wishart": "NormalInverseWishart", "gamma": "Gamma", "gamma cases": "GammaCases",
    "von Mises cases": "VonMisesCases", "Student's t cases": "ScaledCases", "log-normal cases": "LogCases",
    "negative binomial cases": "DispersedCases", "point mass cases": "PointMassCases",
}  # fmt: skip

_registered: dict[str, type[Distribution[Any, Any]]] = {}


def register(name: str) -> Callable[[type[Any]], type[Any]]:
    """Make a distribution known by a name in options, reports and model files, and its priors in model files.

    Parameters
    ----------
    name
        The name, which no other distribution has. A class that is defined once more takes the place of the first.

    Returns
    -------
    A decorator of a :class:`Distribution` with a `prior_type`.

    Raises
    ------
    ParameterError
        Another distribution has this name.
    """

    def named(cls: type[Any]) -> type[Any]:
        require_free(name, cls)
        cls.name = name
        _registered[name] = cls
        home = str(getattr(cls.prior_type, "__module__", __package__))  # those of the package have names in files
        if not f"{home}.".startswith(f"{__package__}."):
            PRIOR_CLASSES[prior_name(name)] = cls.prior_type
        return cls

    return named


def unregister(name: str) -> None:
    """Undo :func:`register`; the distributions of the package stay."""
    if name in MODULES or name not in _registered:
        raise ParameterError(f"no distribution was registered under the name {name!r:.60}")
    del _registered[name]
    PRIOR_CLASSES.pop(prior_name(name), None)


def require_free(name: str, cls: type[Any]) -> None:
    """Refuse a name that belongs to another class."""
    owner = _registered.get(name)
    home = f"{__package__}.{MODULES[name]}" if name in MODULES else getattr(owner, "__module__", cls.__module__)
    same_name = owner is None or owner.__qualname__ == cls.__qualname__
    if cls.__module__ != home or not same_name:
        raise ParameterError(
            f"there is a distribution {name!r:.60} already: {home}",
            hint="register yours under another name, or unregister the other one",
        )


def prior_name(name: str) -> str:
    """The name that the priors of a registered distribution have in model files."""
    return f"{name} prior"


def names() -> list[str]:
    """The names of all distributions."""
    return sorted({*MODULES, *_registered})


def column_names() -> list[str]:
    """The names of those that are of one column; no module is loaded for it."""
    own = (name for name, cls in _registered.items() if name not in MODULES and not cls.points_of_columns)
    return sorted({*COLUMN_MODULES, *own})


def by_name(name: str) -> type[Any]:
    """The distribution of a name.

    >>> by_name("poisson")()
    Poisson()
    """
    name = validation.as_word(name) if validation.as_word(name) in MODULES else name
    if name in MODULES and name not in _registered:
        importlib.import_module(f"{__package__}.{MODULES[name]}")
    if name not in _registered:
        raise ParameterError(f"there is no distribution {name!r:.60}", hint=f"there is {', '.join(names())}")
    return _registered[name]
