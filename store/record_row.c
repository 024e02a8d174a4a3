/*
 * record_row.c: see record_row.h.
 */
#include "store/record_row.h"

enum err record_encode(struct arena *arena, const struct view_type *type, const void *view,
                       struct slice *ret_bytes)
{
    return view_encode(type, view, arena, ret_bytes) ? OK : ERR_MEMORY;
}

void record_need(struct record_check *check, bool fact)
{
    check->failed = check->failed || !fact;
}

size_t record_numbers(struct record_check *check, const struct view_list *list, bool is_fixed,
                      uint64_t *ret_numbers, size_t max)
{
    struct slice run = list->run;
    uint64_t number = 0;
    size_t count = 0;

    while (is_fixed ? view_next_fixed(&run, &number) : view_next_number(&run, &number)) {
        if (count == max) {
            record_need(check, false);
            return count;
        }
        ret_numbers[count] = number;
        count++;
    }
    return count;
}

enum err record_list(struct arena *arena, const uint64_t *numbers, size_t count, bool is_fixed,
                     struct view_list *ret_list)
{
    enum wire_type type = is_fixed ? WIRE_FIXED64 : WIRE_VARINT;
    struct buffer run;

    *ret_list = (struct view_list){.count = (uint32_t)count};
    if (count == 0) {
        return OK;
    }
    buffer_init(&run, arena, count * (is_fixed ? sizeof(*numbers) : WIRE_VARINT_BYTES_MAX));
    for (size_t i = 0; i < count; i++) {
        wire_put_packed(&run, type, numbers[i]);
    }
    ret_list->run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}
