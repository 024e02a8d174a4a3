errata_test(jobs_tests DIR tests/unit/jobs USES jobs LABELS unit)
