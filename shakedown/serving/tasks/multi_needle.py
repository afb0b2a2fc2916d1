"""Several codes in one page, and the question for all of them in some order, or for one among the others."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from shakedown.serving.tasks.codes import code, codes_in
from shakedown.serving.tasks.haystack import PAGE, haystack, off_page, on_page
from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, Unparsable, ask, last_turn
from shakedown.serving.tasks.template import templates

_SHORTEST, _LONGEST = 6, 8
_QUALITIES = ("north", "south", "east", "west", "front", "back", "upper", "lower", "old", "new")
_PLACES = ("gate", "door", "tower", "cabin", "vault", "bridge", "barn", "store", "garage", "chapel")
_PLACE = r"[a-z]+ [a-z]+"
_ALL = templates(
    {"places": rf"the {_PLACE}(?:, the {_PLACE})* and the {_PLACE}"},
    list=PAGE + "\n\nList the codes for {places}.",
    what=PAGE + "\n\nWhat are the codes for {places}?",
    commas=PAGE + "\n\nGive the codes for {places}, separated by commas.",
    only=PAGE + "\n\nReply with only the codes for {places}, in this order.",
    find=PAGE + "\n\nFind the codes for {places} in the text.",
    tell=PAGE + "\n\nTell me how to open {places}. Codes only, please.",
    first="Which codes does this text give for {places}?\n\n" + PAGE,
    read="Read this text.\n\n" + PAGE + "\n\nWrite down the codes for {places}.",
)
_ONE = templates(
    {"place": _PLACE},
    one_what=PAGE + "\n\nWhat is the code for the {place}?",
    one_only=PAGE + "\n\nWhat is the code for the {place}? Answer with the code only.",
    one_which=PAGE + "\n\nWhich code opens the {place}?",
    one_tell=PAGE + "\n\nTell me the code for the {place}.",
    one_first="What is the code for the {place} according to this text?\n\n" + PAGE,
    one_read="Read this text.\n\n" + PAGE + "\n\nGive me the code for the {place}.",
)
_TEMPLATES = _ALL | _ONE
_FACTS = (
    "The code for the {place} is {code}.",
    "Note that the {place} has the code {code}.",
    "The {place} opens with {code}.",
    "To open the {place}, enter {code}.",
    "Remember the {place}: {code}.",
    "They changed the code for the {place} to {code}.",
)
_STATED = re.compile(
    rf"\b[Tt]he ({_PLACE})(?: is| has the code| opens with|, enter|:| to) ([A-Za-z0-9]{{{_SHORTEST},{_LONGEST}}})\."
)


class MultiNeedle:
    """Two or three codes of six to eight characters, each for a place of its own."""

    name = "multi-needle"
    max_tokens = MaxTokens(thinking=1024, plain=256)
    templates = tuple(_TEMPLATES)

    def make(self, template: str, rng: random.Random) -> Question:
        """A page with all codes at random places."""
        places = [f"{quality} {place}" for quality, place in zip(*_names(rng), strict=True)]
        found = {place: code(rng, rng.randint(_SHORTEST, _LONGEST)) for place in places}
        sentences = haystack(rng)
        for place, secret in found.items():
            sentences.insert(rng.randint(0, len(sentences)), rng.choice(_FACTS).format(place=place, code=secret))
        rng.shuffle(places)
        asked = places[:1] if template in _ONE else places[: rng.randint(2, len(places))]
        listed = ", the ".join(asked[:-1]) + f" and the {asked[-1]}"
        phrasing = _TEMPLATES[template].render({"place": asked[0], "places": f"the {listed}"})
        return Question(
            template, ask(on_page(phrasing, " ".join(sentences))), ", ".join(found[place] for place in asked)
        )

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """One line for each place in the order of the question, then the codes."""
        turn = last_turn(messages)
        found = off_page(_TEMPLATES, turn) if turn else None
        if found is None:
            return None
        _, values, page = found
        stated = dict(_STATED.findall(page))
        asked = re.findall(rf"the ({_PLACE})", values.get("places") or f"the {values['place']}")
        if not set(asked) <= set(stated):
            return None
        codes = [stated[place] for place in asked]
        lines = "\n".join(f"{place}: {secret}" for place, secret in zip(asked, codes, strict=True))
        return Answer(thinking=lines, content=", ".join(codes))

    def read(self, answer: Answer) -> str:
        """The codes in the content, in order, whatever stands around them."""
        codes = codes_in(answer.content, shortest=_SHORTEST, longest=_LONGEST)
        if not codes:
            raise Unparsable("no code")
        return ", ".join(codes)


def _names(rng: random.Random) -> tuple[list[str], list[str]]:
    count = rng.choice((2, 3, 3))
    return rng.sample(_QUALITIES, count), rng.sample(_PLACES, count)
