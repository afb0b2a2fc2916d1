"""The plugin modules of the suite; hooks and fixtures live in them, nothing lives here."""

pytest_plugins = [
    "fixtures.hooks.options",
    "fixtures.hooks.selection",
    "fixtures.hooks.nodes",
    "fixtures.hooks.gate",
    "fixtures.hooks.results",
    "fixtures.hooks.artefacts",
    "fixtures.hooks.summary",
    "fixtures.deployment",
    "fixtures.nodes",
    "fixtures.claim",
    "fixtures.clients",
    "fixtures.corpus",
    "fixtures.load",
    "fixtures.baseline",
]
