"""Plain words that items are built from: short, unambiguous, and nothing that a filter would trip over."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


WORDS = _words(
    """anchor basil bridge candle canyon castle cellar cherry cinder cobalt coffee copper coral cotton crane dune
    falcon feather fern flint forest garden ginger glacier granite harbor hazel heron honey island jungle kettle
    ladder lantern lemon linen magnet maple marble meadow mirror mountain nickel oasis olive orchard otter oyster
    paper pebble pepper pillow planet poppy quartz rabbit raven ribbon river rocket saddle saffron salmon silver
    sparrow spruce stone sugar summer table tiger timber tulip tunnel turtle valley velvet violet walnut water
    willow window winter yellow zebra"""
)
NAMES = _words("Alice Bruno Clara David Elena Felix Greta Henry Irene Jonas Karin Lucas Maria Nina Oscar Paula")
CITIES = _words("Athens Berlin Bergen Cairo Dublin Geneva Lima Lisbon London Madrid Oslo Paris Prague Quito Rome Tokyo")
ITEMS = _words("apples books boxes bottles coins cookies eggs lemons marbles pencils stamps tickets")
JOBS = _words("baker carpenter dentist doctor farmer lawyer painter pilot teacher writer")
COLORS = _words("black blue brown green orange pink purple red white yellow")

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ALPHANUMERIC = LETTERS + LETTERS.upper() + "0123456789"
EMOJI = tuple("🚀🌍🍎🎉🐢🔥🌧🎲🧩📦🦊🌻")
CJK = "東京北海道中国日本山川森林火水木金土天地人大小学校生先年月"
ACCENTED = ("naïve", "café", "Ünïcödé", "jalapeño", "Århus", "Łódź", "façade", "señor", "crème", "Zürich")
