"""Data in: variables, schemas, tables of codes, and what can be folded.

Arrow is loaded when :func:`as_table` is first called, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.tables.convert import as_table as as_table
    from bayeslearn.tables.counting import Contingency as Contingency
    from bayeslearn.tables.counting import contingency as contingency
    from bayeslearn.tables.schema import Schema as Schema
    from bayeslearn.tables.source import Source as Source
    from bayeslearn.tables.table import Table as Table
    from bayeslearn.tables.variables import Discrete as Discrete
    from bayeslearn.tables.variables import Numeric as Numeric
    from bayeslearn.tables.variables import Variable as Variable
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
