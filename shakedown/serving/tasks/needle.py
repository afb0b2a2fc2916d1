"""A nonce somewhere in a page of sentences, and the question what it was."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.randomness import nonce
from shakedown.serving.tasks.reading import bare_text
from shakedown.serving.tasks.template import first_match, templates
from shakedown.serving.tasks.words import CITIES, NAMES, WORDS

_KINDS = ("secret code", "access code", "password", "launch code", "secret key", "magic word")
_SLOTS = {"text": ".+", "kind": "|".join(_KINDS)}
_TEMPLATES = templates(
    _SLOTS,
    what="{text}\n\nWhat is the {kind}?",
    what_only="{text}\n\nWhat is the {kind}? Answer with the {kind} only.",
    tell="{text}\n\nTell me the {kind}.",
    find="{text}\n\nFind the {kind} in the text and reply with it only.",
    which="{text}\n\nWhich {kind} is given in the text?",
    mentioned="{text}\n\nWhat is the {kind} mentioned above? Reply with only the {kind}.",
    state="Read this text.\n\n{text}\n\nState the {kind}.",
)
_FACTS = ("The {kind} is {nonce}.", "Remember: the {kind} is {nonce}.", "Note that the {kind} is {nonce}.")
_DEPTHS = ("start", "middle", "end")


class Needle:
    """Short haystacks of about 150 to 700 tokens, the needle at the start, in the middle or at the end."""

    name = "needle"
    max_tokens = MaxTokens(thinking=1024, plain=256)
    templates = tuple(f"{phrasing}-{depth}" for phrasing in _TEMPLATES for depth in _DEPTHS)

    def make(self, template: str, rng: random.Random) -> Question:
        """Sentences with the needle at the depth that the name of the template says."""
        phrasing, _, depth = template.rpartition("-")
        kind, secret = rng.choice(_KINDS), nonce(rng)
        sentences = [_sentence(rng) for _ in range(rng.randint(9, 40))]
        place = {"start": 1, "middle": len(sentences) // 2, "end": len(sentences) - 1}[depth]
        sentences.insert(place, rng.choice(_FACTS).format(kind=kind, nonce=secret))
        text = _TEMPLATES[phrasing].render({"text": " ".join(sentences), "kind": kind})
        return Question(template, ask(text), secret)

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """What the text says it is."""
        turn = last_turn(messages)
        found = first_match(_TEMPLATES.values(), turn) if turn else None
        if found is None:
            return None
        kind, text = found[1]["kind"], found[1]["text"]
        fact = re.search(rf"\b[Tt]he {kind} is ([A-Za-z0-9]+)\.", text)
        if fact is None:
            return None
        return Answer(thinking=f"The text says that the {kind} is {fact[1]}.", content=fact[1])

    def read(self, answer: Answer) -> str:
        """The content, or the one word that could be a nonce if the model answers in a sentence."""
        text = bare_text(answer)
        words = dict.fromkeys(re.findall(r"[A-Za-z0-9]+", text))
        coded = [word for word in words if len(word) == 12 and not (word.isalpha() and word[1:].islower())]
        return coded[0] if len(coded) == 1 else text


def _sentence(rng: random.Random) -> str:
    a, b, c = rng.sample(WORDS, 3)
    return rng.choice(
        (
            f"The {a} {b} is near the {c}.",
            f"{rng.choice(NAMES)} went to {rng.choice(CITIES)} with a {a} and a {b}.",
            f"Every {a} needs a {b}.",
            f"In {rng.choice(CITIES)} the {a} was closed for {rng.randint(2, 90)} days.",
            f"They built a {a} {b} in {rng.randint(1800, 2030)}.",
            f"{rng.choice(NAMES)} told {rng.choice(NAMES)} about the {a} of the {b}.",
        )
    )
