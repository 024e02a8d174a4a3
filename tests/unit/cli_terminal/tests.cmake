errata_test(cli_terminal_tests DIR tests/unit/cli_terminal USES terminal LABELS unit)
