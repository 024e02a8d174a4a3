errata_test(cli_import_tests DIR tests/unit/cli_import USES cli_import LABELS unit)
