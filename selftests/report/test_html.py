"""The page, parsed as a browser would."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from selftests.report.samples import HOSTILE, a_test, finding, full, run, unreadable
from shakedown.report.html import page
from shakedown.report.results import MetricRecord, Outcome, RunResults

VOID = {"meta", "br"}
KNOWN = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "section",
        "footer",
        "p",
        "br",
        "span",
        "h1",
        "h2",
        "h3",
    ),
    *("dl", "dt", "dd", "pre", "code", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "ul", "li"),
}


class Page(HTMLParser):
    """Elements, attributes and text of a page; every element must be closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += f"{data} "


def parsed(results: RunResults) -> Page:
    return Page(page(results))


@pytest.mark.parametrize(
    "results",
    [run(), full(), full(label="EMBEDDED"), run(finished=None, exit_status=None), run(errors=("e",), exit_status=2)],
    ids=["empty", "full", "labelled", "unfinished", "errors"],
)
def test_page_is_well_formed_and_uses_no_other_element(results: RunResults) -> None:
    read = parsed(results)
    assert read.open == []
    assert set(read.elements) <= KNOWN
    assert {"html", "title", "main", "h1"} <= set(read.elements)


def test_page_loads_nothing_and_runs_nothing() -> None:
    read = parsed(full(label="EMBEDDED"))
    names = {name for name, _ in read.attributes}
    assert names <= {"lang", "charset", "name", "content", "http-equiv", "class", "data-name", "colspan"}
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in read.attributes
    assert "url(" not in page(full())
    assert "@import" not in page(full())


def test_everything_of_a_run_is_on_the_page() -> None:
    read = " ".join(parsed(full(label="EMBEDDED")).text.split())
    for text in (
        "EMBEDDED: nothing is said about your machines",
        "refused",
        "2 claims do not hold, 1 test broke: 2 failed, 1 error, 1 finding that does not block, 1 waived",
        "hosts → ray",
        "2025-01-31 04:05:06 UTC, took 3.2 s",
        "blocker NET-01 title of NET-01",
        "node spark-a found found on spark-a expected operstate up",
        "at launch the launch hangs without a word remedy ip link set fab0 up ping -c1 192.168.200.12",
        "waived MEM-10",
        "until the move",
        "error tests_infra/test_fabric.py::test_broken ValueError: boom traceback Traceback ValueError: boom",
        "0.1424 s",
        "12346 tokens/s",
        "test_chat_c1 PASS",
        "test_chat_c4 not judged",
        "fewer than 20 samples",
        "blocked by NET-01 on spark-b",
        "The fabric NIC of every node is up.",
        "2 × blocked by NET-01 on spark-b; 1 × stage is hosts; this is checked at ray; 1 × no baseline.",
        "Drawn from results.json, format 1, shakedown 0.1.0.",
    ):
        assert text in read, text


def test_tests_of_one_claim_are_told_apart() -> None:
    tests = [a_test(f"test_answers[{kind}]", Outcome.PASSED, node=node) for kind, node in (("sums", None), ("n", "n"))]
    read = " ".join(parsed(run(*tests)).text.split())
    assert "The fabric NIC of every node is up. [sums]" in read
    assert "[n]" not in read


def test_fault_on_two_nodes_is_explained_once() -> None:
    read = parsed(full()).text
    assert read.count("blocker NET-01") == 1


def test_label_is_missing_on_real_machines() -> None:
    assert "nothing is said about" not in page(full())


def test_hostile_text_stays_text() -> None:
    hostile = finding().model_copy(
        update=dict.fromkeys(("title", "node", "found", "expected", "symptom", "remedy"), HOSTILE)
        | {"source": (HOSTILE,)}
    )
    metric = MetricRecord(name=HOSTILE, value=1, unit=HOSTILE, note=HOSTILE)
    test = a_test(
        HOSTILE, Outcome.FAILED, finding=hostile, metrics=(metric,), claim=HOSTILE, node=HOSTILE, verdict=HOSTILE
    )
    broke = a_test("x", Outcome.ERROR, reason=HOSTILE, detail=HOSTILE)
    skipped = a_test("y", Outcome.SKIPPED, reason=HOSTILE)
    results = run(test, broke, skipped, exit_status=1, command=(HOSTILE,), errors=(HOSTILE,))
    read = parsed(results)
    assert read.open == []
    assert "script" not in read.elements
    assert "\x1b" not in page(results)
    assert "\u202e" not in page(results)
    assert read.text.count('<script>alert("x")</script>\\u001b[2J\\u202e & </pre>') > 15


def test_what_could_not_be_judged_has_its_reason_and_no_symptom() -> None:
    told = Page(page(run(a_test("a", Outcome.FAILED, finding=unreadable()), exit_status=1))).text
    assert "Could not be judged" in told
    assert "the environment of raylet 812 may not be read" in told
    assert "set `sudo = true` for the node" in told
    assert "What was found" not in told


def test_remedies_that_differ_name_their_nodes() -> None:
    found = [finding(node=node).model_copy(update={"remedy": f"reboot {node}"}) for node in ("spark-a", "spark-b")]
    told = Page(page(run(*(a_test(one.node or "", Outcome.FAILED, finding=one) for one in found), exit_status=1))).text
    for node in ("spark-a", "spark-b"):
        assert f"remedy on {node} reboot {node}" in " ".join(told.split())
