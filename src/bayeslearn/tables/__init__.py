"""Data in: variables, schemas, tables of codes, and what can be folded.

Arrow is loaded when :func:`as_table` is first called, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.tables.contingency import ContingencyTable as ContingencyTable
    from bayeslearn.tables.contingency import contingency_tables as contingency_tables
    from bayeslearn.tables.conversion import as_table as as_table
    from bayeslearn.tables.schema import Schema as Schema
    from bayeslearn.tables.source_protocol import Source as Source
    from bayeslearn.tables.table import Table as Table
    from bayeslearn.tables.variables import DiscreteVariable as DiscreteVariable
    from bayeslearn.tables.variables import NumericVariable as NumericVariable
    from bayeslearn.tables.variables import Variable as Variable
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
