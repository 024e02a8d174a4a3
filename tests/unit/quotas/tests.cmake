# Quotas: their rows and events, and the book of the callers' usage.
errata_test(quotas_tests DIR tests/unit/quotas USES auth domain_quotas domain_admin store_support LABELS unit)
