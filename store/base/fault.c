/*
 * fault.c: collects the caller's mistakes. Keeps at most FAULT_ENTRIES_MAX entries; a fault that
 * cannot be stored is still counted, so that lack of memory never makes a bad request pass.
 */
#include "store/base/fault.h"

#include "store/base/text.h"

#include <stdarg.h>
#include <stdio.h>

#define ENTRIES_FIRST 8
#define DESCRIPTION_BYTES_MAX 1024
#define SHORT_BYTES_MAX 64

void fault_init(struct fault *fault, struct arena *arena)
{
    *fault = (struct fault){.arena = arena};
}

/* Room doubles at 8, 16, 32, 64; the capacity follows from the count. */
static bool has_room(struct fault *fault)
{
    size_t count = fault->count;
    struct fault_entry *entries = NULL;
    size_t capacity = count == 0 ? ENTRIES_FIRST : 2 * count;

    if (count >= FAULT_ENTRIES_MAX) {
        return false;
    }
    if (count != 0 && (count < ENTRIES_FIRST || (count & (count - 1)) != 0)) {
        return true;
    }
    entries = arena_alloc(fault->arena, capacity * sizeof(*entries));
    if (entries == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(entries, fault->entries, count * sizeof(*entries));
    }
    fault->entries = entries;
    return true;
}

static bool format_text(struct arena *arena, const char *format, va_list values,
                        struct slice *ret_text) PRINTF_LIKE(2, 0);

static bool format_text(struct arena *arena, const char *format, va_list values,
                        struct slice *ret_text)
{
    char text[DESCRIPTION_BYTES_MAX];
    int size = vsnprintf(text, sizeof(text), format, values);
    struct slice whole = slice_of(text, 0);

    if (size < 0) {
        return false;
    }
    whole.size = (size_t)size < sizeof(text) ? (size_t)size : sizeof(text) - 1;
    if (whole.size < (size_t)size && text_is_utf8(whole)) {
        whole = text_first_bytes(whole, whole.size);
    }
    while (whole.size < (size_t)size && whole.size > 0 && !text_is_utf8(whole)) {
        whole.size--; /* at most three bytes of a truncated code point */
    }
    return arena_copy(arena, whole, ret_text);
}

void fault_add(struct fault *fault, struct slice field, const char *format, ...)
{
    struct fault_entry entry = {0};
    va_list values;
    bool is_formatted = false;

    fault->total_count++;
    if (!has_room(fault) || !arena_copy(fault->arena, field, &entry.field)) {
        return;
    }
    va_start(values, format);
    is_formatted = format_text(fault->arena, format, values, &entry.description);
    va_end(values);
    if (is_formatted) {
        fault->entries[fault->count++] = entry;
    }
}

enum err fault_say(struct fault *fault, enum err err, const char *format, ...)
{
    va_list values;
    struct slice message = {0};

    va_start(values, format);
    if (format_text(fault->arena, format, values, &message)) {
        fault->message = message;
    }
    va_end(values);
    return err;
}

enum err fault_say_reason(struct fault *fault, enum err err, const char *reason, const char *format,
                          ...)
{
    va_list values;
    struct slice sentence = {0};

    fault->reason = reason;
    va_start(values, format);
    if (format_text(fault->arena, format, values, &sentence)) {
        (void)fault_say(fault, err, "%s: %.*s", reason, (int)sentence.size,
                        (const char *)sentence.data);
    }
    va_end(values);
    return err;
}

enum err fault_result(const struct fault *fault)
{
    return fault->total_count > 0 ? ERR_INVALID : OK;
}

/* Copies one code point of `value` at `*at`, or `?` if it must not be shown. */
static size_t copy_shown(struct slice value, size_t *at, uint8_t *to)
{
    struct slice rest = slice_after(value, *at);
    size_t bytes = text_sequence_bytes(rest);

    if (bytes == 0 || text_has_control(slice_of(rest.data, bytes))) {
        *to = '?';
        *at += bytes == 0 ? 1 : bytes;
        return 1;
    }
    memcpy(to, rest.data, bytes);
    *at += bytes;
    return bytes;
}

struct slice fault_shorten(struct fault *fault, struct slice value)
{
    uint8_t text[SHORT_BYTES_MAX + 3];
    size_t size = 0;
    size_t at = 0;
    struct slice copy = {0};

    while (at < value.size) {
        uint8_t shown[4];
        size_t next = at;
        size_t bytes = copy_shown(value, &next, shown);

        if (size + bytes > SHORT_BYTES_MAX) {
            memcpy(text + size, "...", 3);
            size += 3;
            break;
        }
        memcpy(text + size, shown, bytes);
        size += bytes;
        at = next;
    }
    if (!arena_copy(fault->arena, slice_of(text, size), &copy)) {
        return slice_of(NULL, 0);
    }
    return copy;
}
