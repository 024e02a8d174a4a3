errata_test(rpc_tests DIR tests/rpc USES api domain_replay store_memory LABELS rpc)
