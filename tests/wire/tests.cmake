errata_test(wire_tests DIR tests/wire USES connect grpc http http1 net PARTS uv nghttp2 LABELS wire)
