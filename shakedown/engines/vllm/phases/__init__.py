"""The start of vLLM as its log tells it: phases with begin and end, progress, ranks, facts; versions 0.17 to 0.33."""

from shakedown.engines.vllm.phases.bars import Progress
from shakedown.engines.vllm.phases.facts import Facts
from shakedown.engines.vllm.phases.lines import Splitter, lines_of
from shakedown.engines.vllm.phases.markers import WORDS
from shakedown.engines.vllm.phases.names import Phase, PhaseName
from shakedown.engines.vllm.phases.reader import PhaseReader, starts_of
from shakedown.engines.vllm.phases.starts import Beginning, RankState, Start

__all__ = [
    "WORDS",
    "Beginning",
    "Facts",
    "Phase",
    "PhaseName",
    "PhaseReader",
    "Progress",
    "RankState",
    "Splitter",
    "Start",
    "lines_of",
    "starts_of",
]
