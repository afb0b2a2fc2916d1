"""The follower: it runs on a node with any Python from 3.8 on, reads only, and needs nothing but the standard library.

These modules are sent as text and imported there from memory, under their own names and in the order of
:data:`shakedown.launch.wire.MODULES`; none imports anything else of the project. Here they are imported by their tests.
"""
