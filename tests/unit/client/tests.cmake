errata_test(client_tests DIR tests/unit/client USES client PARTS uv nghttp2 zlib
    LABELS unit)
