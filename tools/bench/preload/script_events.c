/*
 * script_events.c: the events of the script. Every text has a fixed length, regardless of the numbers in it.
 */
#include "tools/bench/preload/script_internal.h"

#include "server/domain/corrections/capture.h"
#include "server/domain/extractions/extractions.h"
#include "server/domain/layouts/documents.h"
#include "server/domain/mappings/mappings.h"

static const struct event_caller caller = {.role = ROLE_ADMIN, .key_id = 1};

/* Letters and spaces: nothing that JSON escapes. */
static struct slice make_text(struct script *script, size_t size)
{
    static const char letters[32] = "abcdefghijklmnopqrstuvwxyz     0";
    uint8_t *text = arena_alloc(&script->arena, size + 1);

    if (text == NULL) {
        return slice_of(NULL, 0);
    }
    random_fill(script->ctx.random, text, size);
    for (size_t i = 0; i < size; i++) {
        text[i] = (uint8_t)letters[text[i] % sizeof(letters)];
    }
    return slice_of(text, size);
}

/* A document and its draft order, by their number in the organisation. */
struct paper {
    struct slice document_id;
    struct slice draft_order_id;
    struct slice layout_fingerprint;
};

/* Corrections use the layouts in turn; documents without corrections share those of others. */
static struct paper make_paper(struct script *script, uint64_t number)
{
    const struct preload_options *options = script->options;
    uint64_t turn = options->extraction_count > options->event_count
                        ? number * options->event_count / options->extraction_count
                        : number;

    return (struct paper){
        .document_id = arena_printf(&script->arena, "document-%012" PRIu64, number),
        .draft_order_id = arena_printf(&script->arena, "draft-%012" PRIu64, number),
        .layout_fingerprint = arena_printf(&script->arena, PRELOAD_LAYOUT_FORMAT,
                                           (uint32_t)(turn % options->layout_count)),
    };
}

/* Returns the document that correction `index` corrects: the last extracted one, or a new one. */
static struct paper corrected_paper(struct script *script, uint64_t index)
{
    uint64_t extracted = script->done[SCRIPT_EXTRACTIONS];

    return make_paper(script, extracted > 0 ? extracted - 1 : index);
}

/* Features of the page of each family. */
#define FAMILY_FEATURES 40

/* Names a document of a layout, from 0 to PRELOAD_LAYOUT_DOCUMENTS - 1. */
static struct slice name_document(struct arena *arena, uint32_t layout, uint64_t number)
{
    if (number == 0) {
        return arena_printf(arena, PRELOAD_CORRECTED_FORMAT, layout);
    }
    return number == 1 ? arena_printf(arena, PRELOAD_ASKING_FORMAT, layout)
                       : arena_printf(arena, PRELOAD_NEW_FORMAT, layout);
}

/* Ingests one of the documents of a layout. The number of tables makes the fingerprint. */
static enum err ingest(struct script *script, struct store_txn *txn, uint64_t index)
{
    static const struct document_page page = {595.28, 841.89};
    uint32_t layout = (uint32_t)(index / PRELOAD_LAYOUT_DOCUMENTS);
    uint32_t family = layout % script->options->family_count;
    bool is_new = index % PRELOAD_LAYOUT_DOCUMENTS == PRELOAD_LAYOUT_DOCUMENTS - 1;
    struct slice id = name_document(&script->arena, layout, index % PRELOAD_LAYOUT_DOCUMENTS);
    struct document_measures measures = {
        .document_id = id,
        .sha256 = sha256(id),
        .size_bytes = 3000,
        .pages = &page,
        .page_count = 1,
        .pages_read = 1,
        .text_chars = 900,
        .page_one_chars = 900,
        .page_cells = 1000,
        .covered_cells = 300,
        .input_snippet = make_text(script, script->texts.snippet_bytes),
        .has_table_count = true,
        .table_count = 1 + layout + (is_new ? script->options->layout_count : 0),
        .fp_version = SLICE("1/22.12.0"),
        .sketch = {.count = FAMILY_FEATURES},
    };
    struct document_event *event = NULL;
    uint64_t seq = 0;
    enum err err = OK;

    for (uint32_t i = 0; i < FAMILY_FEATURES; i++) {
        measures.sketch.features[i] = 8 * (1000 * family + i) + (uint32_t)FAMILY_FEATURE_WORD;
    }
    err = document_prepare(&script->ctx, &measures, SLICE(PRELOAD_ACTOR), &event);
    if (err == OK) {
        err = document_store(&script->ctx, txn, script->orgs[script->org], event, &seq);
    }
    return script_end_write(script, "a document can't be ingested", err);
}

