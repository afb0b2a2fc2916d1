"""The key of a deployment's API, which stands in the environment and never in a file."""

from __future__ import annotations

import os

from shakedown.errors import MissingPrerequisiteError
from shakedown.inventory.model import Deployment


def api_key(deployment: Deployment) -> str | None:
    """The key from the variable that the deployment file names; None where it names none.

    Raises:
        MissingPrerequisiteError: the variable is not set, or empty.
    """
    variable = deployment.serve.api_key_env
    if variable is None:
        return None
    key = os.environ.get(variable)
    if not key:
        raise MissingPrerequisiteError(
            f"${variable} is not set; the deployment file of {deployment.name} names it as [serve].api_key_env. "
            f"Export the key of {deployment.serve.base_url} under that name."
        )
    return key
