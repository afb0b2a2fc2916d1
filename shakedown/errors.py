"""Every error that shakedown raises on purpose; one root, so that a caller can catch them all."""


class ShakedownError(Exception):
    """Root of the hierarchy. Its text is written for the operator: what, where, what to do next.

    Attributes:
        exit_code: of a command that ends with it.
    """

    exit_code = 2


class DeploymentFileError(ShakedownError):
    """A deployment file that cannot be used: names the file, the key, what was found and what is allowed."""


class CatalogueError(ShakedownError):
    """A fault catalogue that contradicts itself, or an id that is not in it."""


class NodeUnreachableError(ShakedownError):
    """A declared node does not answer over its transport."""


class EvidenceError(ShakedownError):
    """Something that a check must know and no answer tells: what it is about was neither found nor ruled out.

    Args:
        why: what could not be read, and on which node.
        remedy: what would make it readable; empty where nothing is known to.
    """

    def __init__(self, why: str, remedy: str = "") -> None:
        self.why = why
        self.remedy = remedy
        super().__init__(f"{why}: {remedy}" if remedy else why)


class ContainerDownError(EvidenceError):
    """Nothing can be asked in the declared container of a node: whatever lies behind it is neither found nor ruled out.

    Args:
        node: its name.
        why, remedy: see :class:`EvidenceError`.
    """

    def __init__(self, node: str, why: str, remedy: str) -> None:
        self.node = node
        super().__init__(why, remedy)


class BundleError(EvidenceError):
    """A bundle that is none, or belongs to something else: a matter of the whole run and of no single check."""


class MissingPrerequisiteError(ShakedownError):
    """Something that this machine lacks; says how to get it."""


class LaunchError(ShakedownError):
    """A deployment that did not reach the stage asked for; carries the reason and where the logs are."""


class ServerError(ShakedownError):
    """The served API gave an answer from which nothing can be judged (no connection, no HTTP, cut off)."""


class BaselineError(ShakedownError):
    """A recorded baseline that cannot be read or does not belong to this deployment."""
