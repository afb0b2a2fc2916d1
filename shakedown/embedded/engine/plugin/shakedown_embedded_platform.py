"""The platform class, apart from the entry points: importing it imports torch and vLLM."""

from vllm.platforms.cpu import CpuPlatform


class RayCpuPlatform(CpuPlatform):
    """vLLM's CPU platform, known to Ray as one accelerator a node, with ranks that may be on different nodes."""

    ray_device_key = "GPU"

    @classmethod
    def get_device_communicator_cls(cls) -> str:
        """Name of the class through which the ranks of a group talk."""
        return "shakedown_embedded_communicator.Communicator"
