"""Every estimator of the room obeys scikit-learn's own contract."""

import pytest
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn.hypotheses import FindSClassifier, GibbsClassifier, HypothesisClassifier, VersionSpaceClassifier

NAIVE = [("plain", GaussianNB()), ("signs", BernoulliNB())]


@pytest.mark.thorough
@parametrize_with_checks(
    [
        HypothesisClassifier(NAIVE),
        HypothesisClassifier([GaussianNB(), BernoulliNB()], prior=[0.7, 0.3], noise=0.05),
        GibbsClassifier(NAIVE, random_state=0),
        FindSClassifier(),
        VersionSpaceClassifier(conflicts="drop"),
        VersionSpaceClassifier(conflicts="drop", vote="weighted", favor=2),
    ],
    expected_failed_checks=lambda estimator: (
        {"check_sample_weight_equivalence_on_dense_data": "which example conflicts depends on their order"}
        if isinstance(estimator, VersionSpaceClassifier)
        else {}
    ),
)
def test_sklearn_contract(estimator, check):
    check(estimator)
