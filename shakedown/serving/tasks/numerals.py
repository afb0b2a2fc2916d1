"""How six languages spell 0 to 100, by the rules of each."""

from __future__ import annotations

from collections.abc import Callable


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ENGLISH = _list(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen"""
)
_ENGLISH_TENS = _list("twenty thirty forty fifty sixty seventy eighty ninety")
_GERMAN = _list(
    """null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn
    achtzehn neunzehn"""
)
_GERMAN_TENS = _list("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
_FRENCH = _list(
    """zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit
    dix-neuf"""
)
_FRENCH_TENS = _list("vingt trente quarante cinquante soixante")
_SPANISH = _list(
    """cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete
    dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete
    veintiocho veintinueve"""
)
_SPANISH_TENS = _list("treinta cuarenta cincuenta sesenta setenta ochenta noventa")
_ITALIAN = _list(
    """zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici
    diciassette diciotto diciannove"""
)
_ITALIAN_TENS = _list("venti trenta quaranta cinquanta sessanta settanta ottanta novanta")
_DUTCH = _list(
    """nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien
    achttien negentien"""
)
_DUTCH_TENS = _list("twintig dertig veertig vijftig zestig zeventig tachtig negentig")


def _english(n: int) -> str:
    if n < 20:
        return _ENGLISH[n]
    tens, ones = _ENGLISH_TENS[n // 10 - 2], n % 10
    return f"{tens}-{_ENGLISH[ones]}" if ones else tens


def _german(n: int) -> str:
    if n < 20:
        return _GERMAN[n]
    tens, ones = _GERMAN_TENS[n // 10 - 2], n % 10
    return f"{_GERMAN[ones].removesuffix('s') if ones == 1 else _GERMAN[ones]}und{tens}" if ones else tens


def _french(n: int) -> str:
    """Tens go on counting to 79 and 99, one and eleven are joined by "et" but after eighty, which ends in s alone."""
    if n < 20:
        return _FRENCH[n]
    if n >= 80:
        return f"quatre-vingt-{_FRENCH[n - 80]}" if n > 80 else "quatre-vingts"
    tens = min(n // 10, 6)
    rest = n - 10 * tens
    if not rest:
        return _FRENCH_TENS[tens - 2]
    return f"{_FRENCH_TENS[tens - 2]}{' et ' if rest in (1, 11) else '-'}{_FRENCH[rest]}"


def _spanish(n: int) -> str:
    if n < 30:
        return _SPANISH[n]
    tens, ones = _SPANISH_TENS[n // 10 - 3], n % 10
    return f"{tens} y {_SPANISH[ones]}" if ones else tens


def _italian(n: int) -> str:
    """The tens lose their vowel before uno and otto, and tre at the end is stressed."""
    if n < 20:
        return _ITALIAN[n]
    tens, ones = _ITALIAN_TENS[n // 10 - 2], n % 10
    if ones in (1, 8):
        tens = tens[:-1]
    return tens + ("tré" if ones == 3 else _ITALIAN[ones] if ones else "")


def _dutch(n: int) -> str:
    """Ones before tens, joined by "en", with a diaeresis where two vowels would read as one."""
    if n < 20:
        return _DUTCH[n]
    tens, ones = _DUTCH_TENS[n // 10 - 2], n % 10
    if not ones:
        return tens
    return f"{_DUTCH[ones]}{'ën' if _DUTCH[ones].endswith('e') else 'en'}{tens}"


_RULES: dict[str, tuple[Callable[[int], str], str]] = {
    "English": (_english, "one hundred"),
    "German": (_german, "hundert"),
    "French": (_french, "cent"),
    "Spanish": (_spanish, "cien"),
    "Italian": (_italian, "cento"),
    "Dutch": (_dutch, "honderd"),
}
SPELLINGS: dict[str, tuple[str, ...]] = {
    language: (*map(spell, range(100)), hundred) for language, (spell, hundred) in _RULES.items()
}
"""For every language the words for 0 to 100."""

VALUES: dict[str, tuple[str, int]] = {
    word: (language, n) for language, words in reversed(SPELLINGS.items()) for n, word in enumerate(words)
}
"""What a word means, and in which language; a word of two languages (``six``, ``elf``) means the same in both."""


def parts(language: str, n: int) -> tuple[int, ...]:
    """The numbers that the word for ``n`` is put together from: tens and rest, or ``n`` itself."""
    tens = n // 10 * 10
    if language == "French" and n >= 60:
        tens = 80 if n >= 80 else 60
    return (n,) if n < 20 or n in (tens, 100) else (tens, n - tens)
