"""``python -m shakedown.simulator``."""

from __future__ import annotations

from shakedown.simulator.command import main

if __name__ == "__main__":
    main()
