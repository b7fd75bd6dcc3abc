"""Rows as an estimator reads them, as columns with variables and as rows in blocks.

Arrays of floats are numbers and arrays of whole numbers are states, and both are read where they lie. Everything else
(frames, text, objects, tables) goes through :func:`~bayeslearn.as_table`, which reads each column.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.components.component import Component
from bayeslearn.components.product import Product
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.distributions.distribution import by_name
from bayeslearn.distributions.distribution import column_names as known_distributions
from bayeslearn.distributions.priors import PooledPrior, dirichlet_prior, parse_prior
from bayeslearn.errors import DataError, ParameterError, listed
from bayeslearn.estimators import column_names
from bayeslearn.naive_bayes.tabular import row_blocks as blocks
from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
from bayeslearn.sources.scanning import as_source
from bayeslearn.tables import DiscreteVariable, NumericVariable, Source, Table, as_table
from bayeslearn.tables.conversion import RawTable, all_named
from bayeslearn.tables.schema import require_known
from bayeslearn.tables.type_inference import FEW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tabular.row_blocks import Rows

#: More different whole numbers than this in a column of an array, and it is numeric.
MOST_STATES = 255

#: The prior of columns without one of their own.
DEFAULT = "pooled:1"


@dataclass(frozen=True, eq=False)
class Input:
    """Columns by name, and the array they come from if it is one of numbers.

    An array with markers of missing values determines the kinds of its columns, and is not read itself.
    """

    names: tuple[str, ...]
    data: Any
    array: NDArray[Any] | None = None

    @classmethod
    def of(cls, rows: Any, names: tuple[str, ...], *, marked: bool = False) -> Input:
        """Rows as they were read; `names` are those of an array, and `marked` is whether it had markers."""
        if isinstance(rows, np.ndarray):
            return cls(names, {name: rows[:, j] for j, name in enumerate(names)}, rows)
        if isinstance(rows, Table):
            return cls(rows.schema.names, rows)
        if isinstance(rows, RawTable) and marked:
            columns = [np.asarray(rows[name]) for name in rows]
            whole = all(column.dtype.kind in "iu" for column in columns)
            return cls(tuple(rows), rows, np.column_stack(columns) if whole else None)
        if not isinstance(rows, Mapping):
            rows = {str(name): rows[name] for name in getattr(rows, "column_names", rows.columns)}
        return cls(column_names(rows), rows)

    @property
    def plain(self) -> NDArray[Any] | None:
        """The array, where it can be read without a copy."""
        return None if isinstance(self.data, RawTable) else self.array

    def variables(
        self, distributions: Any, max_states: int, *, as_numbers: bool = True
    ) -> tuple[list[Any], Rows | Table]:
        """The variable of every column as it shows, and the rows or the table.

        Floats that are few whole numbers, each repeated, are states as everywhere, but for batches (`as_numbers`), of
        which the first does not show what others hold.
        """
        whole = [] if as_numbers else self.whole_floats()
        if self.plain is not None and not distributions:
            if self.plain.dtype.kind == "f" and not whole:
                return [NumericVariable(name) for name in self.names], blocks.of_floats(self.plain)
            is_whole = self.plain.dtype.kind != "f" and len(self.plain)
            states = blocks.whole_states(self.plain, MOST_STATES) if is_whole else None
            if states is not None:
                found = [DiscreteVariable(name, tuple(known)) for name, known in zip(self.names, states, strict=True)]
                return found, blocks.of_integers(self.plain, states)
        from bayeslearn.sources.usability import dropping, warn_dropped  # noqa: PLC0415 - arrays of numbers drop none

        open_to = [name for name in self.names if name not in distributions]
        whole, numbers = self.whole_columns() + whole, self.floats(as_numbers=as_numbers)
        frame = isinstance(self.data, Mapping) and self.array is None
        gone = dropping(self.data, None) if frame else None
        table = read_columns(
            all_named(self.data) if frame else self.data,
            distributions,
            also_discrete=[name for name in open_to if name in whole],
            also_numeric=[name for name in open_to if name in numbers],
            max_states=max_states,
            dropped_columns=gone,
        )
        warn_dropped(gone, named=True)
        return list(table.schema), table

    def whole_columns(self) -> list[str]:
        """The columns of an array of whole numbers that are states: those that are not too many."""
        if self.array is None or self.array.dtype.kind == "f":
            return []
        return [n for n, column in zip(self.names, self.array.T, strict=True) if len(np.unique(column)) <= MOST_STATES]

    def whole_floats(self) -> list[str]:
        """The columns of an array of floats that are few whole numbers, each seen twice on average."""
        if self.array is None or self.array.dtype.kind != "f":
            return []
        return [name for name, x in zip(self.names, self.array.T, strict=True) if few_whole_numbers(x)]

    def floats(self, *, as_numbers: bool = True) -> list[str]:
        """The columns of floats, which are numbers even if they are whole; so are too many whole numbers."""
        if self.array is not None and self.array.dtype.kind != "f":
            return [name for name in self.names if name not in self.whole_columns()]
        if self.array is not None and not as_numbers:
            whole = self.whole_floats()
            return [name for name in self.names if name not in whole]
        if not as_numbers or not isinstance(self.data, Mapping):
            return []
        return [name for name, column in self.data.items() if np.asarray(column[:0]).dtype.kind == "f"]

    def states(self, columns: Sequence[Component]) -> dict[str, tuple[Any, ...]]:
        """The states that show in the columns of a model that have some."""
        discrete = [c.name for c in columns if isinstance(c.variable, DiscreteVariable) and c.variable.cuts is None]
        if not discrete:
            return {}
        if len(discrete) == len(self.names) and self.plain is not None and self.plain.dtype.kind in "iu":
            found = blocks.whole_states(self.plain, 1 << 16)
            if found is not None:
                return {name: tuple(known) for name, known in zip(self.names, found, strict=True)}
        table = as_table(self.data, columns=discrete, discrete=discrete, allow_constant=True, max_states=1 << 20)
        return {v.name: v.states for v in table.schema.discrete}

    def rows(self, columns: Sequence[Component]) -> Rows:
        """The rows by the columns of a model."""
        if self.plain is not None and [c.name for c in columns] == list(self.names):  # else columns were left out
            if all(not isinstance(c.variable, DiscreteVariable) or c.variable.cuts is not None for c in columns):
                return blocks.of_numbers(self.plain, columns)
            states = [getattr(c.variable, "states", ()) for c in columns]
            if self.plain.dtype.kind in "iu" and all(near(known) for known in states):
                return blocks.of_integers(self.plain, states)
        return blocks.read(self.data, columns)[0]


def few_whole_numbers(x: NDArray[Any]) -> bool:
    """Whether a column holds few whole numbers, each seen twice on average; the rule of tables (`type_inference`)."""
    for part in (x[:1000], x):  # the head often settles it
        there = part[~np.isnan(part)]
        if not (there == np.floor(there)).all():
            return False
        states = np.unique(there)
        if len(states) > FEW or not np.isfinite(states).all():
            return False
    return 0 < 2 * len(states) <= len(there)


def near(states: tuple[Any, ...]) -> bool:
    """Whole numbers that a short list can hold."""
    if not states or not all(type(s) is int for s in states):
        return False
    return max(states) - min(states) < 1 << 16 and max(map(abs, states)) < 1 << 62


def finite(given: Input, answer: Callable[[], Any]) -> Any:
    """An answer, or an error that names the number that is infinite or too large."""
    array = given.plain if given.plain is not None and given.plain.dtype.kind == "f" else None
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            found = answer()
    except DataError:
        if array is not None:
            blocks.require_finite(array, given.names)
        raise
    if not isinstance(found, np.ndarray) and not found_finite(found):
        if array is not None:
            blocks.require_finite(array, given.names)
        raise DataError("there are numbers too large to be squared", hint="divide the column by its largest number")
    return found


def found_finite(model: NaiveBayesModel) -> bool:
    """Whether all statistics of a model are finite."""
    return all(np.isfinite(a).all() for part in model.statistics.values() for a in part.arrays())


### columns of the model, and their priors


def column_of(variable: Any, name: str | None, prior: Any) -> Component:
    """A column with its distribution, named or by its kind, and its prior."""
    name = name or ("categorical" if isinstance(variable, DiscreteVariable) else "gaussian")
    distribution = by_name(name).over([variable])
    return Component((variable,), distribution, prior_of(prior, variable.name, distribution))


def framed(
    target: DiscreteVariable, columns: list[Component], class_prior: Any, estimate: str = "mean"
) -> NaiveBayesModel:
    """A model without data."""
    statistics = {target.name: Counts.zero((target.n_states,)), **Product(tuple(columns)).total([], target.n_states)}
    return NaiveBayesModel(target, tuple(columns), dirichlet_prior(class_prior), StatisticsBundle(statistics), estimate)


def empty(model: NaiveBayesModel) -> NaiveBayesModel:
    """The same model without its statistics."""
    return replace(model, statistics=framed(model.target, list(model.columns), None).statistics, lineage=None)


def prior_of(prior: Any, name: str, distribution: Any) -> Any:
    """The prior of one column: its own, or one for all that take it; the others have pooled:1."""
    if isinstance(prior, Mapping):
        return prior_of(prior.get(name, DEFAULT), name, distribution)
    if not (prior is None or isinstance(prior, str)) and not distribution.takes(prior) and is_prior(prior):
        return PooledPrior()  # one for columns of another distribution
    try:
        return parse_prior(prior, distribution)
    except ParameterError as error:
        raise ParameterError(f"column {name!r}: {error.message}", hint=error.hint, column=name) from None


def is_prior(prior: Any) -> bool:
    """Whether some distribution takes this."""
    kinds = (by_name(name) for name in known_distributions())
    return isinstance(prior, tuple(kind for cls in kinds for kind in (cls.prior_type, *cls.prior_rules)))


def require_columns(what: str, given: Any, names: list[str]) -> None:
    """The keys of a mapping are columns of the data."""
    if isinstance(given, Mapping):
        try:
            require_known(list(given), names)
        except ParameterError as error:
            raise type(error)(f"`{what}`: {error.message}", hint=error.hint, columns=listed(given)) from None


def new_states(variable: Any, states: Iterable[Any]) -> tuple[Any, ...]:
    """The states that a variable does not know; 1 and '1' are the same where data came by different ways."""
    from bayeslearn.tables.state_encoding import UNKNOWN, StateLookup  # noqa: PLC0415 - Arrow loads when data come in

    look = StateLookup(variable)
    return tuple(state for state in states if look(state) == UNKNOWN)


def read_columns(
    data: Any, distributions: Mapping[str, str] | None, *, also_discrete: Iterable[str] = (),
    also_numeric: Iterable[str] = (), **options: Any,
) -> Any:  # fmt: skip
    """A table or a source whose columns have the kinds that their distributions need, discretized where binned."""
    from bayeslearn.sources.usability import named_columns, without_identifiers  # noqa: PLC0415 - as above

    kinds, bins = distribution_names(distributions or {}), numbers_of_bins(distributions or {})
    discrete = [name for name, kind in kinds.items() if kind == "categorical" and name not in bins]
    numeric = [name for name in kinds if name not in discrete] + list(also_numeric)
    discrete += also_discrete
    if isinstance(data, Source):  # columns that have the right kind need no new codes
        discrete = [n for n in discrete if n not in data.schema or not isinstance(data.schema[n], DiscreteVariable)]
        numeric = [n for n in numeric if n not in data.schema or isinstance(data.schema[n], DiscreteVariable)]
    source = as_source(data, discrete=discrete, numeric=numeric, allow_constant=True, **options)
    keep = [*kinds, *also_discrete, *also_numeric, *named_columns(data)]
    source = without_identifiers(source, options.get("dropped_columns"), keep=keep)
    for n_bins, names in itertools.groupby(sorted(bins, key=lambda name: bins[name] or 0), bins.__getitem__):
        from bayeslearn.sources import discretize  # noqa: PLC0415 - few ask for it

        source = discretize(source, list(names), n_bins=n_bins)
    return source


def distribution_names(distributions: Mapping[str, str]) -> dict[str, str]:
    """The registered name of the distribution of each column; binned columns are categorical; without open ones."""
    bins = numbers_of_bins(distributions)
    return {
        name: "categorical" if name in bins else option
        for name, option in options_of(distributions).items()
        if option != "auto"
    }


def options_of(distributions: Mapping[str, str]) -> dict[str, str]:
    """The checked option of each column."""
    return {name: checked_option(f"distributions[{name!r}]", option) for name, option in distributions.items()}


def checked_option(what: str, option: Any) -> str:
    """The name of a distribution, or of a way to find one."""
    if numbers_of_bins({what: option}):
        return str(option)
    return validation.choice(what, option, [*known_distributions(), "auto", "binned", "binned:8", "binned:mdl"])


def every_column(distributions: Any, variables: Iterable[Any]) -> Mapping[str, str]:
    """Options by column: those of a dict, or one name for all numeric columns, and for all with categorical."""
    if isinstance(distributions, Mapping):
        return distributions
    if distributions is None:
        return {}
    if not isinstance(distributions, str):
        raise ParameterError(
            f"`distributions` must be 'auto', a name, or a dict of columns, got {distributions!r:.80}",
            hint='distributions={"wind": "gaussian"}',
        )
    option = checked_option("distributions", distributions)
    if option == "auto":
        return {}
    return {v.name: option for v in variables if isinstance(v, NumericVariable) or option == "categorical"}


def numbers_of_bins(distributions: Mapping[str, str]) -> dict[str, int | None]:
    """The columns that are binned, and the number of bins where it is given."""
    found = {
        name: re.fullmatch(r"binned(?::([1-9][0-9]{0,4}))?", option.strip().lower())
        for name, option in distributions.items()
        if isinstance(option, str)
    }
    return {name: int(match[1]) if match[1] else None for name, match in found.items() if match}
