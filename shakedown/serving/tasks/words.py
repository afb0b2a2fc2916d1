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
EMOJI = tuple("🚀🌍🍎🎉🐢🔥🌧🎲🧩📦🦊🌻🐙🦉🐝🌵🍋🍇🥝🍉🎈🎻🎯🎨🚲🚂🛶🌙🪐🌈💡🔑🔔📚📎🧭🧵🧊😀🙂😎🤖👍👋💙💚")
CJK = (
    "東京北海道中国日本山川森林火水木金土天地人大小学校生先年月上下左右手足目耳口心力男女子犬鳥魚馬花草竹米"
    "雨雪風雲春夏秋冬朝夜白黒赤青石田町村車電話書語文字友好新古高長明早今时间们这说车书门见"
)
KANA = (
    "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん"
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
)
HANGUL = "가나다라마바사아자차카타파하고구그기노도로모보소오조호우리수물불산강나무바다하늘사람한국서울부산"
ACCENTED = _words(
    """naïve café Ünïcödé jalapeño Århus Łódź façade señor crème Zürich garçon Málaga smörgås Straße piñata über
    déjà São Kraków fjäll çelik žába őszi český ñandú Ærø Reykjavík Ελλάδα Москва привет"""
)
