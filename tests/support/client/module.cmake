# A channel that a test plays by hand under the public functions of the client library, and a scripted
# server on the loopback, which plays the peer of the client's own tests.
errata_module(test_client DIR tests/support/client USES client_library
              PARTS cmocka nghttp2 threads)
target_sources(test_client PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit/client/peer.c)
target_link_libraries(test_client PRIVATE test_warnings)
