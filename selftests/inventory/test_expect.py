"""Expected values: each with its source in the profile, and each to be had otherwise by the deployment file."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from selftests.inventory.files import changed, refusal
from selftests.inventory.test_loaded import EXAMPLE
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.inventory.profile import FOLDER, Expect, load_profile, profile_names

GB10 = ('name = "pair"', 'name = "pair"\nprofile = "gb10-pair"')
LAST = "tensor_parallel = 2"
REAL = [name for name in profile_names() if load_profile(name).label is None]


def loaded(folder: Path, expect: str) -> Deployment:
    file = folder / "deployment.toml"
    file.write_text(changed(GB10, (LAST, f"{LAST}\n[expect]\n{expect}")))
    return load_deployment(file)


def test_a_value_of_the_file_stands_for_the_profiles_and_says_so(tmp_path: Path) -> None:
    profile = loaded(tmp_path, "fabric_mtu = 9000\nbusy_clock_mhz = 1500").profile
    assert (profile.fabric_mtu, profile.busy_clock_mhz) == (9000, 1500)
    assert profile.origin("fabric_mtu") == f"overridden in {tmp_path / 'deployment.toml'}"
    assert profile.origin("pcie_gts", "busy_clock_mhz").startswith("overridden in ")


def test_what_the_file_leaves_out_is_the_profiles_own(tmp_path: Path) -> None:
    profile, plain = loaded(tmp_path, "fabric_mtu = 9000").profile, load_profile("gb10-pair")
    assert profile.origin("pcie_gts", "pcie_lanes") == "profile gb10-pair"
    for name in Expect.model_fields:
        assert getattr(profile, name) == (9000 if name == "fabric_mtu" else getattr(plain, name)), name


def test_an_empty_table_overrides_nothing(tmp_path: Path) -> None:
    assert loaded(tmp_path, "").profile == load_profile("gb10-pair")


def test_a_value_that_the_profile_does_not_have_may_be_given(tmp_path: Path) -> None:
    assert loaded(tmp_path, "roofline_tokens_per_s = 54").roofline_tokens_per_s == 54.0


CASES = {
    "unknown key": ("fabric_mtus = 9000", "expect.fabric_mtus: unknown key; did you mean expect.fabric_mtu?"),
    "a key of the profile that is no number": (
        'label = "EMBEDDED"',
        f"expect.label: unknown key; known here: {', '.join(Expect.model_fields)}",
    ),
    "text": ('fabric_mtu = "9000"', 'expect.fabric_mtu: found "9000"; allowed: a whole number'),
    "zero": ("shm_gib = 0", "expect.shm_gib: found 0; allowed: a number greater than 0"),
    "no number": ("tenant_gib = nan", "expect.tenant_gib: found nan; allowed: a finite number"),
    "a table": ("[expect.fabric]", "expect.fabric: unknown key; did you mean expect.fabric_mtu?"),
    "a warning above the failure": (
        "clock_skew_warn_s = 6",
        "expect.clock_skew_warn_s: found 6; allowed: at most clock_skew_fail_s, which is 5.0",
    ),
    "a failure below the warning": (
        "clock_skew_fail_s = 0.5",
        "expect.clock_skew_fail_s: found 0.5; allowed: at least clock_skew_warn_s, which is 1.0",
    ),
}


@pytest.mark.parametrize(("expect", "message"), CASES.values(), ids=CASES)
def test_what_is_wrong_is_told_exactly(expect: str, message: str, tmp_path: Path) -> None:
    told = refusal(changed(GB10, (LAST, f"{LAST}\n[expect]\n{expect}")), tmp_path)
    assert re.sub(r"FILE:\d+: ", "", told).splitlines()[-1].strip() == message


def test_the_example_shows_the_values_of_its_profile() -> None:
    _, _, table = EXAMPLE.read_text(encoding="utf-8").partition("# [expect]\n")
    lines = [line.removeprefix("# ") for line in table.partition("\n\n")[0].splitlines()]
    shown = tomllib.loads("\n".join(lines))
    profile = load_profile("gb10-pair")
    assert list(shown) == list(Expect.model_fields)
    for name, value in shown.items():
        assert value == getattr(profile, name) or (name, getattr(profile, name)) == ("roofline_tokens_per_s", None)


@pytest.mark.parametrize("name", profile_names())
def test_every_number_of_a_profile_has_its_reason_above_it(name: str) -> None:
    for paragraph in _paragraphs(name):
        assert paragraph.startswith("#"), paragraph


@pytest.mark.parametrize("name", REAL)
def test_the_reason_for_a_number_about_real_machines_has_a_source(name: str) -> None:
    """A public text, a file of the program that has the number, another profile; or the word that it is ours."""
    for paragraph in _paragraphs(name):
        comment = " ".join(line for line in paragraph.splitlines() if line.startswith("#"))
        assert re.search(r"Sources?: |\b[Oo]urs\b|\bsee generic-pair\b|[\w/]+\.(py|sh|h)\b", comment), paragraph


def _paragraphs(name: str) -> list[str]:
    """The parts of a profile's file that hold a value."""
    parts = (FOLDER / f"{name}.toml").read_text(encoding="utf-8").split("\n\n")
    return [part for part in parts if re.search(r"^\w+ = ", part, re.MULTILINE) and "label = " not in part]
