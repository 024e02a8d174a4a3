errata_test(client_library_tests DIR tests/unit/client_library USES client_library stubs test_client
    PARTS uv nghttp2 threads protobuf_c LABELS unit)
# alloc.c stands in front of them.
target_link_options(client_library_tests PRIVATE LINKER:--wrap=malloc,--wrap=calloc)
