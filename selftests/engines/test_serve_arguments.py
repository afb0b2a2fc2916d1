"""Command lines of the API server, from a process and from shell text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.engines.vllm.arguments import parse_arguments, whole_number
from shakedown.engines.vllm.shell import parse_shell, reads_variables


@pytest.mark.parametrize(
    "program",
    [
        ["vllm", "serve"],
        ["/usr/bin/python3", "/usr/local/bin/vllm", "serve"],
        ["python", "-m", "vllm.entrypoints.cli.main", "serve"],
    ],
)
def test_the_model_may_stand_by_itself(program: list[str]) -> None:
    command = parse_arguments([*program, "/models/x", "-tp", "2", "--max_model_len=64k", "--enforce-eager"])
    assert command is not None
    assert command.model == "/models/x"
    assert (command.number("tensor-parallel-size"), command.number("max-model-len")) == (2, 64000)
    assert command.options["enforce-eager"] == ""


def test_the_module_takes_the_model_as_an_option() -> None:
    command = parse_arguments(["python", "-m", "vllm.entrypoints.openai.api_server", "--model", "/m"])
    assert command is not None
    assert (command.model, command.number("port"), command.api_servers) == ("/m", 8000, 1)


@pytest.mark.parametrize("arguments", [["vllm", "bench", "serve"], ["python", "train.py"], ["tail", "vllm.log"], []])
def test_another_program_is_no_server(arguments: list[str]) -> None:
    assert parse_arguments(arguments) is None


def test_what_a_file_or_a_variable_holds_is_not_known() -> None:
    command = parse_arguments(["vllm", "serve", "--config", "serve.yaml", "--port", "$PORT"])
    assert command is not None
    assert (command.value("port"), command.value("tensor-parallel-size")) == (None, None)


def test_each_data_parallel_rank_has_an_api_server_unless_told() -> None:
    two, one = (parse_arguments(["vllm", "serve", "-dp", "2", *more]) for more in ([], ["--api-server-count", "1"]))
    assert two is not None
    assert one is not None
    assert (two.api_servers, one.api_servers) == (2, 1)


@pytest.mark.parametrize(
    ("text", "number"), [("65536", 65536), ("64K", 65536), ("1.5k", 1500), ("auto", None), (None, None)]
)
def test_numbers_with_units(text: str | None, number: int | None) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        ("vllm serve /m --port 1", {}),
        ("docker exec -d vllm sh -c 'vllm serve /m --port 1 > /var/log/x 2>&1'", {}),
        ("docker exec -e A=1 vllm vllm serve /m --port 1", {"A": "1"}),
        ("export A=1\nB='x y' nohup vllm serve /m --port 1 &", {"A": "1", "B": "x y"}),
        ("vllm serve /m --port 1 2>&1 | tee log", {}),
        ("A=1 echo no; vllm serve /m \\\n  --port 1", {}),
        ("P=1\nvllm serve /m --port $P", {"P": "1"}),
        ("# it's the head\nvllm serve /m --port 1 # don't stop it", {}),
        ("docker exec vllm sh -c '\n# served\nexport A=1\nvllm serve /m \\\n  --port 1 # here\n'", {"A": "1"}),
        ("ssh head \"docker exec vllm bash -lc 'export A=1 && vllm serve /m --port 1'\"", {"A": "1"}),
    ],
)
def test_shell_text_is_taken_apart(text: str, environment: dict[str, str]) -> None:
    command = parse_shell(text)
    assert command is not None
    assert (command.model, command.options, command.environment) == ("/m", {"port": "1"}, environment)


def test_a_number_sign_in_a_word_begins_no_comment() -> None:
    command = parse_shell("vllm serve /m#1 --served-model-name 'a # b' --port 1")
    assert command is not None
    assert (command.model, command.options) == ("/m#1", {"served-model-name": "a # b", "port": "1"})


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("set -a; . /etc/vllm.env; vllm serve /m", True),
        ("source ~/.env && vllm serve /m", True),
        ("docker exec --env-file=/etc/vllm.env vllm vllm serve /m", True),
        ("docker exec vllm bash -lc 'vllm serve /m'", True),
        ("cd ./models && vllm serve ./m > .log", False),
        ("docker exec vllm bash -c 'vllm serve /m'", False),
        ("# . /etc/vllm.env\nvllm serve /m", False),
    ],
)
def test_files_of_variables_are_noticed(text: str, reads: bool) -> None:
    assert reads_variables(text) is reads


@pytest.mark.parametrize("text", ["./start-vllm.sh", "systemctl start vllm", "vllm serve 'open", ""])
def test_what_starts_something_else_is_not_guessed_at(text: str) -> None:
    assert parse_shell(text) is None


@given(st.text(alphabet="vllm serve -'\"$;|&>\n\\=x1", max_size=60))
def test_what_is_read_from_any_text_stands_in_it(text: str) -> None:
    parsed = parse_shell(text)
    assert parsed is None or "vllm" in text
