errata_test(client_easy_tests DIR tests/unit/client_easy USES client_easy test_client PARTS protobuf_c
    nghttp2 threads LABELS unit)
