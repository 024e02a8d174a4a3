errata_test(client_channel_tests DIR tests/unit/client_channel USES client PARTS uv nghttp2 zlib
    LABELS unit)
