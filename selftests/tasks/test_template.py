"""Templates: what is rendered is matched back to the same values."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shakedown.serving.tasks.template import Template, first_match

WORD = st.text(alphabet="abcxyz", min_size=1, max_size=8)


@given(a=WORD, b=WORD)
def test_matching_undoes_rendering(a: str, b: str) -> None:
    template = Template("t", "Give ({a}) and [{b}]*; again {a}.", {"a": "[a-z]+", "b": "[a-z]+"})
    assert template.match(template.render({"a": a, "b": b})) == {"a": a, "b": b}


def test_a_slot_that_stands_twice_holds_one_value() -> None:
    template = Template("t", "{a} {a}", {"a": "[a-z]+"})
    assert template.match("x x") == {"a": "x"}
    assert template.match("x y") is None


def test_the_whole_text_must_match() -> None:
    template = Template("t", "Say {a}.", {"a": "[a-z]+"})
    assert template.match("Say x. Now.") is None
    assert first_match([template], "say x.") is None
    assert first_match([template], "Say x.") == (template, {"a": "x"})
