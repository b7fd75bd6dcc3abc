"""Published figures of networks with numbers, and those that other programs report for the reference data."""

import numpy as np
import pandas as pd
import pytest

from bayeslearn.network import fit_parameters
from tests.network.hybrid.examples import reference_network

CLGAUSSIAN = "[A][B][C][H][D|A:H][F|B:C][E|B:D][G|A:D:E:F]"
MARKS = "[MECH][VECT|MECH][ALG|MECH:VECT][ANL|ALG][STAT|ALG:ANL]"


@pytest.fixture(scope="module")
def hybrid(shared_data):
    return shared_data / "hybrid"


def close(found, mean, sd, rtol=1e-9):
    assert found.mean == pytest.approx(mean, rel=rtol)
    assert found.sd == pytest.approx(sd, rel=rtol)


def test_waste_incinerator(hybrid):
    network = reference_network(hybrid, "waste")
    found = network.query()
    figures = {
        "E": (-3.2535714286, 0.7088802754), "D": (3.0392857143, 0.7700059767), "C": (-1.85, 0.5074445783),
        "L": (1.4803571429, 0.6310525343), "Min": (-0.2142857143, 0.4588139101), "Mout": (2.825, 0.8602983702),
    }  # fmt: skip
    for name, (mean, sd) in figures.items():
        close(found[name], mean, sd)
    found = network.query({"W": "industrial", "L": 1.1, "C": -0.9})
    assert found["B"]["stable"] == pytest.approx(0.0122527598, rel=1e-8)
    assert found["F"]["intact"] == pytest.approx(0.9995262722, rel=1e-9)
    close(found["E"], -3.8983382137, 0.0762856453)
    close(found["D"], 3.6076666099, 0.3258510241)
    close(found["Mout"], 4.1076666099, 0.3437715664)
    assert found.log_evidence == pytest.approx(-3.8137238865, rel=1e-10)
    found = network.query({"L": 1.1, "C": -0.9})
    assert found["W"]["industrial"] == pytest.approx(0.2811399217, rel=1e-9)
    close(found["Mout"], 3.5205884324, 0.5062793412)
    assert found.log_evidence == pytest.approx(-2.5448210950, rel=1e-10)


def test_health_insurance(hybrid):
    network = reference_network(hybrid, "healthinsurance")
    charges = network.query()["charges"]
    close(charges, 13257.136993, 12087.047123, rtol=1e-8)
    assert charges.quantile([0.05, 0.5, 0.95]).tolist() == pytest.approx([-804.6883, 10259.0490, 39797.0823], rel=1e-7)
    assert 1 - charges.cdf(40000) == pytest.approx(0.0488502308, rel=1e-8)
    found = network.query({"charges": 30000})
    assert found["smoker"]["yes"] == pytest.approx(0.9879479144, rel=1e-9)
    close(found["bmi"], 29.661236125, 3.757065752)
    close(found["age"], 38.871373262, 13.680263478)
    assert found.log_evidence == pytest.approx(-11.8190363505, rel=1e-10)
    found = network.query({"charges": 30000, "age": 50, "sex": "male"})
    assert found["smoker"]["yes"] == pytest.approx(0.9974368367, rel=1e-9)
    close(found["bmi"], 28.182315854, 3.317300385)
    assert found.log_evidence == pytest.approx(-16.2496693088, rel=1e-10)


def test_ecoli70(hybrid):
    network = reference_network(hybrid, "ecoli70")
    evidence = {"lacA": 5, "icdA": 0.3, "yceP": 1}
    found = network.query(evidence)
    close(found["b1191"], 0.475872373, 0.517410154, rtol=2e-9)
    close(found["cspG"], 2.386160487, 1.025004948, rtol=2e-9)
    close(found["yedE"], -1.692515033, 0.842694478, rtol=2e-9)
    assert found.log_evidence == pytest.approx(-7.3505180766, rel=1e-10)
    assert network.inference.joint(["b1191", "cspG"], evidence).cov[0, 1] == pytest.approx(-0.0056487928, rel=1e-8)


