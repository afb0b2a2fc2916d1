"""What may speak when: stages, needs, capabilities, and tests that could never fail."""

from __future__ import annotations

from pathlib import Path

from selftests.hooks.conftest import EXAMPLE, Run

TWO = """
pytestmark = pytest.mark.infra
@pytest.mark.check("NET-01", stages=("hosts", "ray", "serving"))
def test_nic(node, claim): claim(node.name != "node-b", found="down", expected="up")
@pytest.mark.check("MEM-01", stages=("ray",), needs=("NET-01",))
def test_memory(node, claim): claim(True, found="", expected="")
@pytest.mark.check("RAY-01", stages=("ray",), needs=("MEM-01",))
def test_pair(claim): claim(True, found="", expected="")
"""


def test_a_failed_need_skips_what_stands_behind_it_on_that_node_only(run: Run) -> None:
    result = run(TWO)
    result.assert_outcomes(passed=2, failed=1, skipped=2)
    result.stdout.fnmatch_lines(["*test_memory?node-a? PASSED*", "*test_memory?node-b? SKIPPED*"])


def test_the_reason_names_the_root_and_the_node_through_a_chain_of_needs(run: Run) -> None:
    result = run(TWO)
    result.stdout.fnmatch_lines(["SKIPPED [[]2[]]*blocked by NET-01 on node-b"])


def test_a_check_of_another_stage_is_skipped_and_says_where_it_belongs(run: Run) -> None:
    result = run(TWO, stage="hosts")
    result.assert_outcomes(passed=1, failed=1, skipped=3)
    result.stdout.fnmatch_lines(["*stage is hosts; this is checked at ray*"])


def test_a_capability_that_is_not_declared_skips_with_the_key_to_declare(run: Run, tmp_path: Path) -> None:
    without = tmp_path / "no-log.toml"
    without.write_text("\n".join(line for line in EXAMPLE.read_text().splitlines() if not line.startswith("log = ")))
    result = run(
        """
        @pytest.mark.infra
        @pytest.mark.requires("serve log")
        @pytest.mark.check("NET-01", stages=("ray",))
        def test_it(claim): claim(True, found="", expected="")
        """,
        deployment=str(without),
    )
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*[[]serve[]].log is not declared*"])


ACTING = """
pytestmark = pytest.mark.infra
@pytest.mark.check("RAY-09", stages=("ray",), tier=1)
def test_acts(claim): claim(True, found="", expected="")
@pytest.mark.check("NET-02", stages=("ray",), tier=2)
def test_loads(claim): claim(True, found="", expected="")
"""


def test_nothing_acts_unless_it_is_asked_for(run: Run) -> None:
    result = run(ACTING)
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*acts on the nodes: asked for by --tier 1*"])


def test_a_tier_brings_those_below_it(run: Run) -> None:
    result = run(ACTING, "--tier=1")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*acts on the nodes: asked for by --tier 2*"])


def test_what_explains_others_stands_first(run: Run) -> None:
    result = run(
        """
        pytestmark = pytest.mark.infra
        @pytest.mark.check("NET-01", stages=("ray",))
        def test_nic(claim): claim(True, found="", expected="")
        @pytest.mark.check("ENV-10", stages=("ray",))
        def test_container(claim): claim(True, found="", expected="")
        """
    )
    result.stdout.fnmatch_lines(["*test_container PASSED*", "*test_nic PASSED*"])


def test_a_check_that_claims_nothing_fails(run: Run) -> None:
    result = run(
        """
        @pytest.mark.infra
        @pytest.mark.check("NET-01", stages=("ray",))
        def test_hollow(claim): pass
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*without making a claim*"])


def test_a_finding_shows_its_five_parts(run: Run) -> None:
    result = run(TWO)
    result.stdout.fnmatch_lines(["*node *node-b*", "*found *down*", "*expected *up*", "*at launch *", "*remedy *"])


SERVED = """
@pytest.mark.serving
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.check("NET-01", stages=("serving",))
def test_served(number, claim): claim(True, found="", expected="")
"""


ALONE = TWO.replace("pytestmark = pytest.mark.infra\n", "")
BOTH = ALONE.replace("@", "@pytest.mark.infra\n@") + SERVED.replace("NET-01", "SRV-06")


def test_a_server_that_is_not_there_is_one_error_when_only_it_was_asked_for(run: Run) -> None:
    result = run(SERVED)
    result.assert_outcomes(errors=1, skipped=2)
    result.stdout.fnmatch_lines(["*LaunchError: *only attached to*", "SKIPPED [[]2[]]*not serving: *"])


def test_a_server_that_is_not_there_is_a_skip_where_infra_was_asked_for_as_well(run: Run) -> None:
    result = run(BOTH)
    result.assert_outcomes(passed=2, failed=1, skipped=5)


def test_nothing_is_launched_behind_a_check_that_failed(run: Run) -> None:
    result = run(BOTH, "--launch")
    assert "only attached to" not in result.stdout.str()
    result.stdout.fnmatch_lines(["SKIPPED [[]5[]]*blocked by NET-01 on node-b"])


def test_a_launch_that_fails_is_one_error_and_is_not_tried_again(run: Run) -> None:
    result = run(BOTH.replace('node.name != "node-b"', "True"), "--launch")
    result.assert_outcomes(passed=5, errors=1, skipped=2)
    result.stdout.fnmatch_lines(["*LaunchError: *only attached to*", "SKIPPED [[]2[]]*not serving: only attached to"])
