"""Data that stay where they are: files larger than memory, tables of a database, shards on a cluster.

    fold(collect) = collect(batch 1) + collect(batch 2) + …

:func:`scan` reads the data once and returns a source; every learner that counts takes a source as it takes a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.sources.batch_source import BatchSource as BatchSource
    from bayeslearn.sources.column_profiles import ColumnProfiles as ColumnProfiles
    from bayeslearn.sources.contingency import group_counts as group_counts
    from bayeslearn.sources.dask_engine import DaskEngine as DaskEngine
    from bayeslearn.sources.discretization import discretize as discretize
    from bayeslearn.sources.duckdb_source import DuckDBSource as DuckDBSource
    from bayeslearn.sources.encoded_source import EncodedSource as EncodedSource
    from bayeslearn.sources.encoded_source import encode_to_disk as encode_to_disk
    from bayeslearn.sources.engines import Engine as Engine
    from bayeslearn.sources.engines import ThreadEngine as ThreadEngine
    from bayeslearn.sources.file_source import FileSource as FileSource
    from bayeslearn.sources.scanning import as_source as as_source
    from bayeslearn.sources.scanning import is_source as is_source
    from bayeslearn.sources.scanning import scan as scan
    from bayeslearn.sources.scanning import with_options as with_options
    from bayeslearn.sources.shards import Shard as Shard
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
