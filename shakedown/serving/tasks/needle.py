"""A nonce somewhere in a page of sentences, and the question what it was."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from shakedown.serving.tasks.haystack import PAGE, haystack, off_page, on_page
from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.randomness import nonce
from shakedown.serving.tasks.reading import bare_text
from shakedown.serving.tasks.template import templates

_KINDS = (
    "secret code",
    "access code",
    "password",
    "launch code",
    "secret key",
    "magic word",
    "door code",
    "vault code",
    "recovery code",
    "license key",
    "entry code",
    "backup key",
)
_TEMPLATES = templates(
    {"kind": "|".join(_KINDS)},
    what=PAGE + "\n\nWhat is the {kind}?",
    what_only=PAGE + "\n\nWhat is the {kind}? Answer with the {kind} only.",
    tell=PAGE + "\n\nTell me the {kind}.",
    find=PAGE + "\n\nFind the {kind} in the text and reply with it only.",
    which=PAGE + "\n\nWhich {kind} is given in the text?",
    mentioned=PAGE + "\n\nWhat is the {kind} mentioned above? Reply with only the {kind}.",
    state="Read this text.\n\n" + PAGE + "\n\nState the {kind}.",
    first="What is the {kind} in this text?\n\n" + PAGE,
    search="Search the following text for the {kind} and give it back.\n\n" + PAGE,
    according=PAGE + "\n\nAccording to the text, what is the {kind}?",
    hidden="A {kind} is hidden in the text below.\n\n" + PAGE + "\n\nWhat is it?",
    please="Here is a note.\n\n" + PAGE + "\n\nPlease give me the {kind} from it.",
)
_FACTS = (
    "The {kind} is {nonce}.",
    "Remember: the {kind} is {nonce}.",
    "Note that the {kind} is {nonce}.",
    "For the record, the {kind} is {nonce}.",
    "Here is the {kind}: {nonce}.",
    "By the way, the {kind} is now {nonce}.",
    "Yesterday they set the {kind} to {nonce}.",
)
_STATED = {kind: re.compile(rf"\b[Tt]he {kind}(?: is| is now|:| to) ([A-Za-z0-9]+)\.") for kind in _KINDS}
_DEPTHS = ("start", "middle", "end")


class Needle:
    """Haystacks of 150 to 800 tokens, one in five of up to 3,000; the needle at the start, in the middle or at the end.

    In half of them a needle of another kind lies elsewhere.
    """

    name = "needle"
    max_tokens = MaxTokens(thinking=1024, plain=256)
    templates = tuple(f"{phrasing}-{depth}" for phrasing in _TEMPLATES for depth in _DEPTHS)

    def make(self, template: str, rng: random.Random) -> Question:
        """Sentences with the needle at the depth that the name of the template says."""
        phrasing, _, depth = template.rpartition("-")
        kind, other = rng.sample(_KINDS, 2)
        secret = nonce(rng)
        sentences = haystack(rng)
        if rng.random() < 0.5:
            sentences.insert(rng.randrange(len(sentences)), _fact(other, nonce(rng), rng))
        place = {"start": 1, "middle": len(sentences) // 2, "end": len(sentences) - 1}[depth]
        sentences.insert(place, _fact(kind, secret, rng))
        text = on_page(_TEMPLATES[phrasing].render({"kind": kind}), " ".join(sentences))
        return Question(template, ask(text), secret)

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """What the text says it is."""
        turn = last_turn(messages)
        found = off_page(_TEMPLATES, turn) if turn else None
        if found is None:
            return None
        _, values, page = found
        fact = _STATED[values["kind"]].search(page)
        if fact is None:
            return None
        return Answer(thinking=f"The {values['kind']} is {fact[1]}.", content=fact[1])

    def read(self, answer: Answer) -> str:
        """The content, or the one word that could be a nonce if the model answers in a sentence."""
        text = bare_text(answer)
        words = dict.fromkeys(re.findall(r"[A-Za-z0-9]+", text))
        coded = [word for word in words if len(word) == 12 and not (word.isalpha() and word[1:].islower())]
        return coded[0] if len(coded) == 1 else text


def _fact(kind: str, secret: str, rng: random.Random) -> str:
    return rng.choice(_FACTS).format(kind=kind, nonce=secret)
