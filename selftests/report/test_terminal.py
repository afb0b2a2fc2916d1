"""The summary that a person acts on."""

from __future__ import annotations

from selftests.report.samples import HOSTILE, a_test, finding, full, run, unreadable
from shakedown.outcomes import Severity
from shakedown.report.results import MetricRecord, Outcome, RunResults
from shakedown.report.terminal import label_line, summary


def text(results: RunResults) -> str:
    return "\n".join(line.text for line in summary(results))


def test_full_run_reads_as_it_should() -> None:
    assert text(full()) == (
        """\
REFUSED: 2 claims do not hold, 1 test broke
2 failed, 1 error, 1 finding that does not block, 1 waived, 2 passed, 4 skipped in 3.2 s

BLOCKER NET-01  title of NET-01
  node      spark-a
  found     found on spark-a
  expected  operstate up
  node      spark-b
  found     found on spark-b
  expected  operstate up
  at launch the launch hangs without a word
  remedy    ip link set fab0 up
            ping -c1 192.168.200.12

WARNING PLT-07  title of PLT-07
  node      the whole deployment
  found     found on None
  expected  operstate up
  at launch the launch hangs without a word
  remedy    ip link set fab0 up
            ping -c1 192.168.200.12

WAIVED MEM-10  title of MEM-10
  node      spark-b
  found     found on spark-b
  expected  operstate up
  at launch the launch hangs without a word
  remedy    ip link set fab0 up
            ping -c1 192.168.200.12
  waived    until the move

could not be carried out
  error     tests_infra/test_fabric.py::test_broken
            ValueError: boom

skipped
    2  blocked by NET-01 on spark-b
    1  stage is hosts; this is checked at ray
    1  no baseline

measured
  chat_c1  PASS
    ttft_s.p90                 0.1424 s  n = 40
    output_tokens_per_s  12346 tokens/s
  chat_c4  not judged
    tpot_s.p50                     none  fewer than 20 samples"""
    )


def test_what_could_not_be_judged_blocks_in_one_group_and_stands_in_one_line_where_it_does_not() -> None:
    """One thing to do is told once, and no symptom of a fault that nobody has seen."""
    warning = {"severity": Severity.WARNING}
    tests = (
        a_test("a", Outcome.FINDING, finding=unreadable("RAY-09", "spark-a", why="no rules", **warning)),
        a_test("b", Outcome.FINDING, finding=unreadable("RAY-09", "spark-b", why="no rules", **warning)),
        a_test("c", Outcome.FINDING, finding=unreadable("PLT-06", "spark-b", why="no log", **warning)),
        a_test("d", Outcome.FAILED, finding=unreadable("RAY-02")),
        a_test("e", Outcome.FAILED, finding=unreadable("ENV-01", why="another reason")),
        a_test("f", Outcome.FAILED, finding=unreadable("MOD-01", why="`df` did not end within 10 s", remedy="")),
        a_test("g", Outcome.FINDING, finding=unreadable("PLT-08", why="no answer", remedy="", **warning)),
        a_test("h", Outcome.XFAILED, finding=unreadable("NET-07"), reason="until the move"),
    )
    assert text(run(*tests, exit_status=1)).partition("in 3.2 s\n")[2] == (
        """
BLOCKER not judged  RAY-02, ENV-01 on spark-b
  why       the environment of raylet 812 may not be read
            another reason
  to judge  set `sudo = true` for the node

BLOCKER not judged  MOD-01 on spark-b
  why       `df` did not end within 10 s

not judged  RAY-09, PLT-06 on spark-a, spark-b: set `sudo = true` for the node

not judged  PLT-08 on spark-b: no answer

not judged  NET-07 on spark-b: set `sudo = true` for the node (waived until the move)"""
    )


def test_a_warning_that_fails_a_strict_run_is_called_one() -> None:
    test = a_test("a", Outcome.FAILED, finding=unreadable("RAY-09", severity=Severity.WARNING))
    assert "\nWARNING not judged  RAY-09 on spark-b\n  why " in text(run(test, exit_status=1))


def test_a_remedy_that_differs_from_node_to_node_names_them() -> None:
    """By names and addresses: the first two are told, the others are in the report."""
    found = [
        finding(node=f"spark-{name}").model_copy(update={"remedy": f"ip link set fab{name} up"}) for name in "abcd"
    ]
    told = text(run(*(a_test(one.node or "", Outcome.FAILED, finding=one) for one in found), exit_status=1))
    assert told.endswith(
        """\
  remedy    on spark-a:
            ip link set faba up
            on spark-b:
            ip link set fabb up
            on spark-c, spark-d likewise, with their own names and addresses: see the report"""
    )


def test_run_without_tests_says_that_nothing_was_judged() -> None:
    assert text(run()) == "EMPTY: not a single claim was judged\nno test ran in 3.2 s"


def test_blockers_stand_before_warnings_before_waived_whatever_the_order() -> None:
    results = run(
        a_test("a", Outcome.XFAILED, finding=finding("AAA-01"), reason="w"),
        a_test("b", Outcome.FINDING, finding=finding("AAA-02", severity=Severity.INFO)),
        a_test("c", Outcome.FINDING, finding=finding("AAA-03", severity=Severity.WARNING)),
        a_test("d", Outcome.FAILED, finding=finding("AAA-04")),
        exit_status=1,
    )
    heads = [line.text.split()[1] for line in summary(results) if "title of" in line.text]
    assert heads == ["AAA-04", "AAA-03", "AAA-02", "AAA-01"]


def test_warning_under_strict_stands_with_the_blockers() -> None:
    failed = a_test("a", Outcome.FAILED, finding=finding(severity=Severity.WARNING))
    line = next(line for line in summary(run(failed, exit_status=1)) if "NET-01" in line.text)
    assert (line.text, line.tone) == ("WARNING NET-01  title of NET-01", "bad")


def test_many_places_of_one_fault_are_cut() -> None:
    tests = [a_test(f"t{n}", Outcome.FAILED, finding=finding(node=f"n{n}")) for n in range(12)]
    lines = text(run(*tests, exit_status=1)).splitlines()
    assert sum(line.startswith("  node ") for line in lines) == 8
    assert "            and 4 more, see the report" in lines
    assert sum("remedy" in line for line in lines) == 1


def test_nothing_a_server_said_reaches_the_terminal_raw() -> None:
    hostile = finding().model_copy(update={"found": HOSTILE, "remedy": HOSTILE})
    metric = MetricRecord(name=HOSTILE, value=1, unit=HOSTILE, note=HOSTILE)
    results = run(
        a_test("a", Outcome.FAILED, finding=hostile, metrics=(metric,)),
        a_test("b", Outcome.SKIPPED, reason=HOSTILE),
        a_test("c", Outcome.ERROR, reason=HOSTILE),
        errors=(HOSTILE,),
        exit_status=1,
    )
    shown = list(summary(results))
    assert all(line.text.isprintable() for line in shown)
    assert any("\\u001b[2J\\u202e" in line.text for line in shown)


def test_label_is_said_for_toys_only() -> None:
    line = label_line(run(label="EMBEDDED"))
    assert line is not None
    assert line.text == "EMBEDDED: nothing is said about your machines"
    assert label_line(run()) is None
