"""Structural EM of any data, with settings by name."""

from __future__ import annotations

from bayeslearn.network.structure.missing_data import structural_em as module
from bayeslearn.network.structure.missing_data.incomplete_rows import IncompleteSource, IncompleteTable
from bayeslearn.network.structure.out_of_core.source_counts import look
from bayeslearn.network.structure.scoring.criteria import StructureScore
from bayeslearn.network.structure.search_settings import BackgroundKnowledge, Budget, SearchSettings
from bayeslearn.sources import as_source, discretize, is_source


def rows_of(data, sample_weight=None):
    """Rows in memory, or of a source; numeric columns are discretized."""
    source = as_source(data, sample_weight=sample_weight, allow_constant=True)
    if is_source(data):
        source = discretize(source)
        return IncompleteSource(source, look(source, 1 << 30, source.n_rows), 1 << 30)
    return IncompleteTable(source.discretize() if source.schema.numeric else source)


def structural_em(
    data, *, algorithm="tabu", score="bic", knowledge=None, prior=None, budget=None, sample_weight=None, **options
):
    settings = SearchSettings(
        algorithm, StructureScore.parse(score), knowledge or BackgroundKnowledge(), prior, budget or Budget()
    )
    return module.structural_em(rows_of(data, sample_weight), settings, **options)
