"""Learning networks: their tables from complete and incomplete cases; structure has files of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network.learning.fit import TableFit as TableFit
    from bayeslearn.network.learning.fit import fit_tables as fit_tables
    from bayeslearn.network.learning.impute import MissingBeliefs as MissingBeliefs
    from bayeslearn.network.learning.impute import MissingCell as MissingCell
    from bayeslearn.network.learning.impute import missing_beliefs as missing_beliefs
    from bayeslearn.network.learning.online import OnlineTables as OnlineTables
    from bayeslearn.network.learning.online import fit_stream as fit_stream
    from bayeslearn.network.learning.priors import NetworkPrior as NetworkPrior
    from bayeslearn.network.learning.score import Score as Score
    from bayeslearn.network.learning.uncertainty import BeliefIntervals as BeliefIntervals
    from bayeslearn.network.learning.uncertainty import Interval as Interval
    from bayeslearn.network.learning.uncertainty import Support as Support
    from bayeslearn.network.learning.uncertainty import query_interval as query_interval
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
