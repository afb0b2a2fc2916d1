"""The plugin modules of the suite; hooks and fixtures live in them, nothing lives here.

A module stands after those that it imports: pytest must meet each as a plugin before anything else imports it.
"""

pytest_plugins = [
    "fixtures.hooks.options",
    "fixtures.hooks.selection",
    "fixtures.deployment",
    "fixtures.claim",
    "fixtures.hooks.suites",
    "fixtures.hooks.nodes",
    "fixtures.hooks.gate",
    "fixtures.hooks.results",
    "fixtures.hooks.start",
    "fixtures.hooks.artefacts",
    "fixtures.hooks.summary",
    "fixtures.nodes",
    "fixtures.clients",
    "fixtures.corpus",
    "fixtures.load",
    "fixtures.baseline",
]
