"""SPEC N1 and N2: naive Bayes over the days of PlayTennis, and the m-estimate."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import fit_naive_bayes
from bayeslearn.distributions import Dirichlet

DAYS = """
sunny    hot  high   weak   no
sunny    hot  high   strong no
overcast hot  high   weak   yes
rain     mild high   weak   yes
rain     cool normal weak   yes
rain     cool normal strong no
overcast cool normal strong yes
sunny    mild high   weak   no
sunny    cool normal weak   yes
rain     mild normal weak   yes
sunny    mild normal strong yes
overcast mild high   strong yes
overcast hot  normal weak   yes
rain     mild high   strong no
"""
NAMES = ("outlook", "temperature", "humidity", "wind", "play")
TABLE = dict(zip(NAMES, zip(*(line.split() for line in DAYS.strip().splitlines()), strict=True), strict=True))
NEW = {"outlook": ["sunny"], "temperature": ["cool"], "humidity": ["high"], "wind": ["strong"]}


def test_the_day_is_not_for_tennis():
    model = fit_naive_bayes(TABLE, "play", prior="none", class_prior="none")
    assert model.classes == ("no", "yes")
    no, yes = np.exp(model.log_joint(NEW)[0])
    assert yes == pytest.approx(0.0053, abs=5e-5)
    assert no == pytest.approx(0.0206, abs=5e-5)
    assert model.predict(NEW).tolist() == ["no"]
    assert model.predict_proba(NEW)[0, 0] == pytest.approx(0.795, abs=5e-4)


def strong_given_no(prior):
    model = fit_naive_bayes(TABLE, "play", prior={"wind": prior})
    return model.posterior("wind").mean()[0, model["wind"].variable.code_of("strong")]


@pytest.mark.parametrize("m", [0, 1, 2, 10, 1000])
def test_the_m_estimate(m):
    assert strong_given_no(Dirichlet.m_estimate(m)) == pytest.approx((3 + m / 2) / (5 + m), rel=1e-12)
    uneven = Dirichlet.m_estimate(m, [0.25, 0.75])  # strong, weak
    assert strong_given_no(uneven) == pytest.approx((3 + m / 4) / (5 + m), rel=1e-12)
    assert strong_given_no(f"m:{m}") == pytest.approx((3 + m / 2) / (5 + m), rel=1e-12)


def test_without_prior_cases_it_is_the_fraction():
    assert strong_given_no("none") == pytest.approx(3 / 5, rel=1e-14)
