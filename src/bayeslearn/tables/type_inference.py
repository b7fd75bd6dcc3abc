"""What a column is, judged by its own values, and its codes or numbers.

Text, booleans and categories are discrete. Whole numbers are discrete when they repeat themselves, and so are whole
numbers in a text file, whose states stay the text as written. Other numbers are numeric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayeslearn.errors import (
    ConstantColumnError,
    MissingValuesError,
    MixedTypesError,
    TooManyStatesError,
    in_python,
    option,
)
from bayeslearn.tables.columns import (
    Column,
    Levels,
    all_whole,
    floats,
    level_numbers,
    levels,
    neither,
    number_of,
    object_kind,
    plain_floats,
)
from bayeslearn.tables.identifiers import is_free_text
from bayeslearn.tables.near_formats import why_not_read
from bayeslearn.tables.table import smallest_code_type
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable, Variable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables.conversion import Request
    from bayeslearn.tables.markers import Missing

#: Whole numbers with more different values than this are numeric.
FEW = 20


def discover(column: Column, request: Request) -> tuple[Variable, NDArray[Any]]:
    """The variable that a column shows, and its codes or floats."""
    if column.name in request.numeric:
        return numeric(column, request)
    if request.all_discrete or column.name in request.discrete:
        return discrete(column, levels(column, request.missing), request)
    if column.kind == "number":
        repeated = repeating_numbers(column, request.missing)
        return numeric(column, request) if repeated is None else discrete(column, repeated, request)
    found = levels(column, request.missing)
    if column.kind == "objects":
        require_one_kind(column, found)
    if column.from_file and looks_numeric(column, found):
        return numeric(column, request, found)
    return discrete(column, found, request)


def numeric(
    column: Column, request: Request, found: Levels | None = None
) -> tuple[NumericVariable, NDArray[np.float64]]:
    """A numeric column."""
    x = floats(column, request.missing, found)
    if np.isnan(x).all():
        raise all_missing(column)
    return NumericVariable(column.name, read_as=column.read_as, origin=column.origin), x


def discrete(column: Column, found: Levels, request: Request) -> tuple[DiscreteVariable, NDArray[Any]]:
    """A discrete column: its levels sorted, unless their order was declared."""
    n = len(found.values)
    if n > request.max_states and is_free_text(found.listed()):
        raise TooManyStatesError(
            f"column {column.name!r} has {n} different texts of several words: free text",
            hint=f"learn from it with the text verbs, or drop it: {option('drop_columns', [column.name])}",
            column=column.name,
            states=n,
        )
    if n > request.max_states:
        raise TooManyStatesError(
            f"column {column.name!r} has {n} different states, more than max_states={request.max_states}"
            + why_not_read(column.name, found.listed()),
            hint=f"drop an identifier with {option('drop_columns', [column.name])}, or raise {option('max_states')}"
            + in_python(f"; {option('numeric', [column.name])} if it holds numbers"),
            column=column.name,
            states=n,
        )
    if n == 0 or (column.declared and (found.place < 0).all()):
        raise all_missing(column)
    values = found.listed()
    require_no_twins(column, values)
    if n == 1 and not request.allow_constant:
        raise ConstantColumnError(
            f"column {column.name!r} shows one state only, {values[0]!r}",
            hint=f"drop it with {option('drop_columns', [column.name])}"
            + in_python(", declare its `states=`, or pass allow_constant=True"),
            column=column.name,
        )
    order = list(range(n)) if column.declared else sorted(range(n), key=lambda i: sort_key(values[i]))
    code = np.full(n + 1, -1, dtype=smallest_code_type(n))
    code[order] = np.arange(n)
    states = tuple(values[i] for i in order)
    variable = DiscreteVariable(column.name, states, column.cuts, read_as=column.read_as, origin=column.origin)
    return variable, code[found.place]


def sort_key(value: Any) -> tuple[str, float, str]:
    """By kind, then by number, then by text; text that reads as a number comes before words."""
    kind = object_kind(value)
    number = number_of(value)
    return kind, np.inf if np.isnan(number) else number, value if kind == "text" else repr(value)


### what the values say


def repeating_numbers(column: Column, missing: Missing) -> Levels | None:
    """The levels of categories, or of whole numbers that repeat themselves; None for any other numbers."""
    categories = pa.types.is_dictionary(column.data.type)
    head = plain_floats(Column(column.name, column.data[:1000]), missing)  # often settles it
    if not categories and (len(np.unique(head[~np.isnan(head)])) > FEW or not all_whole(head)):
        return None
    found = levels(column, missing)
    return found if categories or (repeat(found) and all_whole(level_numbers(found.values))) else None


def repeat(found: Levels) -> bool:
    """Few values, each seen twice on average."""
    return len(found.values) <= FEW and 2 * len(found.values) <= int(np.count_nonzero(found.place >= 0))


def looks_numeric(column: Column, found: Levels) -> bool:
    """Whether a column of a text file is numeric; many numbers among words are an error."""
    number = found.numbers
    words = np.isnan(number)
    if not len(number) or words.all():
        return False
    if not words.any():
        return not (all_whole(number) and repeat(found))
    if np.count_nonzero(~words) <= FEW:
        return False
    raise mixed(column, found, {"numbers": int(np.argmin(words)), "words": int(np.argmax(words))})


def require_one_kind(column: Column, found: Levels) -> None:
    """All values of one kind, and that one of those that tables hold."""
    first: dict[str, int] = {}
    for level, value in enumerate(found.listed()):
        first.setdefault(object_kind(value), level)
    if len(first) > 1:
        raise mixed(column, found, first)
    odd = first.keys() - {"bool", "number", "text"}
    if odd:
        raise neither(column.name, odd.pop())


def require_no_twins(column: Column, values: list[Any]) -> None:
    """No two states that Python takes for equal, such as 1 and True."""
    first: dict[Any, Any] = {}
    for value in values:
        if first.setdefault(value, value) is not value:
            raise MixedTypesError(
                f"column {column.name!r} holds both {first[value]!r} and {value!r}, which are equal",
                hint="write both the same way",
                column=column.name,
            )


def mixed(column: Column, found: Levels, examples: dict[str, int]) -> MixedTypesError:
    """The error for values of several kinds, with an example of each."""
    values = found.listed()
    rows = {kind: found.first_row(level) for kind, level in examples.items()}
    shown = ", ".join(f"{kind} ({values[level]!r} in row {rows[kind]})" for kind, level in examples.items())
    odd = [values[level] for kind, level in examples.items() if kind in {"words", "text"}]
    marker = option("na_values", {column.name: odd[:1]}) if odd else option("na_values")
    return MixedTypesError(
        f"column {column.name!r} mixes {shown}",
        hint=f"{marker} if some stand for missing cells, {option('drop_columns', [column.name])} to drop the column"
        + in_python(f", {option('discrete', [column.name])} to keep all as states"),
        column=column.name,
        rows=rows,
    )


def all_missing(column: Column) -> MissingValuesError:
    """The error for a column without a single value."""
    return MissingValuesError(
        f"every cell of column {column.name!r} is missing",
        hint=f"drop it with {option('drop_columns', [column.name])}"
        + in_python(f", or declare its states: states={{{column.name!r}: [...]}}"),
        column=column.name,
    )
