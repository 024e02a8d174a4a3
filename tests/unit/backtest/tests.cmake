errata_test(backtest_tests DIR tests/unit/backtest USES domain domain_backtest domain_settings domain_verdicts store_support LABELS unit)