/* Fills in the correction of one line. */
static void fill_input(struct script *script, uint64_t index, struct capture_input *input)
{
    struct paper paper = corrected_paper(script, index);
    struct arena *arena = &script->arena;
    struct slice snippet = make_text(script, script->texts.snippet_bytes);
    struct slice output = make_text(script, script->texts.output_bytes);

    input->event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    input->actor_user_id = SLICE(PRELOAD_ACTOR);
    input->entity_type = SLICE("draft_order_line");
    input->entity_id = arena_printf(arena, "line-%012" PRIu64, index);
    input->document_id = paper.document_id;
    input->layout_fingerprint = paper.layout_fingerprint;
    if (script->options->family_count > 0) {
        input->document_id =
            name_document(arena, (uint32_t)(index % script->options->layout_count), 0);
        input->layout_fingerprint = slice_of(NULL, 0);
    }
    input->draft_order_id = paper.draft_order_id;
    input->before_json = SLICE("{\"line_no\":3,\"qty\":10}");
    input->after_json = arena_printf(arena, "{\"line_no\":3,\"qty\":12,\"description\":\"%.*s\"}",
                                     (int)output.size, (const char *)output.data);
    input->meta_json = arena_printf(arena, "{\"model\":\"m-1\",\"input_snippet\":\"%.*s\"}",
                                    (int)snippet.size, (const char *)snippet.data);
}

static enum err capture(struct script *script, struct store_txn *txn, uint64_t index)
{
    struct capture_input input = {0};
    struct capture_event event;
    uint64_t seq = 0;
    enum err err = OK;

    fill_input(script, index, &input);
    err = capture_prepare(&script->ctx, &caller, &input, SLICE("event"), &event);
    if (err == OK) {
        err = capture_store(&script->ctx, txn, script->orgs[script->org], &event, 1, &seq);
    }
    return script_end_write(script, "an event can't be captured", err);
}

static enum err record_extraction(struct script *script, struct store_txn *txn, uint64_t index)
{
    static const struct exposure_key no_key; /* no exposure is cited */
    struct paper paper = make_paper(script, index);
    struct extraction_input input = {.actor_user_id = SLICE(PRELOAD_ACTOR),
                                     .document_id = paper.document_id,
                                     .draft_order_id = paper.draft_order_id,
                                     .layout_fingerprint = paper.layout_fingerprint,
                                     .has_confidence = true,
                                     .model = SLICE("m-1"),
                                     .field_count = SCRIPT_FIELDS};
    const struct extraction_request request = {script->orgs[script->org], caller, &no_key, &input};
    struct extraction_stored stored;
    uint8_t draw = 0;
    enum err err = OK;

    random_fill(script->ctx.random, &draw, sizeof(draw));
    input.confidence = 0.7 + draw / 1000.0;
    err = extraction_store(&script->ctx, txn, &request, &stored);
    return script_end_write(script, "an extraction can't be recorded", err);
}

static enum err confirm_mapping(struct script *script, struct store_txn *txn, uint64_t index)
{
    struct arena *arena = &script->arena;
    const struct slice request = {NULL, 0};
    struct mapping_judgement judgement = {.event_type = FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED,
                                          .actor_user_id = SLICE(PRELOAD_ACTOR)};
    struct slice customer = arena_printf(arena, PRELOAD_CUSTOMER_FORMAT,
                                         (uint32_t)(index % script->options->customer_count));
    uint64_t seq = 0;
    /* Any two neighbours begin with other letters. */
    uint32_t mixed = (uint32_t)index * UINT32_C(2654435761);
    struct slice customer_sku =
        arena_printf(arena, "%c%c-%03" PRIu32 "-%08" PRIu64, 'A' + mixed % 26,
                     'A' + mixed / 26 % 26, mixed / 676 % 1000, index);
    struct slice internal_sku = arena_printf(arena, "I-%010" PRIu64, index);
    enum err err = mapping_name_read(&script->ctx, request, customer, customer_sku, internal_sku,
                                     &judgement.name);

    if (err == OK) {
        err =
            mapping_judge(&script->ctx, txn, script->orgs[script->org], &caller, &judgement, &seq);
    }
    return script_end_write(script, "a mapping can't be confirmed", err);
}

enum err (*const script_writes[SCRIPT_STREAM_COUNT])(struct script *, struct store_txn *,
                                                     uint64_t) = {
    [SCRIPT_DOCUMENTS] = ingest,
    [SCRIPT_MAPPINGS] = confirm_mapping,
    [SCRIPT_EXTRACTIONS] = record_extraction,
    [SCRIPT_CORRECTIONS] = capture,
};
