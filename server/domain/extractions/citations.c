/*
 * citations.c: see citations.h.
 */
#include "server/domain/extractions/citations.h"

#include "server/domain/corrections/document_example.h"
#include "server/domain/corrections/example_family.h"
#include "server/domain/corrections/examples.h"
#include "server/domain/events/feedback.h"
#include "server/domain/layouts/family_examples.h"

/* Maximum examples of documents whose events are read for one request: those of three references with the most
 * examples. For further ones only the newest event is credited. */
#define DOCUMENTS_EXPANDED_MAX (3 * EXAMPLES_LIMIT_MAX)

static const char not_ours[] =
    "unknown, incomplete or changed; expected the exposure_ref of a GetExamples, PreparePrompt or "
    "MatchLines response of this organisation";
static const char no_example[] =
    "not the id of an example of this organisation; expected the id of an example that GetExamples "
    "returned";

static void blame(struct ctx *ctx, const char *list, size_t place, const char *why)
{
    fault_add(ctx->fault, arena_printf(ctx->arena, "extraction.%s[%zu]", list, place), "%s", why);
}

static bool is_kind_cited(enum exposure_kind kind)
{
    return kind == EXPOSURE_KIND_EXAMPLES || kind == EXPOSURE_KIND_PROMPT ||
           kind == EXPOSURE_KIND_MATCHES;
}

static enum err read_reference(struct ctx *ctx, struct store_txn *txn,
                               const struct extraction_request *request, size_t place,
                               struct cited_exposure *ret_cited)
{
    enum err err = exposure_find(ctx, txn, request->key, request->org,
                                 request->input->exposure_refs[place], ret_cited);

    if (err == ERR_INVALID || (err == OK && !is_kind_cited(ret_cited->exposure.kind))) {
        blame(ctx, "exposure_refs", place, not_ours);
        return ERR_INVALID;
    }
    return err;
}

/* Finds the other events that the examples of documents of an exposure show, for at most `budget` documents,
 * which is reduced by the number that was read. */
static enum err find_document_events(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                     size_t *budget, struct exposure *exposure)
{
    uint64_t *seqs = NULL;
    struct document_served *served = NULL;

    if (!exposure->documents.is_used || !exposure->is_listed) {
        return OK;
    }
    seqs =
        arena_calloc(ctx->arena, exposure->artifact_count * DOCUMENT_PARTS_MAX + 1, sizeof(*seqs));
    served = arena_calloc(ctx->arena, 1, sizeof(*served));
    if (seqs == NULL || served == NULL) {
        return ERR_MEMORY;
    }
    exposure->event_seqs = seqs;
    for (size_t i = 0; i<exposure->artifact_count && * budget> 0; i++) {
        const struct exposed_document shown = {
            .seq = exposure->artifacts[i].seq,
            .as_of_seq = exposure->as_of_seq,
            .annotator_kinds = exposure->documents.annotator_kinds,
            .include_superseded = exposure->documents.include_superseded,
        };
        enum err err = exposure->artifacts[i].version > 1
                           ? document_example_find_served(ctx->arena, txn, org, &shown, served)
                           : ERR_NOT_FOUND;

        if (err != OK && err != ERR_NOT_FOUND) {
            return err;
        }
        for (uint32_t part = 1; err == OK && part < served->example.shown_count; part++) {
            seqs[exposure->event_count] = served->example.shown[part].seq;
            exposure->event_count++;
        }
        *budget -= err == OK ? 1 : 0;
    }
    return OK;
}

enum err citations_read(struct ctx *ctx, struct store_txn *txn,
                        const struct extraction_request *request, struct citations *citations)
{
    size_t budget = DOCUMENTS_EXPANDED_MAX;
    enum err err = OK;

    citations->count = 0;
    for (size_t i = 0; i < request->input->exposure_ref_count && err == OK; i++) {
        struct cited_exposure *cited = &citations->items[citations->count];

        err = read_reference(ctx, txn, request, i, cited);
        if (err == OK) {
            err = find_document_events(ctx, txn, request->org, &budget, &cited->exposure);
        }
        citations->count +=
            err == OK && !exposure_is_among(cited, citations->items, citations->count);
        err = err == ERR_INVALID ? OK : err;
    }
    return err;
}

static bool is_credited(const struct citations *citations, uint64_t seq)
{
    for (size_t i = 0; i < citations->example_count; i++) {
        if (citations->examples[i].seq == seq) {
            return true;
        }
    }
    return false;
}

/* Credits examples to an extraction. */
struct crediting {
    struct store_txn *txn;
    struct org_id org;
    const struct citations_layout *layout;
    struct citations *citations;
    bool family_known; /* `family` is set; only examples of other layouts need it */
    struct family_members
        family; /* family of the extraction's document or layout; without members: no family */
};

static enum err read_family(struct crediting *crediting)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(crediting->layout->layout_fingerprint);
    struct slice document_id = crediting->layout->document_id;
    struct document_state document;
    struct example_family_query query = {
        .org = crediting->org,
        .fingerprint = &fingerprint,
        .as_of_seq = UINT64_MAX,
    };
    enum err err = ERR_NOT_FOUND;

    if (crediting->family_known) {
        return OK;
    }
    if (document_id.size > 0) {
        err =
            document_read_state(crediting->txn, crediting->org, document_id, UINT64_MAX, &document);
    }
    if (err == OK) {
        query.document = &document;
    }
    if (err == OK || err == ERR_NOT_FOUND) {
        err = example_family_find(crediting->txn, &query, &crediting->family);
    }
    crediting->family_known = err == OK;
    return err;
}

