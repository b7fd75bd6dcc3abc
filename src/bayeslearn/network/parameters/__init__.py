"""Learning networks: their tables from complete and incomplete cases; structure has files of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network.parameters.credible_intervals import BeliefIntervals as BeliefIntervals
    from bayeslearn.network.parameters.credible_intervals import Interval as Interval
    from bayeslearn.network.parameters.credible_intervals import Support as Support
    from bayeslearn.network.parameters.credible_intervals import query_interval as query_interval
    from bayeslearn.network.parameters.em_steps import Score as Score
    from bayeslearn.network.parameters.fit import TableFit as TableFit
    from bayeslearn.network.parameters.fit import fit_tables as fit_tables
    from bayeslearn.network.parameters.imputation import MissingBeliefs as MissingBeliefs
    from bayeslearn.network.parameters.imputation import MissingCell as MissingCell
    from bayeslearn.network.parameters.imputation import missing_beliefs as missing_beliefs
    from bayeslearn.network.parameters.online_em import OnlineTables as OnlineTables
    from bayeslearn.network.parameters.online_em import fit_stream as fit_stream
    from bayeslearn.network.parameters.priors import NetworkPrior as NetworkPrior
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
