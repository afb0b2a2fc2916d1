"""Files that cannot be read, or hold no deployment."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftests.inventory.files import GOOD, refusal
from shakedown.errors import DeploymentFileError
from shakedown.inventory.load import load_deployment

CASES = {
    "empty": (b"", "FILE: is empty; deployment.example.toml is a start"),
    "white": (b" \n\t\n", "FILE: is empty; deployment.example.toml is a start"),
    "only a comment": (b"# to be written\n", "FILE: holds no key; deployment.example.toml is a start"),
    "not UTF-8": (b'version = 1\nname = "caf\xe9"\n', "FILE:2: byte 0xe9 is not UTF-8; save the file as UTF-8"),
    "UTF-16": (GOOD.encode("utf-16"), "FILE:1: byte 0xff is not UTF-8; save the file as UTF-8"),
    "not TOML": (
        b"version = 1\nname: pair\n",
        "FILE:2: is not TOML: Expected '=' after a key in a key/value pair (column 5)",
    ),
    "cut off": (b'version = 1\nname = "pa', "FILE: is not TOML: Unterminated string (at end of document)"),
    "a key twice": (b"version = 1\nversion = 1\n", "FILE:2: is not TOML: Cannot overwrite a value (column 12)"),
    "too large": (b"#" * (1 << 20) + b"\n", "FILE: has more than 1048576 bytes and is no deployment file"),
    "nested without end": (b"a = " + b"[" * 5000, "FILE: is not a deployment file: nested too deeply"),
    "a number without end": (
        b"a = " + b"9" * 5000,
        "FILE: is not TOML: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits; "
        "use sys.set_int_max_str_digits() to increase the limit",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_content_is_refused_with_its_message(case: str, tmp_path: Path) -> None:
    content, message = CASES[case]
    assert refusal(content, tmp_path) == message


def test_missing_file_is_refused(tmp_path: Path) -> None:
    assert _refusal(tmp_path / "none.toml") == f"{tmp_path}/none.toml: cannot be read: No such file or directory"


def test_folder_is_refused(tmp_path: Path) -> None:
    assert _refusal(tmp_path) == f"{tmp_path}: is a folder, not a deployment file"


def test_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "deployment.toml"
    file.write_text(GOOD)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # root reads every file, so the mode alone proves nothing
    assert _refusal(file) == f"{file}: cannot be read: Permission denied"


def test_path_that_no_file_can_have_is_refused() -> None:
    assert _refusal(Path("a\0b")) == "a\\u0000b: cannot be read: embedded null byte"


def test_deep_dotted_key_is_refused(tmp_path: Path) -> None:
    text = "a" + ".a" * 60 + " = 1\n"
    assert "a.a.a.a.a.a.a.a.a: found a table; allowed: at most 8 levels" in refusal(text, tmp_path)


def _refusal(path: Path) -> str:
    with pytest.raises(DeploymentFileError) as caught:
        load_deployment(path)
    return str(caught.value)
