/*
 * match.c: see match.h.
 */
#include "server/domain/mappings/match.h"

#include "server/domain/mappings/candidates.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"

#include <errata/v1/mapping_service.views.h>

/* What finding one line's candidates needs at most, several times over. */
#define LINE_BYTES_MAX (4u << 20)
/* What a candidate takes as a rule: a UUID and two SKUs of 20 characters. */
#define CANDIDATE_BYTES 128
/* Places of a table that finds an applied mapping by its number: twice as many as there can be. */
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

/* The reference's hash is over, of each line: its method, one byte; of an exact one the bytes of its
 * internal SKU behind their number, four bytes. */
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

static void put_exact(struct match *match, const struct match_line *line, struct buffer *body)
{
    const struct line_match_view view = {
        .match_method = MATCH_METHOD_EXACT_MAPPING,
        .mapping_id = line->confirmed.id,
        .internal_sku = line->confirmed.internal_sku,
        .confidence = 1,
        .has_confidence = true,
    };

    line_match_view_put(&view, MATCH_LINES_RESPONSE_LINES_FIELD, body);
    note_served(match, MATCH_METHOD_EXACT_MAPPING, line->confirmed.internal_sku);
}

static void put_candidate(struct buffer *run, const struct candidate *candidate)
{
    const struct mapping_record *record = &candidate->row.record;
    const struct mapping_candidate_view view = {
        .mapping_id = record->id,
        .customer_sku = record->customer_sku,
        .internal_sku = record->internal_sku,
        .match_method = candidate->method,
        .confidence = candidate->confidence,
    };

    mapping_candidate_view_put(&view, LINE_MATCH_CANDIDATES_FIELD, run);
}

static enum err put_candidates(struct arena *scratch, struct match *match,
                               const struct candidates *candidates, struct buffer *body)
{
    const struct slice none = {NULL, 0};
    struct line_match_view view = {
        .match_method = candidates->count > 0 ? candidates->items[0].method : MATCH_METHOD_NONE,
    };
    struct buffer run;

    buffer_init(&run, scratch, candidates->count * CANDIDATE_BYTES);
    for (size_t i = 0; i < candidates->count; i++) {
        put_candidate(&run, &candidates->items[i]);
    }
    view.candidates.run = buffer_slice(&run);
    line_match_view_put(&view, MATCH_LINES_RESPONSE_LINES_FIELD, body);
    note_served(match, view.match_method, none);
    match->is_incomplete = match->is_incomplete || candidates->is_incomplete;
    return buffer_ok(&run) && buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err match_write_line(struct arena *arena, struct store_txn *txn, struct match *match,
                          size_t index, struct buffer *body)
{
    const struct match_line *line = &match->lines[index];
    const struct candidates_query query = {
        .org = match->org,
        .customer_id = line->customer_id,
        .folded_customer_sku = line->folded_customer_sku,
        .limit = match->candidates,
        .past = match->past,
    };
    struct candidates candidates = {.count = 0};
    struct arena scratch;
    enum err err = OK;

    if (line->is_exact) {
        put_exact(match, line, body);
        return buffer_ok(body) ? OK : ERR_MEMORY;
    }
    arena_init(&scratch, LINE_BYTES_MAX < arena->limit_bytes ? LINE_BYTES_MAX : arena->limit_bytes);
    if (line->folded_customer_sku.size > 0 && match->candidates > 0) {
        err = candidates_find(&scratch, txn, &query, &candidates);
    }
    if (err == OK) {
        err = put_candidates(&scratch, match, &candidates, body);
    }
    arena_deinit(&scratch);
    return err;
}

/* The mappings that were applied, each once, in the order of their first lines. */
static enum err list_applied(struct arena *arena, const struct match *match,
                             struct exposed_artifact **ret_artifacts, size_t *ret_count)
{
    struct exposed_artifact *artifacts = arena_calloc(arena, match->line_count, sizeof(*artifacts));
    uint16_t *places = arena_calloc(arena, PLACES, sizeof(*places)); /* an index and one, or 0 */
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
            artifacts[count] = (struct exposed_artifact){confirmed->seq, confirmed->version, 0};
            count++;
            places[place] = (uint16_t)count;
        }
        artifacts[places[place] - 1].line_count++;
    }
    *ret_artifacts = artifacts;
    *ret_count = count;
    return OK;
}

enum err match_write_end(struct arena *arena, const struct exposure_key *key, int64_t now_us,
                         struct match *match, struct buffer *body)
{
    struct exposure exposure = {
        .kind = EXPOSURE_KIND_MATCHES,
        .served_at_us = now_us,
        .as_of_seq = match->as_of_seq,
        .arm = EXPERIMENT_ARM_NONE,
    };
    struct exposed_artifact *artifacts = NULL;
    struct sha256_digest digest;
    enum err err = list_applied(arena, match, &artifacts, &exposure.artifact_count);

    if (err != OK || !buffer_ok(&match->served)) {
        return err != OK ? err : ERR_MEMORY;
    }
    exposure.artifacts = artifacts;
    digest = sha256(buffer_slice(&match->served));
    memcpy(exposure.text_hash, digest.bytes, sizeof(exposure.text_hash));
    exposure_write(key, match->org, &exposure, MATCH_LINES_RESPONSE_EXPOSURE_REF_FIELD, body);
    if (match->is_incomplete || (match->past != NULL && match->past->is_cut)) {
        wire_put_varint(body, MATCH_LINES_RESPONSE_INCOMPLETE_FIELD, 1);
    }
    return buffer_ok(body) ? OK : ERR_MEMORY;
}
