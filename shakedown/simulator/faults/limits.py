"""What happens to a prompt that is too long, and after it."""

from __future__ import annotations

import re
from http import HTTPStatus

from shakedown.simulator.errors import ApiError
from shakedown.simulator.fault import Fault
from shakedown.simulator.job import Batch

_RESERVED = 16


class Oversize500(Fault):
    """Refused by an exception that nobody catches."""

    name = "oversize-500"
    summary = "a prompt that is too long gets 500"
    source = "vllm-project/vllm#905"

    def oversize(self, error: ApiError, engine: Batch) -> ApiError:
        """The same words, as the server's fault."""
        del engine
        return ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, error.message)


class DiesAfterOversize(Fault):
    """One bad request, and the engine is gone."""

    name = "dies-after-oversize"
    summary = "after a prompt that is too long every generation gets 500 and /health 503"
    source = "vllm-project/vllm#5822"

    def oversize(self, error: ApiError, engine: Batch) -> ApiError:
        """A proper refusal, the last one."""
        engine.dead = True
        return error


class WrongOversizeLimit(Fault):
    """The room kept for the answer is taken off the limit that is named."""

    name = "wrong-oversize-limit"
    summary = "the refusal of a prompt that is too long names another limit"
    source = "vllm-project/vllm#33418"

    def oversize(self, error: ApiError, engine: Batch) -> ApiError:
        """Another number."""
        del engine
        message = re.sub(r"\d+", lambda number: str(int(number[0]) - _RESERVED), error.message, count=1)
        return ApiError(error.status, message, param=error.param)
