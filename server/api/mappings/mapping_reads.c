/*
 * mapping_reads.c: MappingService's reads: MatchLines, GetMapping, ListMappings. The lines are
 * folded in the stage before the read; the domain finds their mappings.
 */
#include "server/domain/mappings/change.h"
#include "server/domain/mappings/list.h"
#include "server/domain/mappings/match.h"
#include "server/domain/text/sku.h"
#include "server/pipeline/env.h"
#include "server/pipeline/id_filter.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

#include <errata/v1/mapping_service.fields.h>
#include <errata/v1/mapping_service.handlers.h>
#include <errata/v1/mapping_service.views.h>

/* Typical size of a candidate: a UUID and two SKUs of 20 characters. */
#define CANDIDATE_BYTES 128

/* Returns the lines with their SKUs in the form in which they are compared. */
static enum err fold_lines(struct service *service, const Errata__V1__MatchLinesRequest *request,
                           struct match *match)
{
    enum err err = OK;

    match->lines = arena_calloc(service->ctx->arena, request->n_lines, sizeof(*match->lines));
    match->line_count = request->n_lines;
    if (match->lines == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < request->n_lines && err == OK; i++) {
        match->lines[i].customer_id = slice_text(request->lines[i]->customer_id);
        err = sku_fold(service->ctx->arena, slice_text(request->lines[i]->customer_sku),
                       &match->lines[i].folded_customer_sku);
    }
    return err;
}

enum err mapping_service_match_lines_prepare(struct mapping_service_match_lines_call *call)
{
    bool has_candidates = call->request->_max_candidates_case ==
                          ERRATA__V1__MATCH_LINES_REQUEST___MAX_CANDIDATES_MAX_CANDIDATES;
    struct match *match = arena_calloc(call->ctx->arena, 1, sizeof(*match));
    enum err err = OK;

    if (match == NULL) {
        return ERR_MEMORY;
    }
    match->candidates = MATCH_CANDIDATES_DEFAULT;
    if (has_candidates) {
        match->candidates = (size_t)call->request->max_candidates;
    }
    if (UNEXPECTED(match->candidates > MATCH_CANDIDATES_MAX)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = fold_lines(call->service, call->request, match);
    if (err == OK) {
        match->org = call->org;
        call->prepared = match;
    }
    return err;
}

/* Reads the point in time of the request, which limits the events that the response uses. */
static enum err read_as_of(struct mapping_service_match_lines_call *call, struct match *match)
{
    struct log_head head;
    enum err err = log_read_head(call->txn, match->org, &head);

    match->as_of_seq = call->as_of.seq < head.last_seq ? call->as_of.seq : head.last_seq;
    if (err != OK || !call->as_of.is_given) {
        return err;
    }
    match->past = arena_calloc(call->ctx->arena, 1, sizeof(*match->past));
    if (match->past == NULL) {
        return ERR_MEMORY;
    }
    match->past->org = match->org;
    match->past->as_of_seq = match->as_of_seq;
    match->past->arena = call->ctx->arena;
    return OK;
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

static enum err put_line(struct arena *scratch, const struct match_found *found,
                         struct buffer *body)
{
    struct line_match_view view = {.match_method = found->method};
    struct buffer run;

    if (found->confirmed != NULL) {
        view.mapping_id = found->confirmed->id;
        view.internal_sku = found->confirmed->internal_sku;
        view.confidence = 1;
        view.has_confidence = true;
    }
    buffer_init(&run, scratch, found->candidates.count * CANDIDATE_BYTES);
    for (size_t i = 0; i < found->candidates.count; i++) {
        put_candidate(&run, &found->candidates.items[i]);
    }
    view.candidates.run = buffer_slice(&run);
    line_match_view_put(&view, MATCH_LINES_RESPONSE_LINES_FIELD, body);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

/* The memory of a line is reused for the next one. */
static enum err put_lines(struct service *service, struct store_txn *txn, struct match *match,
                          struct buffer *body)
{
    size_t limit = service->ctx->arena->limit_bytes;
    struct match_found *found = arena_alloc(service->ctx->arena, sizeof(*found));
    struct arena scratch;
    enum err err = found == NULL ? ERR_MEMORY : OK;

