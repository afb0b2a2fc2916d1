"""What is done to find out, where looking does not tell: probes that act on the nodes, in this folder and nowhere else.

Every probe is one command a node, sent to all nodes at the same moment. What two of them do together they bring about
by themselves: each half waits for the other, for a bounded time. Each ends by itself, and is ended if it does not; none
leaves a file, and none is sent unless its tier was asked for.

Tier 1 takes seconds and next to no memory, and is for the time before a launch: :mod:`ports`, :mod:`collective`,
:mod:`rails`, :mod:`ray_tasks`. Tier 2 measures, and loads what it measures: :mod:`bandwidth` and :mod:`verbs` on every
one of the :mod:`lanes`, with :mod:`counters` after it; :mod:`collective` with large sums; :mod:`shards`; :mod:`gpus`.
"""
