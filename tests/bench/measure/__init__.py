"""Measures Errata beside programs that do the same work, in one interleaved run: tools/bench-peers.

machine    the real-time class, processor time and memory of a process, what machine this is
stores     the stores that are measured on, made and removed
servers    Errata, the floor, C++ gRPC and nghttpd, started and ended
load       one run of errata-bench against one of them
parts      what is measured
documents  what a document costs
goals      what was set out to be reached, and the figures beside it
report     tables and JSON
cli        the command line
"""
