"""Posteriors over hypotheses as rows, reports, dictionaries and frames."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import ParameterError
from bayeslearn.reports import MAX_ROWS, Bars, Grid, Pairs, Report
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from collections.abc import Hashable

    from bayeslearn.hypotheses.finite_space import HypothesisPosterior
    from bayeslearn.tables.frames import Backend


@dataclass(frozen=True)
class HypothesisRow:
    """One hypothesis in Bayes' theorem: prior, likelihood, joint and posterior probability."""

    name: Hashable
    prior: float
    log_likelihood: float
    log_joint: float
    posterior: float

    @property
    def likelihood(self) -> float:
        """P(D|h); zero where it underflows."""
        return math.exp(self.log_likelihood)

    @property
    def joint(self) -> float:
        """P(D|h) P(h)."""
        return math.exp(self.log_joint)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        return {
            "name": self.name, "prior": self.prior, "likelihood": self.likelihood,
            "log_likelihood": self.log_likelihood, "joint": self.joint, "posterior": self.posterior,
        }  # fmt: skip


def next_outcomes(posterior: HypothesisPosterior) -> dict[Any, float] | None:
    """Return the distribution of the next outcome; None if it depends on an instance."""
    try:
        return posterior.predictive()
    except ParameterError:
        return None


def report_of(posterior: HypothesisPosterior) -> Report:
    """Return prior, likelihood and posterior of each hypothesis; of many, of the most probable."""
    rows = posterior.to_rows()
    if len(rows) > MAX_ROWS:
        rows.sort(key=lambda row: -row.posterior)
    cells = [(str(row.name), row.prior, row.likelihood, row.joint, row.posterior) for row in rows]
    numbers = {
        "MAP": shown(posterior.map_hypotheses), "ML": shown(posterior.ml_hypotheses),
        "Marginal likelihood": posterior.marginal_likelihood,
        "Log marginal likelihood": posterior.log_marginal_likelihood,
    }  # fmt: skip
    predicted = next_outcomes(posterior)
    return Report(
        f"Posterior of {len(rows):,} hypotheses",
        Bars({row.name: row.posterior for row in rows}, "Posterior"),
        Grid(["Hypothesis", "Prior", "Likelihood", "Joint", "Posterior"], cells, "Bayes' theorem"),
        Pairs(numbers),
        None if predicted is None else Bars(predicted, "Next outcome"),
    )


def shown(names: list[Any], limit: int = 5) -> str:
    """Some names in one line, and how many more there are."""
    more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(map(str, names[:limit])) + more


def plain_posterior(posterior: HypothesisPosterior) -> dict[str, Any]:
    """Return every number of a posterior as plain values."""
    return {
        "hypotheses": [row.to_dict() for row in posterior.to_rows()],
        "map_hypotheses": posterior.map_hypotheses,
        "ml_hypotheses": posterior.ml_hypotheses,
        "marginal_likelihood": posterior.marginal_likelihood,
        "log_marginal_likelihood": posterior.log_marginal_likelihood,
        "predictive": next_outcomes(posterior),
    }


def frame_of_posterior(posterior: HypothesisPosterior, backend: Backend) -> Any:
    """Return a frame with a row for each hypothesis."""
    names = ["hypothesis", "prior", "likelihood", "joint", "posterior"]
    rows = [(row.name, row.prior, row.likelihood, row.joint, row.posterior) for row in posterior.to_rows()]
    return frame_of_rows(names, rows, backend)
