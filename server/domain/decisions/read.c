/*
 * read.c: stored decisions, their original and current evaluation, and their list; see decisions.h.
 */
#include "server/domain/decisions/decisions.h"
#include "server/domain/decisions/decisions_internal.h"
#include "server/domain/decisions/keys.h"

enum err decision_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                       struct event *ret_event, struct decision_view *ret_view)
{
    enum err err = log_read(txn, org, seq, ret_event);

    if (err == OK && ret_event->kind != EVENT_DECISION_RECORDED) {
        err = ERR_NOT_FOUND;
    }
    return err != OK ? err
                     : view_read_parts(&decision_view_type, ret_event->facts, ret_event->content,
                                       ret_view);
}

enum err decision_find(struct store_txn *txn, struct org_id org, struct slice decision_id,
                       uint64_t *ret_seq)
{
    struct key key = key_decision(org, decision_id);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_DECISION, key_slice(&key), &value);

    return err != OK ? err : log_read_id_row(value, ret_seq);
}

enum err decision_find_id(struct store_txn *txn, struct org_id org, struct slice id,
                          uint64_t *ret_seq)
{
    struct decision_view view;
    struct event event;
    struct uuid uuid;
    enum err err = ERR_NOT_FOUND;

    if (uuid_parse(id, &uuid)) {
        err = log_find(txn, org, uuid, ret_seq);
    }
    return err != OK ? err : decision_read(txn, org, *ret_seq, &event, &view);
}

enum err decision_theme_read(const struct decision_view *view, struct decision_theme *ret_theme)
{
    struct slice bytes = view->theme;
    size_t space = bytes.size >= 2 ? bytes.data[1] : 0;

    if (bytes.size == 0) {
        *ret_theme = (struct decision_theme){.kind = THEME_OF_NGRAMS};
        return OK;
    }
    if (bytes.size < 2 + space || bytes.data[0] > THEME_OF_CALLER ||
        (bytes.size - 2 - space) % DECISION_THEME_NUMBER_BYTES != 0) {
        return ERR_CORRUPT;
    }
    *ret_theme = (struct decision_theme){.kind = (enum theme_kind)bytes.data[0],
                                         .space = slice_of(bytes.data + 2, space),
                                         .numbers = slice_after(bytes, 2 + space)};
    return OK;
}

int16_t decision_theme_number(struct slice theme, size_t index)
{
    const uint8_t *bytes = theme.data + index * DECISION_THEME_NUMBER_BYTES;

    return (int16_t)(uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void add_similar(struct buffer *run, struct uuid id)
{
    char text[UUID_TEXT_BYTES];

    uuid_format(id, text);
    evaluation_view_add_similar_feedback_ids(run, slice_of(text, UUID_TEXT_BYTES));
}

/* Lists the members of a cluster now that were recorded before an event, except the decision itself. */
static enum err put_similar(struct arena *arena, const struct cluster_members *members,
                            uint64_t seq, uint64_t before_seq, struct evaluation_view *view)
{
    struct buffer run;
    size_t named = 0;

    buffer_init(&run, arena, EVALUATION_SIMILAR_MAX * (UUID_TEXT_BYTES + 4));
    for (size_t i = 0; i < members->count && named < EVALUATION_SIMILAR_MAX; i++) {
        if (members->items[i].seq != seq && members->items[i].seq < before_seq) {
            add_similar(&run, members->items[i].id);
            named++;
        }
    }
    view->similar_feedback_ids.run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

/* Lists the members of the cluster when the decision was recorded. An event whose content was erased, or of a server
 * that did not record them, does not have them: then it lists those that are still members. */
static enum err put_recorded_similar(struct arena *arena, struct store_txn *txn,
                                     const struct event *recorded,
                                     const struct decision_view *decision,
                                     struct evaluation_view *view)
{
    struct cluster_members members;
    struct slice seqs = decision->similar_seqs.run;
    struct decision_view similar;
    struct buffer run;
    struct event event;
    uint64_t seq = 0;
    enum err err = OK;

    if (seqs.size == 0 && decision->cluster_seq != 0 && decision->cluster_seq != recorded->seq) {
        err = cluster_members_read(arena, txn, recorded->org, decision->cluster_seq, &members);
        return err != OK ? err : put_similar(arena, &members, recorded->seq, recorded->seq, view);
    }
    buffer_init(&run, arena, EVALUATION_SIMILAR_MAX * (UUID_TEXT_BYTES + 4));
    while (err == OK && view_next_number(&seqs, &seq)) {
        err = decision_read(txn, recorded->org, seq, &event, &similar);
        if (err == OK) {
            add_similar(&run, similar.id);
        }
    }
    view->similar_feedback_ids.run = buffer_slice(&run);
    return err == OK && !buffer_ok(&run) ? ERR_MEMORY : err;
}

enum err decision_evaluation(struct arena *arena, struct store_txn *txn, struct org_id org,
                             uint64_t seq, struct evaluation_view *ret_view)
{
    struct decision_view view;
    struct event event;
    enum err err = decision_read(txn, org, seq, &event, &view);

    if (err != OK) {
        return err;
    }
    *ret_view = (struct evaluation_view){
        .classification = view.classification,
        .confidence = view.confidence,
        .proposed_action = view.proposed_action,
        .evaluator_id = SLICE(EVALUATOR_ID),
        .rationale = view.rationale,
    };
    return put_recorded_similar(arena, txn, &event, &view, ret_view);
}

enum err decision_evaluate(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq,
                           struct evaluation_view *ret_view)
{
    struct decision_input input = {.kind = THEME_OF_NGRAMS};
    struct evaluator_support support = {.members = 1};
    struct evaluator_result result;
    struct cluster_members members;
    struct event event;
    enum err err = decision_read(txn, org, seq, &event, &input.view);

    if (err == OK) {
        err = decision_read_signals(ctx->arena, &input);
    }
    if (err == OK) {
        err = cluster_members_read(ctx->arena, txn, org, input.view.cluster_seq, &members);
    }
    if (err == OK && members.count > 0) {
        err = cluster_support(ctx->arena, &members, clock_wall_us(ctx->clock), &support);
    }
    if (err == OK) {
        err = evaluator_classify(ctx->arena, &input.evaluator, &support, &result);
    }
    if (err != OK) {
        return err;
    }
    *ret_view = (struct evaluation_view){.confidence = 0};
    decision_put_result(&result, ret_view);
    return put_similar(ctx->arena, &members, seq, UINT64_MAX, ret_view);
}

enum err decision_list_begin(struct store_txn *txn, struct decision_list *list)
{
    bool is_of_agent = list->agent.size > 0;
    const struct scan_range range = {
        .table = is_of_agent ? TABLE_DECISION_AGENT : TABLE_DECISION_TIME,
        .prefix =
            is_of_agent ? key_decision_agent_prefix(list->org, list->agent) : key_org(list->org),
        .order = STORE_ASCENDING,
        .after = list->page->after};

    return page_open(list->page, txn, &range);
}

enum err decision_list_next(struct store_txn *txn, struct decision_list *list, uint64_t *ret_seq,
                            struct decision_view *ret_view)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct event event;
    enum err err = page_next(list->page, &key, &value);

    if (err != OK) {
        return err;
    }
    err = log_read_id_row(value, ret_seq);
    if (err == OK) {
        err = decision_read(txn, list->org, *ret_seq, &event, ret_view);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
