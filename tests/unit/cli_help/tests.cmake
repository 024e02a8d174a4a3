errata_test(cli_help_tests DIR tests/unit/cli_help USES cli_help LABELS unit)
