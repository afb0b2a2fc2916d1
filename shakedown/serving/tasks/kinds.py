"""The kinds of service that tool items are about."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from shakedown.serving.tasks.item import Tool
from shakedown.serving.tasks.randomness import nonce
from shakedown.serving.tasks.toolbox import Kind, Offered, Parameter, offered
from shakedown.serving.tasks.words import CITIES, NAMES, WORDS

_ROOMS = ("kitchen", "bedroom", "hall", "office", "garage", "bathroom", "cellar", "attic")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LANGUAGES = ("French", "German", "Italian", "Polish", "Spanish", "Swedish")
_GENRES = ("blues", "folk", "jazz", "pop", "rock", "soul")
_PRIORITIES = ("low", "normal", "high")
_CURRENCIES = ("CHF", "DKK", "EUR", "GBP", "JPY", "NOK", "SEK", "USD")
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _one_of(values: Sequence[str]) -> Callable[[random.Random], str]:
    return lambda rng: rng.choice(values)


def _number(low: int, high: int) -> Callable[[random.Random], str]:
    return lambda rng: str(rng.randint(low, high))


def _two_words(rng: random.Random) -> str:
    return " ".join(rng.sample(WORDS, 2))


def _address(rng: random.Random) -> str:
    return f"{rng.choice(NAMES).lower()}@example.{rng.choice(('com', 'org', 'net'))}"


def _city(*names: str) -> Parameter:
    return Parameter(names, r"[A-Z]\w+(?: [A-Z]\w+)*", _one_of(CITIES))


def _pair_of_words(*names: str) -> Parameter:
    return Parameter(names, r"[a-z]+ [a-z]+", _two_words)


def _whole(low: int, high: int, *names: str) -> Parameter:
    return Parameter(names, r"\d{1,3}", _number(low, high), type="integer")


def _listed(choices: tuple[str, ...], *names: str) -> Parameter:
    return Parameter(names, "|".join(choices), _one_of(choices), choices=choices)


KINDS: tuple[Kind, ...] = (
    Kind(
        "weather",
        ("get_weather", "fetch_weather", "weather_lookup", "current_weather", "weather_for", "check_weather"),
        (
            "Get the current weather for a city.",
            "Returns the weather at a place right now.",
            "Weather report for a given location.",
            "Looks up the current weather conditions.",
        ),
        {"city": _city("city", "location", "place", "town", "city_name")},
        (
            "What is the weather in {city}?",
            "How is the weather in {city} today?",
            "What is the weather like in {city} right now?",
        ),
        ("tell me the weather in {city}", "check the weather in {city}"),
        ("What is the weather in {many}?", "How is the weather in {many}?", "Weather in {many}, please."),
    ),
    Kind(
        "time",
        ("get_time", "local_time", "time_in_city", "clock_lookup", "current_time", "fetch_time"),
        (
            "Get the current time in a city.",
            "Returns the local time at a place.",
            "Tells what time it is somewhere.",
            "Local clock time of a given location.",
        ),
        {"city": _city("city", "location", "place", "zone_city", "where")},
        (
            "What time is it in {city}?",
            "What is the current time in {city}?",
            "How late is it in {city} now?",
        ),
        ("tell me the time in {city}", "find out what time it is in {city}"),
        ("What time is it in {many}?", "Tell me the local time in {many}.", "Local time in {many}, please."),
    ),
    Kind(
        "order",
        ("get_order", "order_status", "track_order", "find_order", "lookup_order", "fetch_order_state"),
        (
            "Get the status of an order.",
            "Returns where an order is.",
            "Tracks a customer order by its id.",
            "Looks up the state of a shipment order.",
        ),
        {
            "order": Parameter(
                ("order_id", "order", "order_number", "order_code", "reference"),
                r"[A-Za-z0-9]{8}",
                lambda rng: nonce(rng, 8),
            )
        },
        (
            "Where is order {order}?",
            "What is the status of order {order}?",
            "Has order {order} been sent yet?",
        ),
        ("look up order {order}", "track order {order}", "check the status of order {order}"),
        ("Where are orders {many}?", "Look up orders {many}.", "What is the status of orders {many}?"),
    ),
    Kind(
        "timer",
        ("set_timer", "start_timer", "timer_create", "new_countdown", "begin_timer"),
        (
            "Set a timer.",
            "Starts a countdown of some minutes.",
            "Creates a kitchen timer.",
            "Rings after a number of minutes.",
        ),
        {"minutes": _whole(2, 240, "minutes", "duration_minutes", "length_in_minutes", "mins")},
        (
            "I need a timer of {minutes} minutes.",
            "Wake me in {minutes} minutes.",
        ),
        ("set a timer for {minutes} minutes", "start a timer of {minutes} minutes"),
        ("Set timers for {many} minutes.", "Start timers of {many} minutes.", "I need timers for {many} minutes."),
    ),
    Kind(
        "user",
        ("lookup_user", "get_user", "find_user", "user_info", "fetch_account", "user_by_id"),
        (
            "Look up a user by id.",
            "Returns the account of a user.",
            "Finds the record of one user.",
            "Gets user details from the database.",
        ),
        {"user": _whole(1, 999, "user_id", "id", "user", "user_number", "account_id")},
        ("Who is user {user}?", "Which account does user {user} have?"),
        ("look up user {user}", "find the user with id {user}", "show me user {user}"),
        ("Look up users {many}.", "Who are users {many}?", "Show me users {many}."),
    ),
    Kind(
        "search",
        ("search_web", "web_search", "find_pages", "internet_search", "search_online", "query_web"),
        (
            "Search the web.",
            "Finds web pages about something.",
            "Runs a query in a search engine.",
            "Internet search for any subject.",
        ),
        {"query": _pair_of_words("query", "q", "search_terms", "terms", "keywords")},
        ("Are there web pages about {query}?", "What does the web say about {query}?"),
        ("search the web for {query}", "find pages about {query}", "look on the internet for {query}"),
        ("Search the web for {many}.", "Find pages about {many}."),
    ),
    Kind(
        "currency",
        ("convert_currency", "exchange_money", "currency_converter", "fx_convert", "change_money"),
        (
            "Convert an amount between currencies.",
            "Changes money from one currency into another.",
            "Currency conversion at the rate of today.",
        ),
        {
            "amount": _whole(2, 999, "amount", "sum", "value", "quantity"),
            "source": Parameter(
                ("from_currency", "source_currency", "from", "base"), r"[A-Z]{3}", _one_of(_CURRENCIES)
            ),
            "target": Parameter(("to_currency", "target_currency", "to", "into"), r"[A-Z]{3}", _one_of(_CURRENCIES)),
        },
        ("How much is {amount} {source} in {target}?", "What are {amount} {source} worth in {target}?"),
        ("convert {amount} {source} to {target}", "exchange {amount} {source} into {target}"),
    ),
    Kind(
        "email",
        ("send_email", "email_send", "mail_to", "compose_mail", "write_email"),
        ("Send an email.", "Sends a mail to an address.", "Writes an electronic letter to somebody."),
        {
            "to": Parameter(("to", "recipient", "address", "to_address"), r"[a-z]+@example\.(?:com|org|net)", _address),
            "subject": _pair_of_words("subject", "title", "subject_line", "headline"),
        },
        ("I want to send {to} an email with the subject {subject}.",),
        (
            "send an email to {to} with the subject {subject}",
            "email {to} with subject {subject}",
            "write to {to} under the subject {subject}",
        ),
    ),
    Kind(
        "translation",
        ("translate", "translate_word", "translation", "to_language", "translate_text"),
        ("Translate a word.", "Translates text into another language.", "Gives the translation of a text."),
        {
            "text": Parameter(("text", "word", "source_text", "phrase"), r"[a-z]+", _one_of(WORDS)),
            "language": _listed(_LANGUAGES, "language", "target_language", "to_language", "into"),
        },
        ("What is '{text}' in {language}?", "How do you say '{text}' in {language}?"),
        ("translate '{text}' into {language}", "translate the word '{text}' to {language}"),
    ),
    Kind(
        "calendar",
        ("add_event", "create_event", "calendar_add", "new_appointment", "schedule_event"),
        ("Add an event to the calendar.", "Creates a calendar entry.", "Puts an appointment into the calendar."),
        {
            "title": _pair_of_words("title", "event", "name", "event_title"),
            "day": _listed(_DAYS, "day", "weekday", "on_day", "day_of_week"),
        },
        ("I have an appointment called {title} on {day}.",),
        (
            "add {title} to my calendar on {day}",
            "put {title} into my calendar for {day}",
            "schedule {title} on {day}",
        ),
    ),
    Kind(
        "stock",
        ("get_stock_price", "stock_quote", "share_price", "fetch_quote", "price_of_stock"),
        ("Get the price of a stock.", "Returns the latest share price.", "Quote of a stock by its symbol."),
        {
            "symbol": Parameter(
                ("symbol", "ticker", "stock", "stock_symbol"),
                r"[A-Z]{3,4}",
                lambda rng: "".join(rng.choices(_CAPITALS, k=rng.randint(3, 4))),
            )
        },
        ("What is the stock price of {symbol}?", "How much is a share of {symbol}?"),
        ("get me the stock price of {symbol}", "check the price of {symbol} stock"),
        ("What are the stock prices of {many}?", "Get me the share prices of {many}."),
    ),
    Kind(
        "route",
        ("find_route", "get_directions", "plan_trip", "route_planner", "directions_between"),
        ("Find a route between two cities.", "Plans a trip by car.", "Directions from one place to another."),
        {
            "origin": _city("origin", "start", "from_city", "departure"),
            "destination": _city("destination", "end", "to_city", "goal"),
        },
        ("How do I get from {origin} to {destination}?", "What is the best way from {origin} to {destination}?"),
        ("find a route from {origin} to {destination}", "plan a trip from {origin} to {destination}"),
    ),
    Kind(
        "heating",
        ("set_temperature", "set_thermostat", "heating_control", "heat_room", "adjust_heating"),
        ("Set the temperature of a room.", "Controls the heating of one room.", "Adjusts a thermostat in degrees."),
        {
            "room": Parameter(("room", "room_name", "where", "area"), "|".join(_ROOMS), _one_of(_ROOMS)),
            "degrees": _whole(12, 28, "degrees", "temperature", "celsius", "target_degrees"),
        },
        ("The {room} should have {degrees} degrees.", "I want it to be {degrees} degrees in the {room}."),
        ("set the {room} to {degrees} degrees", "heat the {room} to {degrees} degrees"),
    ),
    Kind(
        "light",
        ("switch_light", "set_light", "light_control", "toggle_lamp", "lamp_switch"),
        ("Switch the light of a room.", "Turns a lamp on or off.", "Controls the lights at home."),
        {
            "room": Parameter(("room", "room_name", "where", "area"), "|".join(_ROOMS), _one_of(_ROOMS)),
            "state": Parameter(("on", "is_on", "turned_on", "light_on"), "on|off", _one_of(("on", "off")), "boolean"),
        },
        ("The light in the {room} should be {state}.",),
        (
            "turn {state} the light in the {room}",
            "turn the light in the {room} {state}",
            "switch {state} the {room} light",
        ),
    ),
    Kind(
        "music",
        ("play_music", "start_music", "music_player", "play_genre", "radio_play"),
        ("Play music of a genre.", "Starts the music player.", "Plays songs of one style."),
        {"genre": _listed(_GENRES, "genre", "style", "music_genre", "kind")},
        ("I want to hear some {genre}.", "I am in the mood for {genre} music."),
        ("play some {genre}", "play {genre} music", "put on some {genre}"),
    ),
    Kind(
        "ticket",
        ("create_ticket", "open_ticket", "new_issue", "report_problem", "file_ticket"),
        ("Create a support ticket.", "Opens a ticket for the help desk.", "Reports a problem to the support team."),
        {
            "title": _pair_of_words("title", "summary", "problem", "topic"),
            "priority": _listed(_PRIORITIES, "priority", "urgency", "importance"),
        },
        ("I have a problem with {title} and its priority is {priority}.",),
        (
            "open a ticket about {title} with {priority} priority",
            "create a {priority} priority ticket about {title}",
        ),
    ),
)
_BY_DESCRIPTION = {description: kind for kind in KINDS for description in kind.descriptions}


def known(tools: Sequence[Tool]) -> dict[str, Offered]:
    """The offered functions of these kinds, by topic."""
    return offered(tools, _BY_DESCRIPTION)


def some_tools(needed: Sequence[Kind], rng: random.Random, *, without: Kind | None = None) -> tuple[Tool, ...]:
    """Declarations of the needed kinds among others, one to four in all, in any order."""
    others = [kind for kind in KINDS if kind is not without and kind not in needed]
    chosen = [*needed, *rng.sample(others, rng.randint(0 if needed else 1, 4 - len(needed)))]
    rng.shuffle(chosen)
    return tuple(kind.declare(rng) for kind in chosen)
