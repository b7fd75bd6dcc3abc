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
    from bayeslearn.sources.counting import count_cells, grouped
    from bayeslearn.sources.cutting import discretised
    from bayeslearn.sources.digest import Digest
    from bayeslearn.sources.encoded import Encoded, encode
    from bayeslearn.sources.engines import Engine, Local
    from bayeslearn.sources.files import Files
    from bayeslearn.sources.relations import Relation
    from bayeslearn.sources.scanning import as_source, is_source, scan, with_options
    from bayeslearn.sources.shards import Shard

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Batches": "batches",
    "Cluster": "cluster",
    "Digest": "digest",
    "Encoded": "encoded",
    "Engine": "engines",
    "Files": "files",
    "Local": "engines",
    "Relation": "relations",
    "Shard": "shards",
    "as_source": "scanning",
    "count_cells": "counting",
    "discretised": "cutting",
    "encode": "encoded",
    "grouped": "counting",
    "is_source": "scanning",
    "scan": "scanning",
    "with_options": "scanning",
}

__all__ = [
    "Batches",
    "Cluster",
    "Digest",
    "Encoded",
    "Engine",
    "Files",
    "Local",
    "Relation",
    "Shard",
    "as_source",
    "count_cells",
    "discretised",
    "encode",
    "grouped",
    "is_source",
    "scan",
    "with_options",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
