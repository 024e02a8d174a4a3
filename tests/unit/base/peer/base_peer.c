/*
 * base_peer.c: answers questions about JSON line by line, for compare_with_python.py. A line is a
 * word and one or two arguments in hex; the answer is one line. Not a test by itself.
 */
#include "store/base/hex.h"
#include "store/base/json.h"
#include "store/base/text.h"

#include <stdio.h>
#include <stdlib.h>

#define LINE_BYTES_MAX (1 << 20)

/* The next word of the line as bytes. */
static struct slice take_hex(struct arena *arena, char **at)
{
    size_t size = strspn(*at, "0123456789abcdef") / 2;
    uint8_t *bytes = arena_alloc(arena, size);

    if (bytes == NULL) {
        abort();
    }
    for (size_t i = 0; i < size; i++) {
        bytes[i] =
            (uint8_t)(hex_value((uint8_t)(*at)[2 * i]) * 16 + hex_value((uint8_t)(*at)[2 * i + 1]));
    }
    *at += 2 * size;
    *at += **at == ' ';
    return slice_of(bytes, size);
}

static bool parse(struct arena *arena, struct slice text, struct json_value *ret_value)
{
    const struct json_rules rules = {JSON_FIELD_DEPTH_MAX, false};
    struct json_problem problem = {NULL, 0};

    return json_check(arena, text, &rules, ret_value, &problem) == OK;
}

static void answer_equal(struct arena *arena, char *at)
{
    struct json_value a = {0};
    struct json_value b = {0};
    bool is_equal = false;

    if (!parse(arena, take_hex(arena, &at), &a) || !parse(arena, take_hex(arena, &at), &b) ||
        json_equal(arena, a, b, &is_equal) != OK) {
        puts("bad");
        return;
    }
    puts(is_equal ? "equal" : "different");
}

static void answer(struct arena *arena, char *line)
{
    char *at = strchr(line, ' ') + 1;
    struct json_value value = {0};
    struct buffer buffer;
    double number = 0;
    struct slice bytes = {NULL, 0};

    if (strncmp(line, "equal ", 6) == 0) {
        answer_equal(arena, at);
        return;
    }
    bytes = take_hex(arena, &at);
    buffer_init(&buffer, arena, 0);
    if (strncmp(line, "check ", 6) == 0) {
        puts(parse(arena, bytes, &value) ? "good" : "bad");
        return;
    }
    if (strncmp(line, "utf8 ", 5) == 0) {
        puts(text_is_utf8(bytes) ? "good" : "bad");
        return;
    }
    if (strncmp(line, "double ", 7) == 0) {
        memcpy(&number, bytes.data, sizeof(number));
        json_write_double(&buffer, number);
    } else {
        json_write_string(&buffer, bytes, strncmp(line, "ascii ", 6) == 0);
    }
    printf("%.*s\n", (int)buffer.size, (const char *)buffer.data);
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
