errata_test(client_library_tests DIR tests/unit/client_library USES client_library stubs test_client
    PARTS uv nghttp2 threads protobuf_c LABELS unit)
# alloc.c replaces malloc in these tests.
target_link_options(client_library_tests PRIVATE LINKER:--wrap=malloc,--wrap=calloc)

add_test(NAME client_public_headers
         COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/unit/client_library/public_headers.py)
set_tests_properties(client_public_headers PROPERTIES LABELS unit TIMEOUT 120
                     ENVIRONMENT ERRATA_BUILD=${CMAKE_BINARY_DIR})
