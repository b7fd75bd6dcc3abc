"""The variable that data lack, which is the one to predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn import lazy_imports
from bayeslearn.errors import ParameterError, listed

if TYPE_CHECKING:
    from bayeslearn import sources
else:  # they load when data are read
    sources = lazy_imports.Deferred("bayeslearn.sources")


def missing_variable(network: Any, data: Any) -> str:
    """Return the one variable without a value in the data."""
    rows = sources.as_source(data, schema=network.schema, missing_columns="missing", handle_unknown="missing")
    missing, n = rows.missing(), rows.n_rows
    absent = [name for name in network.variables if missing[name] == n]
    if len(absent) == 1:
        return str(absent[0])
    why = f"{len(absent)} variables have no values: {listed(absent)}" if absent else "all variables have values"
    raise ParameterError(f"no `target` is given, and {why}", hint='name one: predict(data, "lung")')
