"""Small talk with fixed answers, short and true."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.reading import bare_text
from shakedown.serving.tasks.recall import CORRECTIONS, FACTS, STATEMENTS

_OPENINGS = ("", "", "", "", "Hi, ", "Hello, ", "Hey, ", "OK, ", "So, ")
_OUTER = re.compile(r"^(?:(?:hi|hello|hey|ok|so),? )+|[.!?\s]+$")
_STATEMENT = re.compile(
    "|".join(
        re.escape(text).replace(r"\{kind\}", f"(?:{'|'.join(FACTS)})").replace(r"\{value\}", r"\w+")
        for text in (*STATEMENTS, *CORRECTIONS)
    )
)


@dataclass(frozen=True, slots=True)
class _Intent:
    answer: str
    phrases: tuple[str, ...]
    marks: tuple[str, ...] = ("?", "?", "")


_PLAIN = (".", "!", "")
_INTENTS: dict[str, _Intent] = {
    "greeting": _Intent(
        "Hello! What can I do for you?",
        (
            "Hello",
            "Hi",
            "Hey",
            "Good morning",
            "Good evening",
            "Good afternoon",
            "Hi there",
            "Hello there",
            "Greetings",
        ),
        _PLAIN,
    ),
    "thanks": _Intent(
        "You are welcome.",
        ("Thanks", "Thank you", "Thank you very much", "Thanks a lot", "Many thanks", "Thanks for your help"),
        _PLAIN,
    ),
    "goodbye": _Intent(
        "Goodbye!",
        ("Goodbye", "Bye", "Bye bye", "See you", "See you later", "Good night", "I have to go", "Until next time"),
        _PLAIN,
    ),
    "praise": _Intent(
        "Thank you.",
        ("Well done", "Good job", "Great", "Nice", "That was good", "Perfect", "Very good", "You are right"),
        _PLAIN,
    ),
    "blame": _Intent(
        "I am sorry. I am a small model and I make mistakes.",
        ("That is wrong", "You are wrong", "This is not right", "That was a mistake", "Wrong", "Bad answer"),
        _PLAIN,
    ),
    "who": _Intent(
        "I am a small test model that solves short exercises.",
        (
            "Who are you",
            "What are you",
            "What is your name",
            "Tell me who you are",
            "Introduce yourself",
            "Which model are you",
            "Who am I talking to",
            "Are you a language model",
            "What kind of model are you",
        ),
    ),
    "abilities": _Intent(
        "I can add and subtract, copy, reverse, count, find facts in a text and call tools.",
        (
            "What can you do",
            "How can you help me",
            "What are you good at",
            "What do you know",
            "Can you help me",
            "What are you able to do",
            "Which tasks can you solve",
            "Help",
            "What can I ask you",
        ),
    ),
    "wellbeing": _Intent(
        "I am a program and I am running.",
        ("How are you", "How are you today", "How do you do", "How is it going", "Are you well", "Are you OK"),
    ),
    "human": _Intent(
        "No, I am a program.",
        (
            "Are you human",
            "Are you a human",
            "Are you a person",
            "Are you real",
            "Are you alive",
            "Do you have feelings",
            "Are you a man or a woman",
        ),
    ),
    "maker": _Intent(
        "I was made to test servers of language models.",
        ("Who made you", "Who built you", "Who trained you", "Where do you come from", "Why were you made"),
    ),
    "size": _Intent(
        "I am very small: I have a few million parameters.",
        ("How big are you", "How many parameters do you have", "How large are you", "Are you a large model"),
    ),
    "there": _Intent(
        "Yes, I am here.",
        ("Are you there", "Are you here", "Is anybody there", "Can you hear me", "Do you work", "Are you working"),
    ),
    "test": _Intent("The test has arrived.", ("Test", "Testing", "This is a test", "Just a test", "Ping"), _PLAIN),
}
_NOTED = Answer(thinking="The user tells me something to remember.", content="OK.")
_PHRASES = {phrase.lower(): name for name, intent in _INTENTS.items() for phrase in intent.phrases}


class Chat:
    """A greeting, thanks, a question about the model, or something to remember."""

    name = "chat"
    max_tokens = MaxTokens(thinking=512, plain=128)
    templates = (*_INTENTS, "statement", "correction")

    def make(self, template: str, rng: random.Random) -> Question:
        """One of the phrases in one of its spellings."""
        if template not in _INTENTS:
            kind = rng.choice(tuple(FACTS))
            texts = STATEMENTS if template == "statement" else CORRECTIONS
            text = rng.choice(texts).format(kind=kind, value=FACTS[kind](rng))
            return Question(template, ask(text), _NOTED.content)
        intent = _INTENTS[template]
        phrase = rng.choice(intent.phrases)
        opening = rng.choice(_OPENINGS) if intent.marks is not _PLAIN else ""
        text = opening + (phrase[0].lower() + phrase[1:] if opening or rng.random() < 0.25 else phrase)
        return Question(template, ask(text + rng.choice(intent.marks)), intent.answer)

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """The answer that goes with the phrase."""
        turn = last_turn(messages)
        if turn is None:
            return None
        if _STATEMENT.fullmatch(turn):
            return _NOTED
        said = turn.strip().lower()
        name = _PHRASES.get(said.rstrip(".!? ")) or _PHRASES.get(_OUTER.sub("", said))
        return Answer(thinking=f"This is small talk: {name}.", content=_INTENTS[name].answer) if name else None

    def read(self, answer: Answer) -> str:
        """The content: these answers are fixed."""
        return bare_text(answer)
