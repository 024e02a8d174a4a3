/*
 * records.c: see records.h.
 */
#include "server/domain/prompts/records.h"

#include "store/base/assert.h"
#include "store/record_row.h"

#include <record/prompts.views.h>

enum err record_decode_prompt_template(struct slice bytes,
                                       struct prompt_template_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct prompt_template_row_view message;
    enum err err = prompt_template_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record_need(&check, message.seq != 0 && message.version != 0);
    record_need(&check, message.name.size > 0);
    if (!check.failed) {
        ret_record->seq = message.seq;
        ret_record->version = message.version;
        ret_record->name = message.name;
    }
    return record_check_result(&check);
}

enum err record_encode_prompt_template(struct arena *arena,
                                       const struct prompt_template_record *record,
                                       struct slice *ret_bytes)
{
    struct prompt_template_row_view message = {
        .seq = record->seq,
        .version = record->version,
        .name = record->name,
    };

    if (UNEXPECTED(record->seq == 0) || UNEXPECTED(record->version == 0) ||
        UNEXPECTED(record->name.size == 0)) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &prompt_template_row_view_type, &message, ret_bytes);
}
