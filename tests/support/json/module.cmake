# What tests of JSON texts share: sanitised like any module, but with cmocka.
errata_module(json_support DIR tests/support/json USES domain_json PARTS cmocka)
