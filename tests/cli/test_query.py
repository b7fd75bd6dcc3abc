"""The verb query by its other methods: random cases and messages, their errors, warnings and limits."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from bayeslearn import BayesianNetwork, fit_parameters, read_network, write_network
from bayeslearn.cli import progress
from bayeslearn.cli.command import in_one_line
from bayeslearn.errors import BayeslearnWarning, ConvergenceWarning
from bayeslearn.network.inference.approximate import SampledInference
from tests.cli.asking import ask, fail, result, said, tell
from tests.oracle.networks import given, marginal, random_network

SEEN = ["smoke=yes", "xray=yes", "--variables", "lung"]


def enumerated(network, evidence):
    """ln P(e), and every belief by name and state, from the whole joint."""
    p = given(network, evidence)
    beliefs = {
        name: dict(zip(network.states(name), marginal(p, axis).tolist(), strict=True))
        for axis, name in enumerate(network.variables)
        if name not in evidence
    }
    return np.log(p.sum()), beliefs


@pytest.mark.parametrize("method", ["likelihood_weighting", "rejection", "gibbs"])
def test_sampled_answers_agree_with_the_joint(tmp_path, method):
    network = random_network(3, 6)
    write_network(network, tmp_path / "net.json")
    evidence = {name: network.states(name)[0] for name in network.variables[:2]}
    seen = [f"{name}={state}" for name, state in evidence.items()]
    words = ["query", str(tmp_path / "net.json"), *seen, "--method", method, "--n-samples", "8000", "--seed", "1"]
    answer = result(ask(*words, "--json"))

    log_p, beliefs = enumerated(network, evidence)
    assert {"evidence", "log_evidence", "beliefs", "method", "errors", "draws", "effective_size"} <= set(answer)
    assert (answer["method"], answer["evidence"], answer["draws"] >= 8000) == (method, evidence, True)
    assert list(answer["beliefs"]) == list(answer["errors"]) == list(beliefs)
    for name, belief in beliefs.items():
        for state, p in belief.items():
            error = answer["errors"][name][state]
            assert error < 0.05
            assert answer["beliefs"][name][state] == pytest.approx(p, rel=0, abs=5 * error + 1e-12)
    if method == "gibbs":
        assert answer["log_evidence"] is None
        assert answer["rhat"] == pytest.approx(1, rel=0, abs=0.05)
    else:
        assert answer["log_evidence"] == pytest.approx(log_p, rel=0, abs=5 * answer["log_evidence_error"])


def rare_cause(path):
    """A cause of one case in 100,000, and an alarm that is hardly ever false."""
    tables = {"cause": [1e-5, 1 - 1e-5], "alarm": [[0.99, 0.01], [1e-7, 1 - 1e-7]]}
    network = BayesianNetwork.from_tables(
        "[cause][alarm|cause]", tables, states={name: ["yes", "no"] for name in tables}
    )
    write_network(network, path)
    return network.query({"alarm": "yes"})["cause"]["yes"]


@pytest.mark.parametrize("method", ["likelihood_weighting", "gibbs"])
def test_a_rare_cause_is_found(tmp_path, method):
    truth = rare_cause(tmp_path / "rare.json")
    words = [
        "query",
        str(tmp_path / "rare.json"),
        "alarm=yes",
        "--method",
        method,
        "--n-samples",
        "4096",
        "--seed",
        "1",
    ]
    answer = result(ask(*words, "--json"))
    assert truth == pytest.approx(0.99, abs=2e-3)
    assert answer["errors"]["cause"]["yes"] < 0.005
    assert answer["beliefs"]["cause"]["yes"] == pytest.approx(truth, rel=0, abs=4 * answer["errors"]["cause"]["yes"])


def test_numbers_too_small_to_multiply(tmp_path):
    tables = {"A": [0.5, 0.5], "B": [[1e-200, 1.0], [5e-201, 1.0]], "C": [[1e-200, 1.0], [6e-200, 1.0]]}
    network = BayesianNetwork.from_tables("[A][B|A][C|A]", tables, states={name: ["a", "b"] for name in tables})
    write_network(network, tmp_path / "small.json")
    answer = result(ask("query", str(tmp_path / "small.json"), "B=a", "C=a", "--json"))
    assert answer["beliefs"]["A"] == pytest.approx({"a": 0.25, "b": 0.75}, rel=1e-9)
    assert answer["log_evidence"] == pytest.approx(-400 * np.log(10) + np.log(2), rel=1e-12)


def test_messages_are_exact_on_a_tree(tmp_path):
    rng = np.random.default_rng(0)
    tables = {"a": rng.dirichlet([1, 1]), "b": rng.dirichlet([1, 1, 1], 2), "c": rng.dirichlet([1, 1], 3)}
    states = {"a": ["x", "y"], "b": ["u", "v", "w"], "c": ["x", "y"]}
    network = BayesianNetwork.from_tables("[a][b|a][c|b]", tables, states=states)
    write_network(network, tmp_path / "tree.json")
    answer = result(ask("query", str(tmp_path / "tree.json"), "c=y", "--method", "loopy_propagation", "--json"))

    log_p, beliefs = enumerated(network, {"c": "y"})
    assert (answer["method"], answer["converged"], answer["evidence"]) == ("loopy_propagation", True, {"c": "y"})
    assert answer["log_evidence"] == pytest.approx(log_p, rel=1e-7)
    assert list(answer["beliefs"]) == ["a", "b"]
    for name, belief in beliefs.items():
        assert answer["beliefs"][name] == pytest.approx(belief, rel=1e-7)


def test_exact_answers_say_so_too():
    answer = result(ask("query", "asia", *SEEN, "--json"))
    assert set(answer) == {"evidence", "log_evidence", "beliefs", "method"}
    assert answer["method"] == "exact"


def test_a_seed_gives_the_answer_of_the_library():
    words = ["query", "asia", *SEEN, "--method", "likelihood_weighting", "--n-samples", "5000", "--seed", "7", "--json"]
    answer = result(ask(*words))
    direct = SampledInference(read_network("asia")).query(
        {"smoke": "yes", "xray": "yes"}, variables=["lung"], n_samples=5000, random_state=7
    )
    assert answer == result(ask(*words))
    assert answer["beliefs"]["lung"] == pytest.approx(direct["lung"], rel=1e-13)
    assert answer["errors"]["lung"] == pytest.approx(direct.errors["lung"], rel=1e-13)
    assert answer["draws"] == direct.draws == 5000


def test_virtual_evidence_is_weighed_by_every_method():
    for method in ("likelihood_weighting", "rejection", "gibbs", "loopy_propagation"):
        seed = [] if method == "loopy_propagation" else ["--seed", "1", "--n-samples", "6000"]
        words = [
            "query",
            "forest-fire",
            "--virtual-evidence",
            "Storm=0.9,0.1",
            "--variables",
            "Storm",
            "--method",
            method,
            *seed,
        ]
        answer = result(ask(*words, "--json"))
        prior = read_network("forest-fire")["Storm"].probabilities
        p = 0.9 * prior[0] / (0.9 * prior[0] + 0.1 * prior[1])
        assert answer["beliefs"]["Storm"]["yes"] == pytest.approx(p, rel=0, abs=0.03)


def test_soft_evidence_is_met():
    words = ["query", "asia", "xray=yes", "--soft-evidence", "smoke=0.7,0.3", "--soft-evidence", "lung=0.2,0.8"]
    answer = result(ask(*words, "--json"))
    direct = read_network("asia").query({"xray": "yes"}, soft_evidence={"smoke": [0.7, 0.3], "lung": [0.2, 0.8]})
    assert answer["beliefs"]["smoke"] == pytest.approx({"yes": 0.7, "no": 0.3}, rel=1e-11)
    assert answer["beliefs"]["lung"] == pytest.approx({"yes": 0.2, "no": 0.8}, rel=1e-11)
    assert answer["beliefs"]["bronc"] == pytest.approx(direct["bronc"], rel=1e-13)
    assert answer["log_evidence"] == pytest.approx(direct.log_evidence, rel=1e-13)


### what people see


def test_standard_errors_have_a_column():
    shown = ask("query", "asia", *SEEN, "--method", "likelihood_weighting", "--n-samples", "6000", "--seed", "1")
    head, _, row, *_ = shown.splitlines()
    assert head.split() == ["variable", "state", "probability", "standard", "error"]
    name, state, p, error, _ = row.split()
    assert (name, state) == ("lung", "yes")
    assert float(p) == pytest.approx(0.646, rel=0, abs=5 * float(error))
    assert "ln P(evidence)  -2." in shown
    assert " ± 0.0" in shown
    assert "method          likelihood_weighting\ndraws           6,000, worth " in shown


def test_chains_and_messages_are_told():
    shown = ask("query", "forest-fire", "--method", "gibbs", "--n-samples", "6000", "--seed", "1")
    assert re.search(r"chains +split R̂ 1(\.0\d*)?, 1 if they agree", shown)
    assert "ln P(evidence)" not in shown
    shown = ask("query", "asia", *SEEN, "--method", "loopy_propagation")
    assert "standard error" not in shown
    assert "method          loopy_propagation\nmessages        converged after " in shown


def test_a_bar_is_shown_to_those_who_wait(monkeypatch):
    words = ["query", "asia", *SEEN, "--method", "likelihood_weighting", "--n-samples", "6000", "--seed", "1"]
    assert said(*words) == ""
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    assert said(*words) == ""  # nobody looks at a pipe
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("TERM", "xterm")
    assert "6,000 draws, standard error 0.00" in said(*words)


### warnings


def test_a_warning_of_the_library_is_one_line_on_stderr():
    limits = ["--n-samples", "4096", "--precision", "1e-6", "--seed", "1"]
    code, answer, sentence = tell("query", "asia", *SEEN, "--method", "likelihood_weighting", *limits, "--json")
    assert (code, result(answer)["draws"]) == (0, 4096)
    assert sentence.startswith("warning: sampling stopped after 4096 draws at a standard error of 0.0")
    assert sentence.endswith(", asked for 1e-06\n")
    assert sentence.count("\n") == 1


def test_warnings_of_others_are_left_to_python(capsys):
    shown = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = in_one_line(lambda *words, **_: shown.append(str(words[0])))
        warnings.warn("theirs", UserWarning, stacklevel=1)
        warnings.warn("ours\n\nhint: in Python", ConvergenceWarning, stacklevel=1)
    assert shown == ["theirs"]
    assert capsys.readouterr().err == "warning: ours\n"


### mistakes


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--method", "magic"], 2, "unexpected value for `--method`: 'magic'"),
        (["--n-samples", "10"], 2, "--n-samples cannot be used with --method exact, which does not sample"),
        (
            ["--method", "loopy_propagation", "--seed", "1", "--time-limit", "2"],
            2,
            "--time-limit, --seed cannot be used with",
        ),
        (["--method", "gibbs", "--mpe"], 2, "--mpe cannot be used with --method gibbs"),
        (
            ["--soft-evidence", "smoke=1,0", "--method", "gibbs"],
            2,
            "--soft-evidence cannot be used with --method gibbs",
        ),
        (["--soft-evidence", "smoke=1,0", "--mpe"], 2, "--soft-evidence cannot be used with --mpe"),
        (
            ["--soft-evidence", "smoke"],
            2,
            "--soft-evidence takes VAR=P,P,... with a number for each state, got 'smoke'",
        ),
        (["--soft-evidence", "smoke=1,1"], 2, "`target of smoke` must sum to 1, got a sum of 2"),
        (
            ["lung=yes", "--soft-evidence", "either=0,1"],
            1,
            "either=no has the target 1, but is impossible given the evidence",
        ),
        (
            ["--soft-evidence", "lung=1,0", "--soft-evidence", "either=0,1"],
            1,
            "'lung', 'either' are not met together: 'either' stays off",
        ),
        (["--method", "gibbs", "--n-samples", "0"], 2, "`--n-samples` must be at least 1, got 0"),
        (["--method", "likelihood_weighting", "--precision", "0"], 2, "`--precision` must be above 0, got 0"),
        (["--method", "likelihood_weighting", "--time-limit", "-1"], 2, "`--time-limit` must be above 0, got -1"),
        (["--method", "likelihood_weighting", "--seed", "-1"], 2, "`--seed` must be at least 0, got -1"),
        (["tub=yes", "either=no", "--method", "loopy_propagation"], 1, "tub=yes, either=no cannot be together"),
        (["tub=yes", "either=no", "--method", "rejection", "--n-samples", "50"], 1, "draws agrees with the evidence"),
    ],
)
def test_failures_are_one_sentence(words, code, message):
    found, sentence = fail("query", "asia", *words)
    assert (found, sentence.startswith("error: "), message in sentence) == (code, True, True), sentence


def test_mpe_of_a_few_sums_over_the_others():
    answer = result(ask("query", "asia", "dysp=yes", "--mpe", "--variables", "bronc", "--variables", "lung", "--json"))
    expected = read_network("asia").inference.joint(["bronc", "lung"], {"dysp": "yes"})
    assert answer["case"] == {"bronc": "yes", "lung": "no"}
    assert answer["probability"] == pytest.approx(expected.probabilities.max(), rel=1e-12)


### numbers and ranges as evidence


@pytest.fixture
def delays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.linspace(0, 40, 81)
    network = fit_parameters("[dep_delay][late|dep_delay]", {"dep_delay": x, "late": np.where(x > 15, "yes", "no")},
                         prior="laplace")  # fmt: skip
    write_network(network, "net.json")
    return network


def test_a_number_falls_into_its_interval_and_the_answer_says_so(delays):
    state = delays.states("dep_delay")[-1]
    shown = ask("query", "net.json", "dep_delay=39.5")
    assert f"evidence        dep_delay = 39.5 ({state})" in shown
    answer = result(ask("query", "net.json", "dep_delay=39", "--json"))
    assert answer["evidence"] == {"dep_delay": {"value": 39, "state": state}}
    assert answer["beliefs"]["late"] == pytest.approx(delays.query({"dep_delay": 39})["late"], rel=1e-12)
    by_name = result(ask("query", "net.json", f"dep_delay={state}", "--json"))
    assert (by_name["evidence"], by_name["beliefs"]) == ({"dep_delay": state}, answer["beliefs"])
    for method in ("likelihood_weighting", "loopy_propagation"):
        assert f"dep_delay = 39 ({state})" in ask("query", "net.json", "dep_delay=39", "--method", method)
    case = result(ask("query", "net.json", "dep_delay=39", "--mpe", "--json"))
    assert (case["evidence"], case["case"]["dep_delay"]) == (answer["evidence"], state)
    assert f"observed: dep_delay = 39 ({state})" in ask("query", "net.json", "dep_delay=39", "--mpe")


def test_a_range_covers_several_states(delays):
    states, cuts = delays.states("dep_delay"), delays["dep_delay"].variable.cuts
    answer = result(ask("query", "net.json", f"dep_delay>{cuts[1]}", "--json"))
    assert answer["evidence"] == {"dep_delay": {"value": f"> {cuts[1]}", "states": list(states[2:])}}
    assert answer["beliefs"]["late"] == pytest.approx(delays.query({"dep_delay": f"{cuts[1]}.."})["late"], rel=1e-12)
    assert f"dep_delay <= {cuts[1]} ({states[0]} or {states[1]})" in ask("query", "net.json", f"dep_delay<={cuts[1]}")
    with pytest.warns(BayeslearnWarning, match="in part"):
        shown = ask("query", "net.json", "dep_delay=1..39")
    assert f"dep_delay = 1..39 ({' or '.join(states)})" in shown


def test_virtual_and_soft_evidence_by_state_or_number(delays):
    middles = [4, 12, 20, 28, 36]
    numbers = [0.1, 0.2, 0.3, 0.3, 0.1]
    by_number = ",".join(f"{x}:{p}" for x, p in zip(middles, numbers, strict=True))
    in_order = ",".join(map(str, numbers))
    for option in ("--virtual-evidence", "--soft-evidence"):
        one, other = (ask("query", "net.json", option, f"dep_delay={text}", "--json") for text in (by_number, in_order))
        assert result(one)["beliefs"] == result(other)["beliefs"]


def test_explain_and_show_take_numbers(delays, tmp_path):
    state = delays.states("dep_delay")[-1]
    shown = ask("explain", "net.json", "dep_delay=39", "--target", "late")
    assert f"without dep_delay = 39 ({state})" in shown
    answer = result(ask("explain", "net.json", "dep_delay=39", "--target", "late", "--json"))
    assert answer["evidence"] == {"dep_delay": {"value": 39, "state": state}}
    assert "CPT entry" in ask(
        "explain", "net.json", "late=yes", "--target", "dep_delay", "--state", "39", "--sensitivity", "2"
    )
    ask("plot", "net.json", "dep_delay=39", "-o", "net.svg")
    assert (tmp_path / "net.svg").read_text() == delays.to_svg({"dep_delay": state})


def test_names_may_hold_signs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network = BayesianNetwork.from_tables(
        "[a=b][a]", {"a=b": [0.5, 0.5], "a": [0.2, 0.8]}, states={"a=b": ["x", "y"], "a": ["b=x", "c"]}
    )
    write_network(network, "net.json")
    assert result(ask("query", "net.json", "a=b=x", "--json"))["evidence"] == {"a=b": "x"}
    assert result(ask("query", "net.json", "a=c", "--json"))["evidence"] == {"a": "c"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["dep_delay=late"], "variable 'dep_delay' has no state 'late'"),
        (["dep_delay=9..1"], "no state of 'dep_delay' lies in the range '9..1'"),
        (["nobody>3"], "there is no variable 'nobody'"),
        ([">3"], "evidence is given as VAR=STATE, got '>3'"),
    ],
)
def test_bad_numbers_and_ranges(words, message, delays):
    code, sentence = fail("query", "net.json", *words)
    assert (code in {1, 2}, message in sentence) == (True, True), sentence


### dates and formats


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    days = [f"2026-0{1 + i % 3}-{1 + i % 28:02} {7 * i % 24:02}:00" for i in range(90)]
    prices = [f"${20 * i + 5:,.2f}" for i in range(90)]
    rows = {"when": days, "price": prices, "open": ["yes" if i % 24 < 12 else "no" for i in range(90)]}
    dag = "[when.month][when.weekday][when.hour][open|when.hour][price|open]"
    network = fit_parameters(dag, rows, prior="laplace")
    write_network(network, "net.json")
    return network


def test_a_date_stands_for_its_parts_and_the_answer_says_so(shop):
    shown = ask("query", "net.json", "when=2026-02-10")
    assert "evidence        when = 2026-02-10 (month: Feb, weekday: Tue)" in shown
    answer = result(ask("query", "net.json", "when=2026-02-10T09:00", "--json"))
    hour = shop.query({"when.hour": 9})["open"]
    states = answer["evidence"]["when"]["states"]
    assert (states["when.month"], states["when.weekday"]) == ("Feb", "Tue")
    assert answer["evidence"]["when"]["value"] == "2026-02-10T09:00"
    assert answer["beliefs"]["open"] == pytest.approx(hour, rel=1e-12)
    assert ask("query", "net.json", "when=2026-02-10", "--mpe").count("observed: when = 2026-02-10 (month: Feb") == 2
    assert "without when.month=Feb" in ask("explain", "net.json", "when=2026-02-10", "--target", "open")
    ask("plot", "net.json", "when=2026-02-10", "-o", "net.svg")


def test_money_is_read_as_money(shop):
    variable = shop["price"].variable
    state = variable.states[variable.code_of(1234.5)]
    assert f"price = $1,234.50 ({state})" in ask("query", "net.json", "price=$1,234.50")
    plain = result(ask("query", "net.json", "price=1234.5", "--json"))
    money = result(ask("query", "net.json", "price=$1,234.50", "--json"))
    assert money["beliefs"] == plain["beliefs"]
    assert money["evidence"] == {"price": {"value": "$1,234.50", "state": state}}
    weights = ",".join(f"{state}:{p}" for state, p in zip(variable.states, (0.1, 0.2, 0.3, 0.4, 0.5), strict=True))
    ask("query", "net.json", "--virtual-evidence", f"price={weights}")


def test_what_is_no_date_is_named_with_a_hint(shop):
    code, sentence = fail("query", "net.json", "when=yesterday")
    assert code == 2
    assert "'when' needs a date or a time, got 'yesterday'" in sentence
    assert "2013-09-05T19:00" in sentence
