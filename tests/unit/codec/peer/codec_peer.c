/*
 * codec_peer.c: answers questions about proto JSON line by line, for compare_with_python.py: "read MESSAGE HEX" is JSON
 * to wire, "write MESSAGE HEX" is wire to JSON, "check MESSAGE HEX" is the check of wire bytes, "join MESSAGE HEX"
 * joins pieces of messages in wire bytes. The answer is "ok HEX" or "bad". Linked with the tables of codec_peer.proto
 * in place of the contract's. Not a test by itself.
 */
#include "server/codec/check.h"
#include "server/codec/join.h"
#include "server/codec/proto_json.h"
#include "store/base/hex.h"

#include <stdio.h>
#include <stdlib.h>

#define LINE_BYTES_MAX (4 << 20)

static struct slice take_hex(struct arena *arena, const char *at)
{
    size_t size = strspn(at, "0123456789abcdef") / 2;
    uint8_t *bytes = arena_alloc(arena, size);

    if (bytes == NULL) {
        abort();
    }
    for (size_t i = 0; i < size; i++) {
        bytes[i] =
            (uint8_t)(hex_value((uint8_t)at[2 * i]) * 16 + hex_value((uint8_t)at[2 * i + 1]));
    }
    return slice_of(bytes, size);
}

static void put_hex(struct slice bytes)
{
    static char text[LINE_BYTES_MAX];
    size_t size = 0;

    for (size_t i = 0; i < bytes.size && size + 2 < sizeof(text); i++) {
        text[size++] = hex_digit(bytes.data[i] >> 4);
        text[size++] = hex_digit(bytes.data[i]);
    }
    printf("ok %.*s\n", (int)size, text);
}

static void answer(struct arena *arena, char *line)
{
    char *name = strchr(line, ' ') + 1;
    char *hex = strchr(name, ' ') + 1;
    const struct message_info *message =
        contract_find_message(slice_of(name, (size_t)(hex - 1 - name)));
    const struct proto_json_style style = {.indent = line[1] == 'r' ? 0 : 2};
    struct fault fault;
    struct ctx ctx = {.arena = arena, .clock = clock_system(), .fault = &fault};
    struct slice bytes = take_hex(arena, hex);
    struct slice joined = {NULL, 0};
    struct buffer out;
    enum err err = ERR_INTERNAL;

    fault_init(&fault, arena);
    buffer_init(&out, arena, 0);
    if (message == NULL) {
        abort();
    }
    if (line[0] == 'r') {
        err = proto_json_read(&ctx, message, bytes, true, &out);
    } else if (line[0] == 'w') {
        err = proto_json_write(&ctx, message, bytes, &style, &out);
    } else if (line[0] == 'j') {
        err = join_pieces(&ctx, message, bytes, &joined);
        buffer_append(&out, joined);
    } else {
        err = check_request(&ctx, message, bytes, &joined);
    }
    if (err != OK) {
        puts("bad");
        return;
    }
    put_hex(buffer_slice(&out));
}

int main(void)
{
    static char line[LINE_BYTES_MAX];
    struct arena arena;

    arena_init(&arena, SIZE_MAX);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        answer(&arena, line);
        arena_reset(&arena);
    }
    arena_deinit(&arena);
    return 0;
}
