"""How the ranks of a group talk; apart from the platform, which vLLM loads before this can be imported."""

from vllm.distributed.device_communicators.cpu_communicator import CpuCommunicator
from vllm.distributed.parallel_state import in_the_same_node_as


class Communicator(CpuCommunicator):
    """vLLM's CPU communicator, which uses shared memory only where all ranks do share memory.

    On CPUs with AVX-512, vLLM takes shared memory whenever the ranks agree on a name, and that name is made of a port
    all of them know: ranks on different nodes then look for a segment that is on the other one.
    """

    def _all_group_ranks_share_shm_group_name(self) -> bool:
        return super()._all_group_ranks_share_shm_group_name() and all(in_the_same_node_as(self.cpu_group))
