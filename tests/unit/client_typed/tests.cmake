errata_test(client_typed_tests DIR tests/unit/client_typed USES stubs test_client PARTS protobuf_c
    nghttp2 threads LABELS unit)
