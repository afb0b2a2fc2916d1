"""`python -m shakedown` is the command line."""

from shakedown.cli import main

if __name__ == "__main__":
    main()
