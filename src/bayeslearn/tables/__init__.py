"""Data in: variables, schemas, tables of codes, and what can be folded.

Arrow is loaded when :func:`as_table` is first called, not before.
"""

from bayeslearn.tables.convert import as_table
from bayeslearn.tables.counting import Contingency, contingency
from bayeslearn.tables.schema import Schema
from bayeslearn.tables.source import Source
from bayeslearn.tables.table import Table
from bayeslearn.tables.variables import Discrete, Numeric, Variable

__all__ = [
    "Contingency",
    "Discrete",
    "Numeric",
    "Schema",
    "Source",
    "Table",
    "Variable",
    "as_table",
    "contingency",
]
