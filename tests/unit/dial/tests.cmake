# An outgoing connection to a host with several addresses.
errata_test(dial_tests DIR tests/unit/dial USES net LABELS unit)
