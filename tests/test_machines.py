"""The configurations of other machines: all of them are there, and none is run that the processor cannot execute."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import machines
from tests.machines import CONFIGURATIONS, CORES, CPUS, other_core

FEATURES = sorted(set().union(*CORES.values(), *CPUS.values()))
AVX2 = {"avx", "avx2", "fma"}


@pytest.mark.parametrize("compiled", [True, False])
def test_every_core_and_every_number_of_threads_is_there(compiled):
    chosen = [c for c in CONFIGURATIONS if c.compiled is compiled]
    assert {c.core for c in chosen} == set(CORES)
    assert {c.threads for c in chosen} == {1, 2}
    assert {c.cpu for c in chosen} == (set(CPUS) if compiled else {"host"})


def test_a_cpu_name_comes_without_the_features_of_the_host():
    for variables in (c.environment() for c in CONFIGURATIONS if c.cpu != "host"):
        assert variables["NUMBA_CPU_FEATURES"] == ""


def test_code_for_the_host_is_not_portable_code():
    for configuration in CONFIGURATIONS:
        own = configuration.compiled and configuration.cpu == "host"
        assert (configuration.environment().get("BAYESLEARN_CPU") == "host") is own


def test_processors_without_avx_512_have_no_such_loops_in_numpy(monkeypatch):
    monkeypatch.setattr(machines, "numpy_loops", lambda: ["X86_V3", "X86_V4", "AVX512_ICL"])
    disabled = {c.core: c.environment()["NPY_DISABLE_CPU_FEATURES"] for c in CONFIGURATIONS}
    without = "X86_V4 AVX512_ICL"
    assert disabled == {"SkylakeX": "", "Haswell": without, "Zen": without, "Sandybridge": f"X86_V3 {without}"}


@pytest.mark.parametrize(
    ("own", "features", "other"),
    [
        ("SkylakeX", set(FEATURES), "Haswell"),
        ("Haswell", set(FEATURES), "SkylakeX"),
        ("Haswell", AVX2, "Sandybridge"),
        ("Zen", AVX2, "Sandybridge"),  # the kernels of Haswell
        ("Sandybridge", {"avx"}, None),
        ("neoversen1", {"neon"}, None),
        (None, set(FEATURES), None),  # no OpenBLAS
    ],
)
def test_the_other_core(own, features, other):
    assert other_core(own, features) == other


@given(st.sampled_from([*CORES, None]), st.sets(st.sampled_from(FEATURES)))
def test_the_other_core_can_be_executed(own, features):
    other = other_core(own, features)
    assert other is None or (other != own and CORES[other] <= features)


def test_what_cannot_be_executed_is_named():
    assert CONFIGURATIONS[0].missing(AVX2) == CORES["SkylakeX"]
    assert not any(c.missing(set(FEATURES)) for c in CONFIGURATIONS)
