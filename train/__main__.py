"""Command line: ``python -m train tokenizer|fit|export|evaluate|card``; see ``README.md``."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

from train.plan import Plan
from train.shape import Shape

_VOCABULARY = Path(__file__).with_name("vocabulary")
_ACCURACY = Path(__file__).with_name("accuracy.json")
_RECORD = Path(__file__).with_name("run.json")
_MODEL = Path(__file__).parents[1] / "shakedown" / "embedded" / "model"


def main() -> None:
    """Entry point. What a command needs is imported by it: not every machine has all of it."""
    parser = argparse.ArgumentParser(prog="python -m train", description="Makes the embedded model.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_tokenizer, _add_fit, _add_export, _add_evaluate, _add_card):
        add(commands)
    arguments = vars(parser.parse_args())
    arguments.pop("run")(**arguments)


def _add_tokenizer(commands: Any) -> None:
    command = commands.add_parser("tokenizer", help="make the tokenizer from exercises")
    command.add_argument("--out", type=Path, default=_VOCABULARY, help="folder (default: %(default)s)")
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--documents", type=int, default=1500, help="exercises of each family (default: %(default)s)")
    command.set_defaults(run=_tokenizer)


def _tokenizer(out: Path, seed: int, documents: int) -> None:
    from train import tokenizer

    made = tokenizer.make(out, seed=seed, documents=documents)
    sys.stdout.write(f"{out}: {made.get_vocab_size()} ids\n")


def _add_fit(commands: Any) -> None:
    command = commands.add_parser("fit", help="train, or go on training")
    command.add_argument("--out", type=Path, required=True, help="folder for weights, log.jsonl, run.json")
    command.add_argument("--checkpoint", type=Path, required=True, help="folder for what the next part needs")
    command.add_argument("--tokenizer", type=Path, default=_VOCABULARY / "tokenizer.json")
    command.add_argument("--start", type=Path, help="folder with weights to begin with")
    command.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    command.add_argument("--eager", dest="compiled", action="store_false", help="do not compile")
    command.add_argument("--budget", dest="budget_s", type=float, metavar="SECONDS", default=Plan.budget_s)
    command.add_argument("--part", dest="part_s", type=float, metavar="SECONDS", default=Plan.part_s)
    command.add_argument("--most-steps", type=int)
    _add_numbers(command, Plan, ("seed", "rows", "row_tokens", "workers", "learning_rate", "warmup_s", "weight_decay"))
    _add_numbers(command, Plan, ("balance", "clip", "validate_every_s", "validation_items"))
    _add_numbers(command, Shape, tuple(field.name for field in dataclasses.fields(Shape)))
    command.set_defaults(run=_fit)


def _add_numbers(command: Any, options: type, names: tuple[str, ...]) -> None:
    for name in names:
        default = getattr(options, name)
        command.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default, metavar="N")


def _fit(**options: Any) -> None:
    from train.fit import fit

    shape = Shape(**{field.name: options.pop(field.name) for field in dataclasses.fields(Shape)})
    fit(Plan(**options), shape)


def _add_export(commands: Any) -> None:
    command = commands.add_parser("export", help="write the model folder that is served")
    command.add_argument("trained", type=Path, help="folder that fit wrote")
    command.add_argument("--tokenizer", type=Path, default=_VOCABULARY, help="folder (default: %(default)s)")
    command.add_argument("--target", type=Path, default=_MODEL, help="folder (default: %(default)s)")
    command.set_defaults(run=_export)


def _export(trained: Path, tokenizer: Path, target: Path) -> None:
    from train.export import export

    checked = export(trained, tokenizer, target)
    sys.stdout.write(
        f"{target}: logits as in transformers up to {checked.difference:.2g}, the greatest being {checked.scale:.3g}\n"
    )


def _add_evaluate(commands: Any) -> None:
    command = commands.add_parser("evaluate", help="measure the model that a server serves")
    command.add_argument("--url", required=True, help="of the server, without /v1")
    command.add_argument("--served-name", default="shakedown-tiny")
    command.add_argument("--model", type=Path, default=_MODEL, help="its folder (default: %(default)s)")
    command.add_argument("--out", type=Path, default=_ACCURACY, help="file (default: %(default)s)")
    command.add_argument("--seed", type=int, default=20_000, help="of the items (default: %(default)s)")
    command.add_argument("--items", type=int, default=200, help="of each family and mode (default: %(default)s)")
    command.add_argument("--concurrency", type=int, default=8)
    command.set_defaults(run=_evaluate)


def _evaluate(**options: Any) -> None:
    from train.evaluate import Options, evaluate

    evaluate(Options(**options))


def _add_card(commands: Any) -> None:
    command = commands.add_parser("card", help="write the model card")
    command.add_argument("--run", dest="record", type=Path, default=_RECORD, help="run.json (default: %(default)s)")
    command.add_argument("--accuracy", type=Path, default=_ACCURACY, help="file (default: %(default)s)")
    command.add_argument("--model", type=Path, default=_MODEL, help="folder (default: %(default)s)")
    command.set_defaults(run=_card)


def _card(record: Path, accuracy: Path, model: Path) -> None:
    from train.card import write

    write(record, accuracy, model)


if __name__ == "__main__":
    main()
