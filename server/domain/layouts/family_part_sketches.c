/*
 * family_part_sketches.c: the sketches of a split by documents (family_part.h). A sketch moves with the document whose
 * event is its key. The new family has the sketches that it would have if its documents had been assigned to it: that of the
 * first document, and the newest others. A member without remaining sketches gets those of its newest remaining
 * documents. The event records only keys: the sketches are in the events of the documents.
 */
#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/family_assign.h"
#include "server/domain/layouts/family_part_internal.h"
#include "store/scan.h"

/* Reads the sketch of a document as it was measured. */
static enum err read_sketch(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq,
                            struct slice *ret_sketch)
{
    struct document_facts facts;
    struct event event;
    enum err err = document_event_read(txn, org, seq, &event);

    if (err == OK) {
        err = document_facts_read(event.facts, &facts);
    }
    if (err == OK && !arena_copy(ctx->arena, facts.internal.sketch, ret_sketch)) {
        err = ERR_MEMORY;
    }
    return err;
}

/* Adds the sketch of a document unless it is among the `count` ones; the newest come first. `ret_place`: of the same
 * or the new one. */
static enum err add_sketch(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq,
                           struct family_part_sketch *sketches, size_t *count)
{
    struct slice sketch = {NULL, 0};
    enum err err = read_sketch(ctx, txn, org, seq, &sketch);

    for (size_t i = 0; i < *count && err == OK; i++) {
        if (slice_equal(sketches[i].sketch, sketch)) {
            return OK;
        }
    }
    if (err == OK) {
        sketches[*count] = (struct family_part_sketch){seq, sketch};
        *count += 1;
    }
    return err;
}

/* Reverses sketches into the order of a family's row: oldest first. */
static void reverse(struct family_part_sketch *sketches, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct family_part_sketch other = sketches[count - 1 - i];

        sketches[count - 1 - i] = sketches[i];
        sketches[i] = other;
    }
}

/* The sketches of the new family: of its newest documents, the first document's in front. */
static enum err choose(struct ctx *ctx, struct store_txn *txn, struct family_part *part)
{
    struct family_part_sketch first = {.seq = 0};
    size_t count = 0;
    size_t place = 0;
    enum err err = OK;

    for (size_t i = part->count; i > 0 && count < FAMILY_ROW_SKETCHES_MAX && err == OK; i--) {
        err = add_sketch(ctx, txn, part->org, part->documents[i - 1].seq, part->sketches, &count);
    }
    if (err == OK) {
        first.seq = part->documents[0].seq;
        err = read_sketch(ctx, txn, part->org, first.seq, &first.sketch);
    }
    if (err != OK) {
        return err;
    }
    reverse(part->sketches, count);
    while (place < count && !slice_equal(part->sketches[place].sketch, first.sketch)) {
        place++;
    }
    if (place < count) {
        first = part->sketches[place];
        memmove(&part->sketches[1], &part->sketches[0], place * sizeof(first));
    }
    part->sketches[0] =
        first; /* if the new document is not among them, all are of newer documents */
    part->family.sketch_count = count;
    for (size_t i = 0; i < count; i++) {
        part->family.sketch_seqs[i] = part->sketches[i].seq;
    }
    return OK;
}

/* Reads the sketches of the newest remaining documents of a member. */
static enum err reseed(struct ctx *ctx, struct store_txn *txn, const struct family_part *part,
                       struct family_part_member *member)
{
    const struct scan_range range = {
        .table = TABLE_FAMILY_DOCUMENT,
        .prefix = key_family_prefix(part->org, member->seq),
        .rows_max = FAMILY_PART_DOCUMENTS_MAX + FAMILY_ROW_SKETCHES_MAX,
    };
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = OK;

