errata_test(wire_tests DIR tests/wire USES grpc net PARTS uv nghttp2 LABELS wire)
