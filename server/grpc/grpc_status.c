/*
 * grpc_status.c: see grpc_status.h.
 */
#include "server/grpc/grpc_status.h"

#include "server/grpc/grpc_text.h"
#include "store/base/assert.h"
#include "store/base/text.h"

/* Codes in decimal, without leading zeros. */
static const struct slice grpc_code_texts[] = {
#define STATUS(name, number) [number] = {(const uint8_t *)#number, sizeof(#number) - 1},
#include "store/base/status_codes.def"
#undef STATUS
};

_Static_assert(sizeof(grpc_code_texts) / sizeof(grpc_code_texts[0]) == STATUS_UNAUTHENTICATED + 1,
               "each code has a text");

void grpc_block_add(struct grpc_block *block, const struct h2_field *field)
{
    ASSERT(block->count < H2_FIELDS_MAX);
    block->fields[block->count++] = *field;
}

void grpc_block_add_metadata(struct grpc_block *block, struct arena *arena,
                             const struct call_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct h2_field field = {fields[i].name, fields[i].value};

        if (!grpc_name_is_binary(field.name) ||
            grpc_base64_encode(arena, fields[i].value, &field.value) == OK) {
            grpc_block_add(block, &field);
        }
    }
}

void grpc_block_add_status(struct grpc_block *block, struct call_core *core)
{
    struct h2_field field = {SLICE("grpc-status"), grpc_code_texts[core->status.code]};
    struct slice message = core->status.message;

    grpc_block_add(block, &field);
    if (core->status.code == STATUS_OK) {
        message.size = 0;
    }
    if (message.size > CALL_STATUS_MESSAGE_BYTES_MAX) {
        message = text_first_bytes(message, CALL_STATUS_MESSAGE_BYTES_MAX);
    }
    field.name = SLICE("grpc-message");
    if (message.size > 0 && grpc_percent_encode(&core->arena, message, &field.value) == OK) {
        grpc_block_add(block, &field);
    }
    field.name = SLICE("grpc-status-details-bin");
    if (core->status.details.size > 0 &&
        core->status.details.size <= CALL_STATUS_DETAILS_BYTES_MAX &&
        grpc_base64_encode(&core->arena, core->status.details, &field.value) == OK) {
        grpc_block_add(block, &field);
    }
    if (core->status.retry_ms != 0) {
        field.name = SLICE("grpc-retry-pushback-ms");
        field.value = arena_printf(&core->arena, "%d", (int)core->status.retry_ms);
        if (field.value.size > 0) {
            grpc_block_add(block, &field);
        }
    }
    grpc_block_add_metadata(block, &core->arena, core->trailing, core->trailing_count);
}
