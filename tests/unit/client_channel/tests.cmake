errata_test(client_channel_tests DIR tests/unit/client_channel USES client PARTS uv nghttp2 zlib
    LABELS unit)
# Allows single allocations to fail (scarcity_test.c).
target_link_options(client_channel_tests PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