    member->reseeds = arena_calloc(ctx->arena, FAMILY_ROW_SKETCHES_MAX, sizeof(member->reseeds[0]));
    if (member->reseeds == NULL) {
        return ERR_MEMORY;
    }
    err = scan_init(&scan, txn, &range);
    while (err == OK && member->reseed_count < FAMILY_ROW_SKETCHES_MAX) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_newest_first(key, &created_at_us, &seq);
        }
        if (err == OK && !family_part_moves(part, seq)) {
            err = add_sketch(ctx, txn, part->org, seq, member->reseeds, &member->reseed_count);
        }
    }
    scan_deinit(&scan);
    reverse(member->reseeds, member->reseed_count);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Removes the sketches that move from the row of a member, and returns their count. */
static size_t remove_moved(const struct family_part *part, struct family_record *record)
{
    size_t before = record->sketch_count;
    size_t kept = 0;

    for (size_t i = 0; i < before; i++) {
        if (!family_part_moves(part, record->sketch_seqs[i])) {
            record->sketch_seqs[kept++] = record->sketch_seqs[i];
        }
    }
    record->sketch_count = kept;
    return before - kept;
}

/* Plans the sketches of a member; adds to `removed` those that move. */
static enum err plan_member(struct ctx *ctx, struct store_txn *txn, const struct family_part *part,
                            struct family_part_member *member, size_t *removed)
{
    *removed += remove_moved(part, &member->record);
    return member->record.sketch_count > 0 || member->record.document_count == 0
               ? OK
               : reseed(ctx, txn, part, member);
}

/* Finds the oldest sketches of the organisation, as many as it has above its limit with `more` new ones. */
static enum err plan_drops(struct ctx *ctx, struct store_txn *txn, struct family_part *part,
                           size_t more)
{
    const struct scan_range range = {
        .table = TABLE_FAMILY_SKETCH,
        .prefix = key_org(part->org),
        .rows_max = FAMILY_SKETCHES_MAX,
    };
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    size_t oldest_count = 0;
    uint64_t seq = 0;
    enum err err = scan_init(&scan, txn, &range);

    part->dropped = arena_calloc(ctx->arena, more + 1, sizeof(part->dropped[0]));
    if (err == OK && part->dropped == NULL) {
        err = ERR_MEMORY;
    }
    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_last_seq(key, &seq);
        }
        if (err == OK && oldest_count < more && !family_part_moves(part, seq)) {
            part->dropped[oldest_count++] = seq;
        }
    }
    scan_deinit(&scan);
    part->dropped_count = scan.row_count + more > FAMILY_SKETCHES_MAX
                              ? scan.row_count + more - FAMILY_SKETCHES_MAX
                              : 0;
    if (part->dropped_count > oldest_count) {
        part->dropped_count = oldest_count;
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err family_part_plan_sketches(struct ctx *ctx, struct store_txn *txn, struct family_part *part)
{
    size_t removed = 0;
    size_t added = 0;
    enum err err = choose(ctx, txn, part);

    added = part->family.sketch_count;
    for (size_t i = 0; i < part->changed_count && err == OK; i++) {
        err = plan_member(ctx, txn, part, &part->changed[i], &removed);
        added += part->changed[i].reseed_count;
    }
    return err != OK || added <= removed ? err : plan_drops(ctx, txn, part, added - removed);
}

static void put_numbers(struct buffer *run, void (*add)(struct buffer *, uint64_t),
                        const struct family_part_sketch *sketches, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(run, sketches[i].seq);
    }
}

enum err family_part_put_sketches(struct arena *arena, const struct family_part *part,
                                  struct family_split_internal_view *internal)
{
    struct buffer sketches;
    struct buffer reseeds;
    struct buffer dropped;

