/*
 * match.c: see match.h.
 */
#include "server/domain/mappings/match.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"

/* Slots of the hash table of applied mappings by number: twice the maximum number of mappings. */
#define PLACES 2048

_Static_assert(MATCH_LINES_MAX <= EXPOSURE_ARTIFACTS_MAX, "every line's mapping has its place");
_Static_assert(MATCH_CANDIDATES_MAX == CANDIDATES_MAX, "one limit");

enum err match_look_up(struct arena *arena, struct store_txn *txn, struct match *match)
{
    enum err err = OK;

    buffer_init(&match->served, arena, 16 * match->line_count);
    for (size_t i = 0; i < match->line_count && err == OK; i++) {
        struct match_line *line = &match->lines[i];

        line->is_exact = false;
        if (line->folded_customer_sku.size == 0) {
            continue;
        }
        err = match->past != NULL
                  ? past_find_confirmed(match->past, txn, line->customer_id,
                                        line->folded_customer_sku, &line->confirmed)
                  : mapping_confirmed_find(txn, match->org, line->customer_id,
                                           line->folded_customer_sku, &line->confirmed);
        line->is_exact = err == OK;
        match->candidate_line_count += err == ERR_NOT_FOUND && match->candidates > 0;
        err = err == ERR_NOT_FOUND ? OK : err;
    }
    return err;
}

/* The reference's hash covers for each line: its method, one byte; for an exact match also the size
 * of its internal SKU, four bytes, and the SKU. */
static void note_served(struct match *match, enum match_method method, struct slice internal_sku)
{
    uint8_t size[sizeof(uint32_t)];

    buffer_append_byte(&match->served, (uint8_t)method);
    if (method == MATCH_METHOD_EXACT_MAPPING) {
        bytes_put_be32(size, (uint32_t)internal_sku.size);
        buffer_append(&match->served, slice_of(size, sizeof(size)));
        buffer_append(&match->served, internal_sku);
    }
}

enum err match_find_line(struct arena *scratch, struct store_txn *txn, struct match *match,
                         size_t index, struct match_found *ret_found)
{
    const struct slice none = {NULL, 0};
    const struct match_line *line = &match->lines[index];
    const struct candidates_query query = {
        .org = match->org,
        .customer_id = line->customer_id,
        .folded_customer_sku = line->folded_customer_sku,
        .limit = match->candidates,
        .past = match->past,
    };
    enum err err = OK;

    ret_found->confirmed = NULL;
    ret_found->candidates.count = 0;
    if (line->is_exact) {
        ret_found->method = MATCH_METHOD_EXACT_MAPPING;
        ret_found->confirmed = &line->confirmed;
        note_served(match, ret_found->method, line->confirmed.internal_sku);
        return OK;
    }
    ret_found->candidates.is_incomplete = false;
    if (line->folded_customer_sku.size > 0 && match->candidates > 0) {
        err = candidates_find(scratch, txn, &query, &ret_found->candidates);
    }
    if (err != OK) {
        return err;
    }
    ret_found->method =
        ret_found->candidates.count > 0 ? ret_found->candidates.items[0].method : MATCH_METHOD_NONE;
    note_served(match, ret_found->method, none);
    match->is_incomplete = match->is_incomplete || ret_found->candidates.is_incomplete;
    return OK;
}

bool match_is_incomplete(const struct match *match)
{
    return match->is_incomplete || (match->past != NULL && match->past->is_cut);
}

/* Lists the applied mappings, each once, in the order of their first lines. */
static enum err list_applied(struct arena *arena, const struct match *match,
                             struct exposed_artifact **ret_artifacts, size_t *ret_count)
{
    struct exposed_artifact *artifacts = arena_calloc(arena, match->line_count, sizeof(*artifacts));
    uint16_t *places = arena_calloc(arena, PLACES, sizeof(*places)); /* index + 1; 0: empty */
    size_t count = 0;

    if (artifacts == NULL || places == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < match->line_count; i++) {
        const struct mapping_confirmed_record *confirmed = &match->lines[i].confirmed;
        size_t place = 0;

        if (!match->lines[i].is_exact) {
            continue;
        }
        place = confirmed->seq % PLACES;
        while (places[place] != 0 && artifacts[places[place] - 1].seq != confirmed->seq) {
            place = (place + 1) % PLACES;
        }
        if (places[place] == 0) {
            artifacts[count] =
                (struct exposed_artifact){.seq = confirmed->seq, .version = confirmed->version};
            count++;
            places[place] = (uint16_t)count;
        }
        artifacts[places[place] - 1].line_count++;
    }
    *ret_artifacts = artifacts;
    *ret_count = count;
    return OK;
}

enum err match_text_hash(const struct match *match, uint8_t ret_hash[EXPOSURE_TEXT_HASH_BYTES])
{
    struct sha256_digest digest;

    if (!buffer_ok(&match->served)) {
        return ERR_MEMORY;
    }
    digest = sha256(buffer_slice(&match->served));
    memcpy(ret_hash, digest.bytes, EXPOSURE_TEXT_HASH_BYTES);
    return OK;
}

enum err match_reference(struct arena *arena, const struct exposure_key *key, int64_t now_us,
                         struct match *match, struct slice *ret_reference)
{
    struct exposure exposure = {
        .kind = EXPOSURE_KIND_MATCHES,
        .served_at_us = now_us,
        .as_of_seq = match->as_of_seq,
        .arm = EXPERIMENT_ARM_NONE,
    };
    struct exposed_artifact *artifacts = NULL;
    enum err err = list_applied(arena, match, &artifacts, &exposure.artifact_count);

    if (err == OK) {
        err = match_text_hash(match, exposure.text_hash);
    }
    if (err != OK) {
        return err;
    }
    exposure.artifacts = artifacts;
    return exposure_reference(arena, key, match->org, &exposure, ret_reference);
}
