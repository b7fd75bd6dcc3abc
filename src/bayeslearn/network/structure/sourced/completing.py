"""Batches with holes, completed under a network before they are counted.

A row stands for all its completions, as in :mod:`..holes.completions`. A batch is completed part by part, so that what
it becomes takes little memory; where nothing is left to chance, that is the same as completing all rows together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

from bayeslearn.network.structure.holes.completions import DRAWS, MOST, ROOM, Completions
from bayeslearn.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.network.network import BayesianNetwork

#: Rows that are completed at a time, and completions of all of these.
PART, PART_ROOM = 1 << 14, 4 * ROOM


@dataclass(frozen=True)
class Complete:
    """Completes rows under a network, whose variables are their columns; it travels with what counts them."""

    network: BayesianNetwork
    draws: int = DRAWS
    seed: int = 0

    def parts(self, table: Table) -> Iterator[tuple[Table, bool]]:
        """Complete rows with their weights, and whether none of them were drawn."""
        for part in table.batches(PART):
            luck = self.seed ^ crc32(part.codes.tobytes())  # the same in every pass, another in every part
            listed = Completions.of(part, most=MOST, room=PART_ROOM, draws=self.draws, seed=luck)
            yield Table.concat(listed.tables(self.network)), listed.exact
