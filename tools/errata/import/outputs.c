/*
 * outputs.c: see outputs.h. The index is a hash table with open addressing, at most half full.
 */
#include "tools/errata/import/outputs.h"

#include "store/base/assert.h"
#include "store/base/sha256.h"

#include <stdio.h>
#include <stdlib.h>

#define ENTRIES_FIRST ((size_t)1024)
#define ID_BYTES 16

struct entry {
    uint8_t id[ID_BYTES]; /* the first bytes of the digest of the id */
    int64_t at_us; /* INT64_MIN: unknown; of a root INT64_MAX */
    uint64_t place; /* offset in the file, plus 1; 0: the entry is free */
    uint32_t bytes;
    uint32_t origin; /* of enum import_origin */
    uint64_t order; /* the first bytes of the digest of its content */
};

struct outputs {
    FILE *file;
    uint64_t file_bytes;
    struct entry *entries;
    size_t capacity;
    size_t count;
};

enum err outputs_open(struct outputs **ret_outputs)
{
    struct outputs *outputs = calloc(1, sizeof(*outputs));

    if (outputs == NULL) {
        return ERR_MEMORY;
    }
    outputs->entries = calloc(ENTRIES_FIRST, sizeof(*outputs->entries));
    outputs->capacity = ENTRIES_FIRST;
    outputs->file = tmpfile();
    if (outputs->entries == NULL || outputs->file == NULL) {
        enum err err = outputs->entries == NULL ? ERR_MEMORY : ERR_IO;

        outputs_close(outputs);
        return err;
    }
    *ret_outputs = outputs;
    return OK;
}

void outputs_close(struct outputs *outputs)
{
    if (outputs == NULL) {
        return;
    }
    if (outputs->file != NULL) {
        (void)fclose(outputs->file);
    }
    free(outputs->entries);
    free(outputs);
}

/* Returns the entry of an id, or the free entry for it. */
static struct entry *find(struct entry *entries, size_t capacity, const uint8_t id[ID_BYTES])
{
    size_t at = 0;

    memcpy(&at, id, sizeof(at));
    at &= capacity - 1;
    /* Half of the entries are free. */
    while (entries[at].place != 0 && memcmp(entries[at].id, id, ID_BYTES) != 0) {
        at = (at + 1) & (capacity - 1);
    }
    return &entries[at];
}

static enum err grow(struct outputs *outputs)
{
    size_t capacity = outputs->capacity * 2;
    struct entry *grown = NULL;

    if (outputs->count * 2 < outputs->capacity) {
        return OK;
    }
    grown = outputs->count < OUTPUTS_COUNT_MAX ? calloc(capacity, sizeof(*grown)) : NULL;
    if (grown == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < outputs->capacity; i++) {
        if (outputs->entries[i].place != 0) {
            *find(grown, capacity, outputs->entries[i].id) = outputs->entries[i];
        }
    }
    free(outputs->entries);
    outputs->entries = grown;
    outputs->capacity = capacity;
    return OK;
}

static void add_member(struct buffer *json, const char *name, struct slice value)
{
    buffer_append(json, json->size > 1 ? SLICE(",") : SLICE(""));
    json_write_string(json, slice_text(name), false);
    buffer_append_byte(json, ':');
    buffer_append(json, value);
}

/* Reads the output as JSON. */
static struct slice pack(struct arena *arena, const struct import_row *row)
{
    struct buffer json;

    buffer_init(&json, arena, row->before.text.size + row->text[IMPORT_INPUT].size + 64);
    buffer_append_byte(&json, '{');
    if (row->before.kind != JSON_NULL) {
        add_member(&json, "before", row->before.text);
    }
    if (row->text[IMPORT_NAME].size > 0) {
        add_member(&json, "name", fields_quoted(arena, row->text[IMPORT_NAME]).text);
    }
    if (row->text[IMPORT_INPUT].size > 0) {
        add_member(&json, "input", fields_quoted(arena, row->text[IMPORT_INPUT]).text);
    }
    buffer_append_byte(&json, '}');
    return buffer_ok(&json) ? buffer_slice(&json) : slice_of(NULL, 0);
}

