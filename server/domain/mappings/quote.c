/*
 * quote.c: see quote.h.
 */
#include "server/domain/mappings/quote.h"

#include "server/domain/mappings/mappings.h"
#include "store/base/json.h"

#include <inttypes.h>

static const char *status_name(uint32_t status)
{
    switch ((enum mapping_status)status) {
    case MAPPING_STATUS_SUGGESTED:
        return "SUGGESTED";
    case MAPPING_STATUS_CONFIRMED:
        return "CONFIRMED";
    case MAPPING_STATUS_REJECTED:
        return "REJECTED";
    case MAPPING_STATUS_SUPERSEDED:
        return "SUPERSEDED";
    case MAPPING_STATUS_UNSPECIFIED:
        break;
    }
    return "";
}

/* The suggestions with the highest confidence so far. */
struct suggestions {
    struct mapping_row items[MAPPING_SUGGESTIONS_MAX];
    size_t count;
};

static void add_suggestion(struct suggestions *suggestions, const struct mapping_row *row)
{
    size_t at = suggestions->count;

    while (at > 0 && mapping_row_is_surer(row, &suggestions->items[at - 1])) {
        at--;
    }
    if (at == MAPPING_SUGGESTIONS_MAX) {
        return;
    }
    suggestions->count += suggestions->count < MAPPING_SUGGESTIONS_MAX;
    for (size_t i = suggestions->count - 1; i > at; i--) {
        suggestions->items[i] = suggestions->items[i - 1];
    }
    suggestions->items[at] = *row;
}

static enum err write_suggestions(struct arena *arena, const struct suggestions *suggestions,
                                  struct slice *ret_array)
{
    struct buffer array = {0};

    buffer_init(&array, arena, 64 + suggestions->count * 64);
    buffer_append_byte(&array, '[');
    for (size_t i = 0; i < suggestions->count; i++) {
        buffer_append(&array, i == 0 ? SLICE("{\"internal_sku\":") : SLICE(",{\"internal_sku\":"));
        json_write_string(&array, suggestions->items[i].record.internal_sku, false);
        buffer_append(&array, SLICE(",\"confidence\":"));
        json_write_double(&array, suggestions->items[i].record.confidence);
        buffer_append_byte(&array, '}');
    }
    buffer_append_byte(&array, ']');
    *ret_array = buffer_slice(&array);
    return buffer_ok(&array) ? OK : ERR_MEMORY;
}

enum err quote_suggestions(struct arena *arena, struct store_txn *txn, struct org_id org,
                           const struct mapping_pair *pair, struct slice *ret_array)
{
    struct suggestions *suggestions = arena_calloc(arena, 1, sizeof(*suggestions));
    struct scan scan = {.row_count = 0};
    struct mapping_row row;
    enum err err = suggestions == NULL ? ERR_MEMORY : OK;

    if (err == OK) {
        err = mapping_sku_scan_init(&scan, txn, org, pair->customer_id, pair->folded_customer_sku);
    }
    while (err == OK) {
        err = mapping_sku_scan_next(&scan, org, &row);
        if (err == OK && row.record.status == MAPPING_STATUS_SUGGESTED) {
            add_suggestion(suggestions, &row);
        }
    }
    scan_deinit(&scan);
    return err != ERR_NOT_FOUND ? err : write_suggestions(arena, suggestions, ret_array);
}

/* Writes the mapping's earlier state as the first members of an object. */
static void put_before(struct buffer *json, const struct mapping_row *before)
{
    buffer_append_byte(json, '{');
    if (before == NULL) {
        return;
    }
    buffer_printf(json, "\"status\":\"%s\",\"confidence\":", status_name(before->record.status));
    json_write_double(json, before->record.confidence);
    buffer_printf(json, ",\"support_count\":%" PRIu64, before->record.support_count);
}

static void put_after(struct buffer *json, enum mapping_status status, double confidence,
                      struct slice internal_sku)
{
    buffer_printf(json, "{\"status\":\"%s\",\"confidence\":", status_name(status));
    json_write_double(json, confidence);
    buffer_append(json, SLICE(",\"internal_sku\":"));
    json_write_string(json, internal_sku, false);
    buffer_append_byte(json, '}');
}

enum err quote_confirmation(struct arena *arena, const struct mapping_row *before,
                            struct slice internal_sku, struct slice suggestions,
                            struct capture_input *input)
{
    struct buffer first = {0};
    struct buffer second = {0};

    buffer_init(&first, arena, 128 + suggestions.size);
    put_before(&first, before);
    buffer_append(&first, before == NULL ? SLICE("\"suggestions\":") : SLICE(",\"suggestions\":"));
    buffer_append(&first, suggestions);
    buffer_append_byte(&first, '}');
    buffer_init(&second, arena, 128);
    put_after(&second, MAPPING_STATUS_CONFIRMED, 1, internal_sku);
    input->before_json = buffer_slice(&first);
    input->after_json = buffer_slice(&second);
    return buffer_ok(&first) && buffer_ok(&second) ? OK : ERR_MEMORY;
}

enum err quote_rejection(struct arena *arena, const struct mapping_row *before,
                         struct slice internal_sku, struct capture_input *input)
{
    struct buffer first = {0};
    struct buffer second = {0};
    struct buffer meta = {0};

    buffer_init(&first, arena, 128);
    put_before(&first, before);
    buffer_append_byte(&first, '}');
    buffer_init(&second, arena, 128);
    put_after(&second, MAPPING_STATUS_REJECTED, 0, internal_sku);
    buffer_init(&meta, arena, 64);
    buffer_append(&meta, SLICE("{\"internal_sku\":"));
    json_write_string(&meta, internal_sku, false);
    buffer_append_byte(&meta, '}');
    input->before_json = buffer_slice(&first);
    input->after_json = buffer_slice(&second);
    input->meta_json = buffer_slice(&meta);
    return buffer_ok(&first) && buffer_ok(&second) && buffer_ok(&meta) ? OK : ERR_MEMORY;
}
