/*
 * fuzz_connection.c: any bytes as what a peer sends, through HTTP/2 and gRPC to the methods of the
 * wire tests. The first byte says how: 1 one byte at a time, 2 behind a whole preface, 4 time passes
 * at the end. Whatever came, the connection closes and nothing of it is left (wire_teardown).
 */
#include "tests/fuzz/fuzz.h"
#include "tests/wire/wire.h"

#define BYTEWISE 1
#define WITH_PREFACE 2
#define TIME_PASSES 4
/* Behind every deadline of the transport. */
#define LONG_US (200 * INT64_C(1000000))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wire_world world;
    struct call_config config = wire_config(&world);
    uint8_t how = size > 0 ? data[0] : 0;

    if (size == 0) {
        return 0;
    }
    config.handlers = &world.handlers;
    wire_setup_with(&world, (how & BYTEWISE) != 0, &config);
    world.client.deaf = true;
    if ((how & WITH_PREFACE) != 0) {
        wire_preface(&world);
        wire_settings_ack(&world);
    }
    wire_bytes_append(&world.client.out, (struct slice){data + 1, size - 1});
    wire_run(&world);
    if ((how & TIME_PASSES) != 0) {
        wire_pass(&world, LONG_US);
    }
    wire_teardown(&world);
    return 0;
}
