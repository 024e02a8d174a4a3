errata_test(rpc_tests DIR tests/rpc USES api domain_backtest domain_verdicts domain_replay store_memory LABELS rpc)
