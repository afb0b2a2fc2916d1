"""Errors as the server puts them on the wire."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

_CLASSES = {
    HTTPStatus.BAD_REQUEST: "BadRequestError",
    HTTPStatus.NOT_FOUND: "NotFoundError",
    HTTPStatus.NOT_IMPLEMENTED: "NotImplementedError",
    HTTPStatus.SERVICE_UNAVAILABLE: "ServiceUnavailableError",
}
_SHOWN_INPUT = 200
_TYPES = frozenset({"str", "int", "float", "bool", "list", "dict", "NamedTool"})


class ApiError(Exception):
    """A request that is answered with an error.

    Attributes:
        status: HTTP status, which the body repeats as ``code``.
        message: for people.
        param: the field that is at fault, if one is.
        type: vLLM's class name for errors of serving, the HTTP phrase for errors of validation.
    """

    def __init__(self, status: int, message: str, *, param: str | None = None, type: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.type = type or _CLASSES.get(HTTPStatus(status), "InternalServerError")

    @property
    def body(self) -> dict[str, Any]:
        """In the shape of the OpenAI routes."""
        return {"error": {"message": self.message, "type": self.type, "param": self.param, "code": self.status}}

    @property
    def anthropic_body(self) -> dict[str, Any]:
        """In the shape of ``/v1/messages``."""
        return {"type": "error", "error": {"type": self.type, "message": self.message}}


def refused(message: str, param: str | None = None, value: object = None) -> ApiError:
    """A request that validates field by field and makes no sense: 400, with the field behind the message.

    Raised inside a validator it passes through pydantic, which only catches ValueError and AssertionError.
    """
    shown = [f"{name}={text}" for name, text in (("parameter", param), ("value", value)) if text is not None]
    return ApiError(HTTPStatus.BAD_REQUEST, f"{message} ({', '.join(shown)})" if param else message, param=param)


def invalid_request(error: ValidationError) -> ApiError:
    """A body that does not validate: 400, with every complaint in the message, as vLLM words it."""
    complaints = error.errors(include_url=False)
    param = _location(complaints[0]["loc"])
    lines = [f"{len(complaints)} validation error{'s' if len(complaints) > 1 else ''}:"]
    lines += [f"  {_shortened(complaint)}" for complaint in complaints[:10]]
    return ApiError(HTTPStatus.BAD_REQUEST, "\n".join(lines), param=param, type=HTTPStatus.BAD_REQUEST.phrase)


def malformed_json(reason: str) -> ApiError:
    """A body that is not JSON."""
    complaint = {"type": "json_invalid", "loc": "body", "msg": "JSON decode error", "ctx": {"error": reason}}
    message = f"1 validation error:\n  {complaint}"
    return ApiError(HTTPStatus.BAD_REQUEST, message, param="body", type=HTTPStatus.BAD_REQUEST.phrase)


def _location(loc: tuple[int | str, ...]) -> str:
    """The path to a field without the branches of unions, which are types and no names."""
    return ".".join(("body", *(str(part) for part in loc if part not in _TYPES and "[" not in str(part))))


def _shortened(complaint: Any) -> dict[str, Any]:
    value = complaint["input"]
    if isinstance(value, list | dict):
        value = f"<{type(value).__name__} of {len(value)} items>"
    elif isinstance(value, str) and len(value) > _SHOWN_INPUT:
        value = value[:_SHOWN_INPUT] + "...[truncated]"
    shown = {"type": complaint["type"], "loc": _location(complaint["loc"]), "msg": complaint["msg"], "input": value}
    return shown | {name: complaint[name] for name in ("ctx",) if name in complaint}
