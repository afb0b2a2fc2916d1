"""Names of images as Docker reads them, so that two ways to write one name are one."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_REGISTRY = "docker.io"
OLD_REGISTRY = "index.docker.io"
OFFICIAL = "library/"
DEFAULT_TAG = "latest"


@dataclass(frozen=True, slots=True)
class ImageName:
    """A name in its parts.

    Attributes:
        repository: with the registry, as ``docker.io/library/ubuntu``.
        tag: as given; None where none is.
        digest: as ``sha256:...``; None where none is given.
    """

    repository: str
    tag: str | None
    digest: str | None

    def means(self, other: ImageName) -> bool:
        """Whether this name, in which a tag may be left open, means the image that was asked for by ``other``."""
        if self.digest or self.repository != other.repository:
            return self == other
        return self.tag is None or self.tag == (other.tag or (None if other.digest else DEFAULT_TAG))


def parse_image_name(name: str) -> ImageName:
    """``NAME``, ``REGISTRY/FOLDER/NAME:TAG@DIGEST`` and all between -> its parts.

    What stands before the first slash is a registry if it cannot be a folder: localhost, or a name with a dot, a colon
    or a capital in it.

    Source: https://github.com/distribution/reference (ParseNormalizedNamed).
    """
    named, _, digest = name.partition("@")
    first, slash, rest = named.partition("/")
    if slash and (first == "localhost" or any(sign in first for sign in ".:") or first != first.lower()):
        registry, path = (DEFAULT_REGISTRY if first == OLD_REGISTRY else first), rest
    else:
        registry, path = DEFAULT_REGISTRY, named
    path, _, tag = path.partition(":")
    if registry == DEFAULT_REGISTRY and "/" not in path:
        path = OFFICIAL + path
    return ImageName(f"{registry}/{path}", tag or None, digest or None)
