"""Learning networks: their tables from complete and incomplete cases; the structure is read from other files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network.parameters.credible_intervals import Interval as Interval
    from bayeslearn.network.parameters.credible_intervals import PosteriorIntervals as PosteriorIntervals
    from bayeslearn.network.parameters.credible_intervals import RowSupport as RowSupport
    from bayeslearn.network.parameters.credible_intervals import query_interval as query_interval
    from bayeslearn.network.parameters.em_steps import LogLikelihood as LogLikelihood
    from bayeslearn.network.parameters.fit import fit_parameters as fit_parameters
    from bayeslearn.network.parameters.imputation import ImputationPosterior as ImputationPosterior
    from bayeslearn.network.parameters.imputation import MissingCell as MissingCell
    from bayeslearn.network.parameters.imputation import missing_beliefs as missing_beliefs
    from bayeslearn.network.parameters.online_em import OnlineEM as OnlineEM
    from bayeslearn.network.parameters.online_em import fit_parameters_online as fit_parameters_online
    from bayeslearn.network.parameters.priors import NetworkPrior as NetworkPrior
    from bayeslearn.network.parameters.results import ParameterFitInfo as ParameterFitInfo
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
