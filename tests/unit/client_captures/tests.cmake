errata_test(client_captures_tests DIR tests/unit/client_captures USES client_captures
            PARTS protobuf_c uv nghttp2 threads LABELS unit)
