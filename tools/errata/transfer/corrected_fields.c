/*
 * corrected_fields.c: see corrected_fields.h.
 */
#include "tools/errata/transfer/corrected_fields.h"

#include "store/base/sha256.h"
#include "tools/errata/import/fields.h"

#include <stdlib.h>

#define CAPACITY_FIRST ((size_t)1024)

/* Returns the place of a hash, or the free place for it. */
static size_t find(const uint64_t *hashes, size_t capacity, uint64_t hash)
{
    size_t at = (size_t)hash & (capacity - 1);

    /* Half of the places are free. */
    while (hashes[at] != 0 && hashes[at] != hash) {
        at = (at + 1) & (capacity - 1);
    }
    return at;
}

static enum err grow(struct corrected_fields *fields)
{
    size_t capacity = fields->capacity == 0 ? CAPACITY_FIRST : fields->capacity * 2;
    uint64_t *grown = NULL;

    if (fields->count * 2 < fields->capacity) {
        return OK;
    }
    grown = fields->count < CORRECTED_FIELDS_MAX ? calloc(capacity, sizeof(*grown)) : NULL;
    if (grown == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < fields->capacity; i++) {
        if (fields->hashes[i] != 0) {
            grown[find(grown, capacity, fields->hashes[i])] = fields->hashes[i];
        }
    }
    free(fields->hashes);
    fields->hashes = grown;
    fields->capacity = capacity;
    return OK;
}

static enum err add(struct corrected_fields *fields, uint64_t hash, bool *ret_is_new)
{
    enum err err = grow(fields);
    size_t at = 0;

    if (err != OK) {
        return err;
    }
    at = find(fields->hashes, fields->capacity, hash);
    *ret_is_new = fields->hashes[at] == 0;
    fields->hashes[at] = hash;
    fields->count += *ret_is_new ? 1 : 0;
    return OK;
}

static uint64_t hash_of(struct slice type, struct slice id, struct slice field)
{
    const struct slice pieces[] = {type, SLICE("\0"), id, SLICE("\0"), field};
    struct sha256_digest digest = sha256_pieces(pieces, 5);
    uint64_t hash = 0;

    memcpy(&hash, digest.bytes, sizeof(hash));
    return hash == 0 ? 1 : hash;
}

enum err corrected_fields_add(struct corrected_fields *fields, struct arena *arena,
                              struct json_value event, bool *ret_superseded)
{
    struct slice type = fields_text(arena, event, "entityType");
    struct slice id = fields_text(arena, event, "entityId");
    struct json_value names = {JSON_NULL, {NULL, 0}};
    struct json_value name = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct json_walk walk;
    bool any = false;
    bool all = true;

    *ret_superseded = false;
    if (type.size == 0 || id.size == 0 || !fields_find(arena, event, "fieldsChanged", &names)) {
        return OK;
    }
    walk = json_walk_start(names);
    while (json_walk_next(&walk, &key, &name)) {
        bool is_new = false;
        enum err err = add(fields, hash_of(type, id, fields_value_text(arena, name)), &is_new);

        if (err != OK) {
            return err;
        }
        any = true;
        all = all && !is_new;
    }
    *ret_superseded = any && all;
    return OK;
}

void corrected_fields_deinit(struct corrected_fields *fields)
{
    free(fields->hashes);
    *fields = (struct corrected_fields){.hashes = NULL};
}
