errata_test(cli_config_tests DIR tests/unit/cli_config USES cli_config LABELS unit)
