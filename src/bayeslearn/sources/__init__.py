"""Data that stay where they are: files larger than memory, tables of a database, shards on a cluster.

    fold(collect) = collect(batch 1) + collect(batch 2) + …

:func:`scan` looks at the data once and returns a source; every learner that counts takes a source as it takes a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.sources.batches import Batches
    from bayeslearn.sources.cluster import Cluster
    from bayeslearn.sources.counting import SparseCounts, count_cells, sparse_counts
    from bayeslearn.sources.digest import Digest
    from bayeslearn.sources.engines import Engine, Local
    from bayeslearn.sources.files import Files
    from bayeslearn.sources.quantiles import discretised, quantiles
    from bayeslearn.sources.relations import Relation
    from bayeslearn.sources.scanning import as_source, is_source, scan
    from bayeslearn.sources.shards import Shard

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Batches": "batches",
    "Cluster": "cluster",
    "Digest": "digest",
    "Engine": "engines",
    "Files": "files",
    "Local": "engines",
    "Relation": "relations",
    "Shard": "shards",
    "SparseCounts": "counting",
    "as_source": "scanning",
    "count_cells": "counting",
    "discretised": "quantiles",
    "is_source": "scanning",
    "quantiles": "quantiles",
    "scan": "scanning",
    "sparse_counts": "counting",
}

__all__ = [
    "Batches",
    "Cluster",
    "Digest",
    "Engine",
    "Files",
    "Local",
    "Relation",
    "Shard",
    "SparseCounts",
    "as_source",
    "count_cells",
    "discretised",
    "is_source",
    "quantiles",
    "scan",
    "sparse_counts",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