    buffer_init(&sketches, arena, 128);
    buffer_init(&reseeds, arena, 128);
    buffer_init(&dropped, arena, 128);
    put_numbers(&sketches, family_split_internal_view_add_sketch_seqs, part->sketches,
                part->family.sketch_count);
    for (size_t i = 0; i < part->changed_count; i++) {
        put_numbers(&reseeds, family_split_internal_view_add_reseed_seqs, part->changed[i].reseeds,
                    part->changed[i].reseed_count);
    }
    for (size_t i = 0; i < part->dropped_count; i++) {
        family_split_internal_view_add_dropped_seqs(&dropped, part->dropped[i]);
    }
    internal->sketch_seqs.run = buffer_slice(&sketches);
    internal->reseed_seqs.run = buffer_slice(&reseeds);
    internal->dropped_seqs.run = buffer_slice(&dropped);
    return buffer_ok(&sketches) && buffer_ok(&reseeds) && buffer_ok(&dropped) ? OK : ERR_MEMORY;
}

/* Finds the member that loses documents and that the document of an event is assigned to. */
static enum err find_member(struct store_txn *txn, struct family_part *part, uint64_t seq,
                            struct family_part_member **ret_member)
{
    struct document_facts facts;
    struct document_record row;
    struct event event;
    enum err err = document_event_read(txn, part->org, seq, &event);

    if (err == OK) {
        err = document_facts_read(event.facts, &facts);
    }
    if (err == OK) {
        err = document_row_read(txn, part->org, facts.document.document_id, &row);
    }
    for (size_t i = 0; i < part->changed_count && err == OK; i++) {
        if (part->changed[i].seq == row.family_seq) {
            *ret_member = &part->changed[i];
            return OK;
        }
    }
    return err == OK || err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Reads one of `reseed_seqs`. */
static enum err read_reseed(struct ctx *ctx, struct store_txn *txn, struct family_part *part,
                            uint64_t seq)
{
    struct family_part_member *member = NULL;
    enum err err = find_member(txn, part, seq, &member);

    if (err == OK && member->reseeds == NULL) {
        member->reseeds =
            arena_calloc(ctx->arena, FAMILY_ROW_SKETCHES_MAX, sizeof(member->reseeds[0]));
        err = member->reseeds == NULL ? ERR_MEMORY : OK;
    }
    if (err == OK && member->reseed_count == FAMILY_ROW_SKETCHES_MAX) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        member->reseeds[member->reseed_count].seq = seq;
        err = read_sketch(ctx, txn, part->org, seq, &member->reseeds[member->reseed_count].sketch);
        member->reseed_count++;
    }
    return err;
}

/* Reads `dropped_seqs`. */
static enum err read_dropped(struct ctx *ctx, struct family_part *part, struct slice run)
{
    uint64_t seq = 0;

    part->dropped = arena_calloc(ctx->arena, run.size + 1, sizeof(part->dropped[0]));
    if (part->dropped == NULL) {
        return ERR_MEMORY;
    }
    while (view_next_number(&run, &seq)) {
        part->dropped[part->dropped_count++] = seq;
    }
    return run.size == 0 ? OK : ERR_CORRUPT;
}

enum err family_part_read_sketches(struct ctx *ctx, struct store_txn *txn,
                                   const struct family_split_internal_view *internal,
                                   struct family_part *part)
{
    struct slice run = internal->sketch_seqs.run;
    struct family_record *family = &part->family;
    uint64_t seq = 0;
    enum err err = OK;

    while (err == OK && family->sketch_count < FAMILY_ROW_SKETCHES_MAX &&
           view_next_number(&run, &seq)) {
        family->sketch_seqs[family->sketch_count] = seq;
        part->sketches[family->sketch_count].seq = seq;
        err = read_sketch(ctx, txn, part->org, seq, &part->sketches[family->sketch_count].sketch);
        family->sketch_count++;
    }
    if (err == OK && run.size > 0) {
        err = ERR_CORRUPT;
    }
    for (size_t i = 0; i < part->changed_count; i++) {
        (void)remove_moved(part, &part->changed[i].record);
    }
    run = internal->reseed_seqs.run;
    while (err == OK && view_next_number(&run, &seq)) {
        err = read_reseed(ctx, txn, part, seq);
    }
    return err != OK ? err : read_dropped(ctx, part, internal->dropped_seqs.run);
}
