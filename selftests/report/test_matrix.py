"""What differs between the nodes is one table, whichever checks found it."""

from __future__ import annotations

from selftests.report.samples import HOSTILE, a_test, finding, run
from shakedown.report.html import page as drawn
from shakedown.report.matrix import Row, lines, matrix
from shakedown.report.results import Outcome, RunResults
from shakedown.report.terminal import summary


def differing(id: str, differs: dict[str, dict[str, str]]) -> RunResults:
    return run(a_test("one", Outcome.FAILED, finding=finding(id, None).model_copy(update={"differs": differs})))


def both() -> RunResults:
    """Two findings, one subject of which stands in both."""
    kernel = {"kernel": {"spark-a": "6.8", "spark-b": "6.11"}}
    first = finding("PLT-03", None).model_copy(update={"differs": kernel})
    second = finding("NET-18", None).model_copy(update={"differs": {**kernel, "NCCL": {"spark-b": "2.27"}}})
    return run(
        a_test("one", Outcome.FAILED, finding=first),
        a_test("two", Outcome.FINDING, finding=second),
        a_test("three", Outcome.PASSED),
    )


def test_a_subject_stands_once_with_all_who_tell_of_it() -> None:
    table = matrix(both())
    assert table.nodes == ("spark-a", "spark-b")
    assert table.rows == (Row("kernel", ("6.8", "6.11"), ("PLT-03", "NET-18")), Row("NCCL", ("", "2.27"), ("NET-18",)))


def test_the_terminal_shows_columns_and_nothing_where_all_is_equal() -> None:
    told = [line.text for line in summary(both())]
    start = told.index("what differs between the nodes")
    assert told[start + 1 : start + 4] == [
        "          spark-a  spark-b  told by",
        "  kernel  6.8      6.11     PLT-03, NET-18",
        "  NCCL             2.27     NET-18",
    ]
    assert "what differs between the nodes" not in [line.text for line in summary(differing("PLT-03", {}))]


def test_a_long_value_is_cut_at_the_terminal_and_whole_on_the_page() -> None:
    long = "x" * 40 + "end"
    results = differing("PLT-03", {"image": {"spark-a": long, "spark-b": "short"}})
    assert not any(long in line for line in lines(matrix(results)))
    assert long in drawn(results)


def test_what_a_node_says_is_text_on_the_page() -> None:
    page = drawn(differing("PLT-03", {HOSTILE: {"spark-a": HOSTILE, "spark-b": "x"}}))
    assert "<script>" not in page
    assert "What differs between the nodes" in page
