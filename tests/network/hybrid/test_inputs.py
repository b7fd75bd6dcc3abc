"""What cannot be answered or learned is a named error, in the words of the caller."""

import numpy as np
import pandas as pd
import pytest

from bayeslearn.errors import (
    BayeslearnError,
    DataError,
    EvidenceError,
    ImpossibleEvidenceError,
    MixedTypesError,
    ParameterError,
    ShapeError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.network import BayesianNetwork, Linear, fit_parameters

SEX = {"sex": [0.5, 0.5], "size": Linear([165.0, 178.0], var=[40.0, 50.0])}
NET = BayesianNetwork.from_tables("[sex][size|sex]", SEX, states={"sex": ["f", "m"]})
ROWS = pd.DataFrame({
    "sex": ["f", "m"] * 20, "size": np.tile([165.0, 178.0], 20) + np.arange(40) % 7,
    "weight": np.arange(40) % 11 + 50.0,
})  # fmt: skip


@pytest.mark.parametrize(("evidence", "error", "match"), [
    ({"size": "tall"}, MixedTypesError, "variable 'size' is numeric, and 'tall' is not a finite number"),
    ({"size": float("nan")}, MixedTypesError, "not a finite number"),
    ({"size": np.inf}, MixedTypesError, "not a finite number"),
    ({"size": True}, MixedTypesError, "not a finite number"),
    ({"size": "160..170"}, MixedTypesError, "not a finite number"),
    ({"sex": "x"}, UnknownStateError, "variable 'sex' has no state 'x'"),
    ({"age": 3}, UnknownColumnError, "there is no variable 'age'"),
])  # fmt: skip
def test_evidence(evidence, error, match):
    with pytest.raises(error, match=match):
        NET.query(evidence)


def test_evidence_as_text_is_a_number():
    assert NET.query("size=170")["sex"] == NET.query({"size": 170})["sex"] == NET.query({"size": "170"})["sex"]


@pytest.mark.parametrize(("tables", "error", "match"), [
    ({"sex": [0.5, 0.5], "size": Linear([1.0, 2.0], var=[1.0, -1.0])}, ParameterError, "of 'size' must not be neg"),
    ({"sex": [0.5, 0.5], "size": Linear([1.0, np.nan])}, ParameterError, "intercept of 'size' must be finite"),
    ({"sex": [0.5, 0.5], "size": Linear([1.0, 2.0], coef=[[1.0], [2.0]])}, ShapeError, "coef of 'size' must have"),
    ({"sex": [0.5, 0.5], "size": Linear([1.0, 2.0, 3.0])}, ShapeError, "intercept of 'size' must have shape"),
    ({"sex": [0.5, 0.5]}, ParameterError, "no states given for 'size'"),
    ({"sex": [0.5, 0.5], "size": Linear(0.0), "age": Linear(0.0)}, UnknownColumnError, "'age', not in the graph"),
])  # fmt: skip
def test_tables(tables, error, match):
    with pytest.raises(error, match=match):
        BayesianNetwork.from_tables("[sex][size|sex]", tables, states={"sex": ["f", "m"]})


def test_an_arc_from_a_number_to_states():
    with pytest.raises(ShapeError, match="the arc size -> sex leads from a number to states"):
        BayesianNetwork.from_tables("[size][sex|size]", SEX | {"size": Linear(0.0)}, states={"sex": ["f", "m"]})
    with pytest.raises(ShapeError, match="the arc size -> sex leads from a number to states"):
        fit_parameters("[size][sex|size]", ROWS, numeric="gaussian")


def test_what_is_for_states_only():
    with pytest.raises(ParameterError, match="sensitivity to parameters is not available"):
        NET.sensitivity({"size": 170}, "sex")
    with pytest.raises(ParameterError, match="soft evidence is not supported"):
        NET.query({}, soft_evidence={"sex": [0.5, 0.5]})
    with pytest.raises(MixedTypesError, match="variable 'size' is numeric and has no states"):
        NET.predict_proba(ROWS, "size")
    with pytest.raises(MixedTypesError, match="virtual evidence is on states"):
        NET.query({}, virtual_evidence={"size": [1, 2]})
    with pytest.raises(MixedTypesError, match="has states and no interval"):
        NET.predict_interval(ROWS, "sex")
    with pytest.raises(ParameterError, match="`algorithm` is not available"):
        fit_parameters("[sex][size|sex]", ROWS, numeric="gaussian", algorithm="gradient")


def test_a_configuration_with_too_few_rows():
    rows = pd.concat([ROWS, pd.DataFrame({"sex": ["x"], "size": [150.0], "weight": [40.0]})])
    with pytest.raises(EvidenceError, match="the numeric node 'size' for sex=x is based on 1 rows, and 3 are needed"):
        fit_parameters("[sex][weight][size|sex:weight]", rows, numeric="gaussian", prior=None)
    found = fit_parameters("[sex][weight][size|sex:weight]", rows, numeric="gaussian")
    assert np.isfinite(found["size"].var).all()
    assert (found["size"].var > 0).all()


def test_columns_without_spread():
    with pytest.raises(EvidenceError, match="column 'weight' is constant"):
        fit_parameters("[sex][weight|sex]", ROWS.assign(weight=1.0), numeric={"weight": "gaussian"})
    with pytest.raises(EvidenceError, match="the numeric node 'size' has no spread left"):
        fit_parameters("[weight][size|weight]", ROWS.assign(size=2 * ROWS["weight"]), numeric="gaussian", prior=None)
    rows = ROWS.assign(twice=2 * ROWS["weight"])
    with pytest.raises(EvidenceError, match="its numeric parents do not determine it"):
        fit_parameters("[weight][twice][size|weight:twice]", rows, numeric="gaussian", prior=None)


def test_cells():
    with pytest.raises(BayeslearnError, match="column 'size' is inf in row 0"):
        fit_parameters("[sex][size|sex]", ROWS.assign(size=np.inf), numeric="gaussian")
    with pytest.raises(BayeslearnError, match="every cell of column 'weight' is missing"):
        fit_parameters("[sex][weight|sex]", ROWS.assign(weight=np.nan), numeric={"weight": "gaussian"})
    with pytest.raises(DataError, match="column 'size' is log-normal and must be above 0"):
        fit_parameters("[sex][size|sex]", ROWS.assign(size=ROWS["size"] - 170), numeric="log_normal")
    with pytest.raises(ParameterError, match="numeric"):
        fit_parameters("[sex][size|sex]", ROWS, numeric="normally")
    with pytest.raises(ParameterError, match="no column of the structure is numeric"):
        fit_parameters("[sex]", ROWS, numeric="gaussian")


def test_determined_numbers():
    tables = {"a": Linear(0.0, var=1.0), "b": Linear(0.0, [2.0], 0.0), "c": Linear(0.0, [1.0], 0.5)}
    network = BayesianNetwork.from_tables("[a][b|a][c|b]", tables)
    found = network.query({"b": 3.0})
    assert (found["a"].mean, found["a"].sd) == pytest.approx((1.5, 0.0), abs=1e-12)
    assert found.log_evidence == pytest.approx(-0.5 * np.log(2 * np.pi * 4) - 9 / 8, rel=1e-12)
    agree = network.query({"a": 1.5, "b": 3.0})
    assert agree["c"].mean == pytest.approx(3.0)
    with pytest.raises(ImpossibleEvidenceError, match=r"cannot occur together: a=1\.5, b=4\.0"):
        network.query({"a": 1.5, "b": 4.0, "c": 1.0})


def test_interventions_do_not_tell_of_causes():
    assert NET.do({"size": 180.0}).query()["sex"] == {"f": 0.5, "m": 0.5}
    assert NET.do({"sex": "m"}).query()["size"].mean == pytest.approx(178.0)
    with pytest.raises(UnknownColumnError, match="no variable 'age'"):
        NET.do({"age": 1.0})


def test_log_normal_columns():
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"g": ["a", "b"] * 500, "x": np.exp(np.tile([0.0, 1.0], 500) + 0.5 * random.normal(size=1000))})
    model = fit_parameters("[g][x|g]", rows, numeric="log_normal", prior=None)
    found = model.query({"g": "a"})["x"]
    mu, s = float(model["x"].intercept[0]), float(np.sqrt(model["x"].var[0]))
    assert found.mean == pytest.approx(np.exp(mu + s * s / 2), rel=1e-12)
    assert found.sd == pytest.approx(found.mean * np.sqrt(np.expm1(s * s)), rel=1e-10)
    from scipy.stats import lognorm

    peer = lognorm(s, scale=np.exp(mu))
    assert found.quantile([0.1, 0.9]).tolist() == pytest.approx(peer.ppf([0.1, 0.9]).tolist(), rel=1e-9)
    assert found.pdf(1.3) == pytest.approx(peer.pdf(1.3), rel=1e-10)
    assert found.cdf(-1.0) == 0.0
    logs = model.log_likelihood(pd.DataFrame({"g": ["a"], "x": [1.3]}))
    assert logs[0] == pytest.approx(np.log(0.5) + peer.logpdf(1.3), rel=1e-10)