def test_gaussian_test(hybrid):
    rows = pd.read_csv(hybrid / "gaussian.test.csv.gz")
    found = fit_parameters("[A][B][E][G][C|A:B][D|B][F|A:D:E:G]", rows, numeric="gaussian", prior=None)
    assert found.fit_info.log_likelihood == pytest.approx(-53131.91515882, rel=1e-12)
    bic = found.fit_info.log_likelihood - np.log(len(rows)) / 2 * found.n_parameters
    assert bic == pytest.approx(-53221.345687, rel=1e-10)
    node = found["C"]
    assert float(node.intercept) == pytest.approx(2.00108316, rel=1e-8)
    assert node.coef.tolist() == pytest.approx([1.99590141, 1.99910773], rel=1e-8)
    assert np.sqrt(float(node.var) * len(rows) / (len(rows) - 3)) == pytest.approx(0.5089771984, rel=1e-9)


def test_clgaussian_test(hybrid):
    rows = pd.read_csv(hybrid / "clgaussian.test.csv.gz")
    found = fit_parameters(CLGAUSSIAN, rows, numeric="gaussian", prior=None)
    assert found.n_parameters == 51
    assert found.fit_info.log_likelihood == pytest.approx(-20074.107878523, rel=1e-12)


def test_marks_with_missing_values(hybrid):
    rows = pd.read_csv(hybrid / "marks-holes.csv")
    found = fit_parameters(MARKS, rows, numeric="gaussian", prior=None, tol=1e-10, max_iter=1000)
    path = [step.log_likelihood for step in found.fit_info.history]
    assert path[:3] == pytest.approx([-1546.93972162, -1546.06280691, -1546.04389403], abs=1e-8)
    assert path[-1] == pytest.approx(-1546.04314138, abs=2e-8)
    assert float(found["STAT"].intercept) == pytest.approx(-12.41389758, abs=5e-5)
    assert found["STAT"].coef.tolist() == pytest.approx([0.85088974, 0.25132307], abs=1e-5)
    assert float(found["STAT"].var) == pytest.approx(151.3386234, rel=1e-5)
    # imputing the mean and fitting again reports √var = 7.6186: the conditional variance is missing
    assert float(found["ALG"].var) == pytest.approx(60.37275471, rel=1e-5)


def test_clgaussian_test_with_missing_values(hybrid):
    rows = pd.read_csv(hybrid / "clgaussian.test-holes.csv.gz")
    found = fit_parameters(CLGAUSSIAN, rows, numeric="gaussian", prior=None, tol=1e-8)
    assert found.fit_info.history[0].log_likelihood == pytest.approx(-20707.34205190, abs=1e-6)
    assert found.fit_info.log_likelihood == pytest.approx(-20702.32096612, abs=1e-6)
    assert float(found["H"].intercept) == pytest.approx(2.34167163, rel=1e-7)
    assert float(found["H"].var) == pytest.approx(0.01462993, rel=1e-6)
    d, g = found["D"], found["G"]
    assert (d.intercept[0], d.coef[0, 0], d.var[0]) == pytest.approx((5.42566349, 0.82239239, 0.26179705), rel=1e-6)
    assert (g.intercept[1, 0], *g.coef[1, 0], g.var[1, 0]) == pytest.approx(
        (2.20968853, 4.08103084, 1.00010908, 0.02241312), rel=5e-6
    )
    assert found["B"].probabilities.tolist() == pytest.approx([0.40978872, 0.18993349, 0.40027778], abs=1e-7)


def test_hidden_class_with_full_covariances():
    from sklearn.datasets import load_iris

    rows = pd.DataFrame(load_iris().data, columns=list("abcd"))
    rows.loc[34, "d"], rows.loc[37, ["b", "c"]] = 0.2, [3.6, 1.4]  # Fisher's table
    found = fit_parameters(
        "[k][a|k][b|k:a][c|k:a:b][d|k:a:b:c]", rows, numeric="gaussian", prior=None, hidden={"k": 3}, n_init=3,
        tol=1e-8, max_iter=2000,
    )  # fmt: skip
    assert found.fit_info.log_likelihood == pytest.approx(-180.186, abs=2e-3)
