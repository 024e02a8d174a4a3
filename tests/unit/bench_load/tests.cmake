errata_test(bench_load_tests DIR tests/unit/bench_load USES harness_load PARTS nghttp2 m LABELS unit)