def test_imputed_frames_keep_their_kind():
    rows = ROWS.assign(age=np.arange(40) % 5 + 20)
    rows = rows.astype({"sex": object, "age": "Int64"})
    rows.iloc[::5, 0], rows.iloc[1::5, 1], rows.iloc[2::5, 3] = None, np.nan, pd.NA
    rows.index = [f"r{i}" for i in range(40)]
    model = fit_parameters("[sex][size|sex][age|sex]", rows, numeric={"age": "gaussian"})
    for method in ("most_probable", "sample"):
        filled = model.impute(rows, method=method, random_state=0)
        assert filled.isna().sum().sum() == 0
        assert list(filled.index) == list(rows.index)
        assert filled["age"].dtype == rows["age"].dtype
        assert filled["weight"].equals(rows["weight"])
        seen = rows["size"].notna()
        assert (filled["size"][seen] == rows["size"][seen]).all()
    expected = model.query({"sex": rows["sex"].iloc[1], "age": rows["age"].iloc[1]}, "size")["size"].mean
    assert model.impute(rows)["size"].iloc[1] == pytest.approx(expected)


def test_results_show_themselves():
    found = NET.query({"sex": "f"})
    assert "165" in str(found)
    assert "165" in found._repr_html_()
    frame = NET.query().to_frame()
    assert list(frame["variable"]) == ["sex", "sex", "size"]
    assert frame["mean"].iloc[2] == pytest.approx(171.5)
    assert found.to_dict()["beliefs"]["size"]["mean"] == 165.0
    explained = NET.explain({"sex": "f"}, "size")
    assert explained.shifts[0].shift == pytest.approx(165 - 171.5)
    assert "sex=f" in str(explained)
    assert "sex" in str(NET.explain({"size": 170}, "sex")._repr_html_())
    assert "2 variables (1 numeric)" in str(NET)
    assert "165" in str(NET["size"])
    assert NET["size"].to_frame()["intercept"].tolist() == [165.0, 178.0]
    assert NET.to_frame()["value"].sum() > 0
