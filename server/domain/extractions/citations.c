/*
 * citations.c: see citations.h.
 */
#include "server/domain/extractions/citations.h"

#include "server/domain/events/feedback.h"

/* What one request's outcomes may be kept under. */
#define SUBJECTS 2

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

static bool is_listed_already(const struct citations *citations, const struct cited_exposure *cited)
{
    for (size_t i = 0; i < citations->count; i++) {
        if (memcmp(citations->items[i].cited.reference_hash, cited->reference_hash,
                   EXPOSURE_REFERENCE_HASH_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

/* The extraction of one of the subjects that cited an exposure before; 0 where none did. */
static enum err find_outcome(struct store_txn *txn, struct org_id org,
                             const struct cited_exposure *cited,
                             const struct slice subjects[SUBJECTS], uint64_t *ret_seq)
{
    enum err err = ERR_NOT_FOUND;

    *ret_seq = 0;
    for (size_t i = 0; i < SUBJECTS && cited->seq != 0 && err == ERR_NOT_FOUND; i++) {
        if (subjects[i].size > 0) {
            err = exposure_find_outcome(txn, org, cited->seq, EVENT_EXTRACTION_RECORDED,
                                        subjects[i], ret_seq);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
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

/* What the request's outcomes may be kept under: its document; and, where that was filled in, the draft
 * order too, which may have been named before it had a document. */
static enum err read_subjects(struct arena *arena, const struct extraction_input *input,
                              struct slice document_id, struct slice ret_subjects[SUBJECTS])
{
    const struct slice no_document = {NULL, 0};
    enum err err = citations_subject(arena, document_id, input->draft_order_id, &ret_subjects[0]);

    ret_subjects[1] = slice_of(NULL, 0);
    if (err == OK && input->document_id.size == 0 && document_id.size > 0) {
        err = citations_subject(arena, no_document, input->draft_order_id, &ret_subjects[1]);
    }
    return err;
}

enum err citations_read(struct ctx *ctx, struct store_txn *txn,
                        const struct extraction_request *request, struct slice document_id,
                        struct citations *citations)
{
    struct slice subjects[SUBJECTS];
    enum err err = read_subjects(ctx->arena, request->input, document_id, subjects);

    citations->count = 0;
    citations->example_count = 0;
    for (size_t i = 0; i < request->input->exposure_ref_count && err == OK; i++) {
        struct citation *citation = &citations->items[citations->count];

        err = read_reference(ctx, txn, request, i, &citation->cited);
        if (err == ERR_INVALID || (err == OK && is_listed_already(citations, &citation->cited))) {
            err = OK;
            continue;
        }
        if (err == OK) {
            err =
                find_outcome(txn, request->org, &citation->cited, subjects, &citation->outcome_seq);
        }
        citations->count += err == OK;
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

/* Credits what an event made, where that is an example of the layout. ERR_NOT_FOUND where it is no
 * example at all. */
static enum err credit(struct store_txn *txn, struct org_id org, uint64_t seq,
                       struct slice layout_fingerprint, struct citations *citations)
{
    struct feedback_event_view view;
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

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
    if (slice_equal(view.layout_fingerprint, layout_fingerprint) && !is_credited(citations, seq) &&
        citations->example_count < EXTRACTION_EXAMPLES_MAX) {
        citations->examples[citations->example_count] = (struct credited_example){seq, event.id};
        citations->example_count++;
    }
    return OK;
}

/* The examples that one reference names; the template of a prompt is not an example. */
static enum err credit_exposure(struct store_txn *txn, struct org_id org,
                                const struct exposure *exposure, struct slice layout_fingerprint,
                                struct citations *citations)
{
    if (!exposure->is_listed || exposure->kind == EXPOSURE_KIND_MATCHES) {
        return OK;
    }
    for (size_t i = 0; i < exposure->artifact_count; i++) {
        enum err err = credit(txn, org, exposure->artifacts[i].seq, layout_fingerprint, citations);

        if (err != OK && err != ERR_NOT_FOUND) {
            return err;
        }
    }
    return OK;
}

/* Of the references that were cited for the subject before (`old`), or of the others. */
static enum err credit_exposures(struct store_txn *txn, struct org_id org, bool old,
                                 struct slice layout_fingerprint, struct citations *citations)
{
    enum err err = OK;

    for (size_t i = 0; i < citations->count && err == OK; i++) {
        if ((citations->items[i].outcome_seq != 0) == old) {
            err = credit_exposure(txn, org, &citations->items[i].cited.exposure, layout_fingerprint,
                                  citations);
        }
    }
    return err;
}

static enum err credit_id(struct store_txn *txn, struct org_id org, struct slice text,
                          struct slice layout_fingerprint, struct citations *citations)
{
    struct uuid id;
    uint64_t seq = 0;
    enum err err = uuid_parse(text, &id) ? log_find(txn, org, id, &seq) : ERR_NOT_FOUND;

    return err != OK ? err : credit(txn, org, seq, layout_fingerprint, citations);
}

enum err citations_credit(struct ctx *ctx, struct store_txn *txn,
                          const struct extraction_request *request, struct slice layout_fingerprint,
                          struct citations *citations)
{
    const struct extraction_input *input = request->input;
    enum err err = credit_exposures(txn, request->org, true, layout_fingerprint, citations);

    citations->has_old_examples = citations->example_count > 0;
    citations->example_count = 0;
    if (err == OK) {
        err = credit_exposures(txn, request->org, false, layout_fingerprint, citations);
    }
    for (size_t i = 0; i < input->example_id_count && err == OK; i++) {
        err = credit_id(txn, request->org, input->example_ids[i], layout_fingerprint, citations);
        if (err == ERR_NOT_FOUND) {
            blame(ctx, "example_ids", i, no_example);
            err = OK;
        }
    }
    return err;
}

bool citations_are_old(const struct citations *citations)
{
    for (size_t i = 0; i < citations->count; i++) {
        if (citations->items[i].outcome_seq == 0) {
            return false;
        }
    }
    return citations->count > 0;
}

uint64_t citations_first_outcome(const struct citations *citations)
{
    uint64_t first_seq = UINT64_MAX;

    for (size_t i = 0; i < citations->count; i++) {
        uint64_t seq = citations->items[i].outcome_seq;

        first_seq = seq != 0 && seq < first_seq ? seq : first_seq;
    }
    return first_seq;
}

bool citations_find_arm(const struct citations *citations, enum experiment_arm *ret_arm)
{
    bool found = false;

    for (size_t i = 0; i < citations->count; i++) {
        const struct exposure *exposure = &citations->items[i].cited.exposure;

        if (exposure->kind == EXPOSURE_KIND_MATCHES) {
            continue;
        }
        *ret_arm = found && *ret_arm != exposure->arm ? EXPERIMENT_ARM_NONE : exposure->arm;
        found = true;
    }
    return found;
}

enum err citations_subject(struct arena *arena, struct slice document_id,
                           struct slice draft_order_id, struct slice *ret_subject)
{
    bool document = document_id.size > 0;
    struct slice id = document ? document_id : draft_order_id;

    *ret_subject = slice_of(NULL, 0);
    if (id.size == 0) {
        return OK;
    }
    *ret_subject = arena_printf(arena, "%s/%.*s", document ? "document" : "draft_order",
                                (int)id.size, (const char *)id.data);
    return ret_subject->size > 0 ? OK : ERR_MEMORY;
}
