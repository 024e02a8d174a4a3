errata_test(client_typed_tests DIR tests/unit/client_typed USES stubs PARTS protobuf_c LABELS unit)
