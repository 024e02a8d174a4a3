errata_test(wire_tests DIR tests/wire USES connect grpc grpc_web http net PARTS uv nghttp2 LABELS wire)