    arena_init(&scratch, MATCH_LINE_BYTES_MAX < limit ? MATCH_LINE_BYTES_MAX : limit);
    for (size_t i = 0; i < match->line_count && err == OK; i++) {
        err = service_is_cancelled(service) ? ERR_CANCELLED
                                            : match_find_line(&scratch, txn, match, i, found);
        if (err == OK) {
            err = put_line(&scratch, found, body);
        }
        arena_reset(&scratch);
    }
    arena_deinit(&scratch);
    return err;
}

static enum err look_up(struct mapping_service_match_lines_call *call, struct match *match)
{
    enum err err = read_as_of(call, match);

    return err != OK ? err : match_look_up(call->ctx->arena, call->txn, match);
}

/* A read of the past follows events backwards; otherwise the lines are looked up, and those without
 * a mapping counted. */
enum err mapping_service_match_lines_cost(struct mapping_service_match_lines_call *call)
{
    struct match *match = arena_alloc(call->ctx->arena, sizeof(*match));
    enum err err = OK;

    call->cost = READ_IS_LONG;
    if (call->as_of.is_given || call->request->n_lines > MATCH_LOOP_LINES_MAX) {
        return OK;
    }
    if (match == NULL) {
        return ERR_MEMORY;
    }
    *match = *(const struct match *)call->prepared;
    err = look_up(call, match);
    if (err == OK && match->candidate_line_count <= MATCH_LOOP_CANDIDATE_LINES_MAX) {
        match->is_looked_up = true;
        call->prepared = match;
        call->cost = READ_IS_SHORT;
    }
    return err;
}

enum err mapping_service_match_lines_read(struct mapping_service_match_lines_call *call)
{
    struct match_lines_response_view response = {.incomplete = false};
    struct match *match = call->prepared;
    enum err err = match->is_looked_up ? OK : look_up(call, match);

    if (err == OK) {
        err = put_lines(call->service, call->txn, match, call->body);
    }
    if (err == OK && !call->as_of.is_given) {
        err = match_reference(call->ctx->arena, &call->service->env->exposure_key,
                              clock_wall_us(call->ctx->clock), match, &response.exposure_ref);
    }
    response.incomplete = match_is_incomplete(match);
    match_lines_response_view_write(&response, call->body);
    return err;
}

static void put_mapping(struct org_id org, const struct mapping_row *row, uint32_t field,
                        struct buffer *body)
{
    const struct sku_mapping_view mapping = mapping_view_of(org, &row->record);

    sku_mapping_view_put(&mapping, field, body);
}

enum err mapping_service_get_mapping_read(struct mapping_service_get_mapping_call *call)
{
    struct org_id org = call->org;
    struct mapping_row row;
    struct uuid id;
    enum err err = uuid_parse(slice_text(call->request->id), &id) ? OK : ERR_NOT_FOUND;

    if (err == OK) {
        err = mapping_row_find_id(call->txn, org, id, &row);
    }
    if (err == ERR_NOT_FOUND) {
        return fault_say(call->ctx->fault, err,
                         "id: not found in this organisation; expected the id of a mapping");
    }
    if (err != OK) {
        return err;
    }
    put_mapping(org, &row, GET_MAPPING_RESPONSE_MAPPING_FIELD, call->body);
    return OK;
}

static enum err read_list(struct service *service, const Errata__V1__ListMappingsRequest *request,
                          struct mapping_list *list)
{
    enum err err = OK;

    if (UNEXPECTED(!mapping_status_from_wire((int32_t)request->status, &list->status))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = sku_fold(service->ctx->arena, slice_text(request->internal_sku),
                   &list->folded_internal_sku);
    return err != OK ? err
                     : sku_fold(service->ctx->arena, slice_text(request->customer_sku_prefix),
                                &list->folded_prefix);
}

enum err mapping_service_list_mappings_read(struct mapping_service_list_mappings_call *call)
{
    struct mapping_list list = {
        .org = call->org,
        .customer_id = slice_text(call->request->customer_id),
        .page = call->page,
    };
    struct mapping_row row;
    enum err err = read_list(call->service, call->request, &list);

    if (err == OK) {
        err = id_filter_read_uuid(call->service, call->request->id_prefix, &list.id_prefix);
    }
    if (err == OK) {
        err = mapping_list_begin(call->txn, &list);
    }
    while (err == OK) {
        err = mapping_list_next(call->ctx->arena, call->txn, &list, &row);
        if (err == OK) {
            put_mapping(call->org, &row, LIST_MAPPINGS_RESPONSE_MAPPINGS_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}
