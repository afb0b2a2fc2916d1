"""What is not the same on all nodes is told with every node's value, and nothing else is."""

from __future__ import annotations

from shakedown.nodes.equality import in_words, uneven


def test_only_what_differs_is_told_with_the_value_of_every_node() -> None:
    differs = uneven({"a": {"kernel": "6.8", "driver": "580", "MTU": 9000}, "b": {"kernel": "6.8", "driver": "570"}})
    assert differs == {"driver": {"a": "580", "b": "570"}, "MTU": {"a": "9000", "b": "none"}}
    assert in_words(differs) == "driver: a 580, b 570; MTU: a 9000, b none"


def test_what_no_node_has_differs_nowhere() -> None:
    assert uneven({"a": {"firmware": None}, "b": {"firmware": ""}}) == {}


def test_one_of_three_is_enough() -> None:
    assert uneven({"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 2}}) == {"x": {"a": "1", "b": "1", "c": "2"}}