/* Returns whether an example of another layout belongs to the extraction's family. */
static enum err is_of_family(struct crediting *crediting, const struct feedback_event_view *view,
                             bool *ret_is)
{
    uint64_t family_seq = 0;
    enum err err = read_family(crediting);

    if (err == OK) {
        err = family_example_family(crediting->txn, crediting->org, view, &family_seq);
    }
    *ret_is = err == OK && family_seq != 0 && family_members_have(&crediting->family, family_seq);
    return err;
}

/* Credits the example of an event if it belongs to the layout or its family. ERR_NOT_FOUND if the event is not
 * an example. */
static enum err credit(struct crediting *crediting, uint64_t seq)
{
    struct citations *citations = crediting->citations;
    bool is_own = false;
    bool is_other = false;
    struct feedback_event_view view;
    struct event event;
    enum err err = log_read(crediting->txn, crediting->org, seq, &event);

    if (err == OK && event.kind != EVENT_FEEDBACK) {
        err = ERR_NOT_FOUND;
    }
    if (err == OK) {
        err = feedback_view_read(&event, &view);
    }
    if (err != OK) {
        return err;
    }
    if (!feedback_is_correction(view.event_type) || view.layout_fingerprint.size == 0) {
        return ERR_NOT_FOUND;
    }
    is_own = slice_equal(view.layout_fingerprint, crediting->layout->layout_fingerprint);
    if (!is_own) {
        err = is_of_family(crediting, &view, &is_other);
    }
    if (err == OK && (is_own || is_other) && !is_credited(citations, seq) &&
        citations->example_count < EXTRACTION_EXAMPLES_MAX) {
        citations->examples[citations->example_count] =
            (struct credited_example){seq, event.id, is_other};
        citations->example_count++;
    }
    return err;
}

/* Credits the examples that one reference names, except the template of a prompt, and the examples of a
 * held-out document, which were not served. */
static enum err credit_exposure(struct crediting *crediting, const struct exposure *exposure)
{
    if (!exposure->is_listed || exposure->kind == EXPOSURE_KIND_MATCHES ||
        exposure->arm == EXPERIMENT_ARM_CONTROL) {
        return OK;
    }
    for (size_t i = 0; i < exposure->artifact_count; i++) {
        enum err err = credit(crediting, exposure->artifacts[i].seq);

        if (err != OK && err != ERR_NOT_FOUND) {
            return err;
        }
    }
    for (size_t i = 0; i < exposure->event_count; i++) {
        enum err err = credit(crediting, exposure->event_seqs[i]);

        if (err != OK && err != ERR_NOT_FOUND) {
            return err;
        }
    }
    return OK;
}

static enum err credit_id(struct crediting *crediting, struct slice text)
{
    struct uuid id;
    uint64_t seq = 0;
    enum err err =
        uuid_parse(text, &id) ? log_find(crediting->txn, crediting->org, id, &seq) : ERR_NOT_FOUND;

    return err != OK ? err : credit(crediting, seq);
}

enum err citations_credit(struct ctx *ctx, struct store_txn *txn,
                          const struct extraction_request *request,
                          const struct citations_layout *layout, struct citations *citations)
{
    const struct extraction_input *input = request->input;
    struct crediting crediting = {
        .txn = txn,
        .org = request->org,
        .layout = layout,
        .citations = citations,
    };
    enum err err = OK;

    citations->example_count = 0;
    for (size_t i = 0; i < citations->count && err == OK; i++) {
        err = credit_exposure(&crediting, &citations->items[i].exposure);
    }
    for (size_t i = 0; i < input->example_id_count && err == OK; i++) {
        err = credit_id(&crediting, input->example_ids[i]);
        if (err == ERR_NOT_FOUND) {
            blame(ctx, "example_ids", i, no_example);
            err = OK;
        }
    }
    return err;
}

struct citations_served citations_find_served(const struct citations *citations)
{
    struct citations_served served = {.arm = EXPERIMENT_ARM_NONE};

    for (size_t i = 0; i < citations->count; i++) {
        const struct exposure *exposure = &citations->items[i].exposure;

        if (exposure->kind == EXPOSURE_KIND_MATCHES) {
            continue;
        }
        if (!served.is_known) {
            served = (struct citations_served){
                .is_known = true,
                .arm = exposure->arm,
                .layout_ready = exposure->layout_ready,
                .served_at_us = exposure->served_at_us,
            };
        }
        served.arms_differ = served.arms_differ || served.arm != exposure->arm;
        served.layout_ready = served.layout_ready && exposure->layout_ready;
        served.served_at_us = exposure->served_at_us < served.served_at_us ? exposure->served_at_us
                                                                           : served.served_at_us;
    }
    served.arm = served.arms_differ ? EXPERIMENT_ARM_NONE : served.arm;
    return served;
}