/* Returns whether `new` replaces `old`, independently of their order in the files. */
static bool is_better(const struct entry *new, const struct entry *old)
{
    if (new->origin != old->origin) {
        return new->origin < old->origin;
    }
    if (new->at_us != old->at_us) {
        return (new->at_us > old->at_us) == (new->origin == IMPORT_OF_ITSELF);
    }
    return new->bytes != old->bytes ? new->bytes > old->bytes : new->order > old->order;
}

enum err outputs_add(struct outputs *outputs, struct arena *arena, const struct import_row *row)
{
    struct sha256_digest id = sha256(row->text[IMPORT_ID]);
    struct slice json = pack(arena, row);
    struct sha256_digest content = sha256(json);
    struct entry new = {.at_us = row->origin == IMPORT_OF_ITSELF ? INT64_MIN : INT64_MAX,
                        .place = outputs->file_bytes + 1,
                        .bytes = (uint32_t)json.size,
                        .origin = row->origin};
    struct entry *entry = NULL;
    enum err err = grow(outputs);

    if (err != OK || json.size == 0) {
        return ERR_MEMORY;
    }
    ASSERT(json.size <= UINT32_MAX); /* a record has 16 MiB, and its escapes 6 times as much */
    (void)fields_time(row->text[IMPORT_AT], &new.at_us);
    memcpy(new.id, id.bytes, ID_BYTES);
    memcpy(&new.order, content.bytes, sizeof(new.order));
    entry = find(outputs->entries, outputs->capacity, new.id);
    if (entry->place != 0 && !is_better(&new, entry)) {
        return OK;
    }
    if (fwrite(json.data, 1, json.size, outputs->file) != json.size) {
        return ERR_IO;
    }
    outputs->file_bytes += json.size;
    outputs->count += entry->place == 0 ? 1 : 0;
    *entry = new;
    return OK;
}

static enum err read_output(struct outputs *outputs, struct arena *arena, const struct entry *entry,
                            struct json_value *ret_output)
{
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct json_problem problem = {NULL, 0};
    uint8_t *bytes = arena_alloc(arena, entry->bytes);

    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    if (fseeko(outputs->file, (off_t)(entry->place - 1), SEEK_SET) != 0 ||
        fread(bytes, 1, entry->bytes, outputs->file) != entry->bytes ||
        fseeko(outputs->file, 0, SEEK_END) != 0) {
        return ERR_IO;
    }
    return json_check(arena, slice_of(bytes, entry->bytes), &rules, ret_output, &problem);
}

enum err outputs_join(struct outputs *outputs, struct arena *arena, struct import_row *row,
                      bool *ret_found)
{
    struct sha256_digest id = sha256(row->text[IMPORT_SUBJECT]);
    struct json_value output = {JSON_NULL, {NULL, 0}};
    struct json_value before = {JSON_NULL, {NULL, 0}};
    const struct entry *entry = find(outputs->entries, outputs->capacity, id.bytes);
    enum err err = OK;

    *ret_found = entry->place != 0 && row->text[IMPORT_SUBJECT].size > 0;
    if (!*ret_found) {
        return OK;
    }
    err = read_output(outputs, arena, entry, &output);
    if (err != OK) {
        return err;
    }
    if (row->before.kind == JSON_NULL && fields_find(arena, output, "before", &before)) {
        row->before = before;
    }
    if (row->text[IMPORT_NAME].size == 0) {
        row->text[IMPORT_NAME] = fields_text(arena, output, "name");
    }
    if (row->text[IMPORT_INPUT].size == 0) {
        row->text[IMPORT_INPUT] = fields_text(arena, output, "input");
    }
    return OK;
}
