# Commands of the domain by any component; and calls by a protocol that is not gRPC.
errata_test(command_tests DIR tests/command USES api domain_replay store_memory PARTS uv LABELS rpc)
