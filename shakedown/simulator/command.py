"""The command line of the simulator."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from shakedown.simulator.faults.registry import FAULTS, listing
from shakedown.simulator.process import serve
from shakedown.simulator.settings import MODEL_FILES, Settings, Timing

_LAST_PORT = 65535


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.list_faults:
        sys.stdout.write(listing() + "\n")
        return
    missing = [name for name in MODEL_FILES if not (options.model / name).is_file()]
    if missing:
        parser.error(f"argument --model: {options.model} has no {', '.join(missing)}")
    settings = Settings(
        model=options.model,
        served_name=options.served_name,
        root=options.root,
        max_model_len=options.max_model_len,
        timing=Timing(options.ttft, options.itl, options.tokens_per_chunk),
        max_concurrency=options.max_concurrency,
        api_key=options.api_key,
        fault=options.fault,
    )
    try:
        serve(settings, host=options.host, port=options.port, owned=options.owned)
    except OSError as error:
        parser.exit(1, f"cannot listen on {options.host} port {options.port}: {os.strerror(error.errno or 0)}\n")


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) <= _LAST_PORT):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to {_LAST_PORT}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    default = Settings()
    parser = argparse.ArgumentParser(
        prog="python -m shakedown.simulator",
        description="A server that speaks like vLLM, with exact timing, exact counts and named faults.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to bind (%(default)s)")
    parser.add_argument("--port", type=_port, default=0, help="port; 0 takes any free one and says which (%(default)s)")
    parser.add_argument("--model", type=Path, default=default.model, help="folder with tokenizer and chat template")
    parser.add_argument("--served-name", default=default.served_name, help="id of the model (%(default)s)")
    parser.add_argument("--root", default=default.root, help="path that /v1/models reports (%(default)s)")
    parser.add_argument("--max-model-len", type=int, default=default.max_model_len, help="tokens (%(default)s)")
    parser.add_argument("--ttft", type=float, default=default.timing.ttft_s, help="s to the first token (%(default)s)")
    parser.add_argument("--itl", type=float, default=default.timing.itl_s, help="s from token to token (%(default)s)")
    parser.add_argument("--tokens-per-chunk", type=int, default=1, help="tokens that leave together (%(default)s)")
    parser.add_argument(
        "--max-concurrency", type=int, default=default.max_concurrency, help="requests at once (%(default)s)"
    )
    parser.add_argument("--api-key", help="bearer token that routes under /v1 ask for")
    parser.add_argument("--fault", choices=tuple(FAULTS), metavar="NAME", help="show this fault")
    parser.add_argument("--list-faults", action="store_true", help="say which faults there are, and end")
    parser.add_argument("--owned", action="store_true", help="end when standard input does")
    return parser
