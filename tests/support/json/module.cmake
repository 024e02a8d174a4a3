# Shared by tests of JSON texts: sanitised like any module, but linked with cmocka.
errata_module(json_support DIR tests/support/json USES domain_json PARTS cmocka)
