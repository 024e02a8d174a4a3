/*
 * family_nearest.c: the families nearest to a document (families.h), and the features that they share.
 */
#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/families.h"
#include "server/domain/layouts/family_assign.h"
#include "server/domain/layouts/family_rows.h"
#include "server/domain/layouts/keys.h"

#include <errata/v1/layout_service.fields.h>

/* The wire's kinds, and their singular and plural for the sentence. */
static const struct {
    enum layout_feature_kind kind;
    const char *one;
    const char *many;
} kinds[FAMILY_FEATURE_KINDS] = {
    [FAMILY_FEATURE_WORD] = {LAYOUT_FEATURE_KIND_WORD, "word", "words"},
    [FAMILY_FEATURE_VERTICAL] = {LAYOUT_FEATURE_KIND_VERTICAL_RULING, "vertical ruling",
                                 "vertical rulings"},
    [FAMILY_FEATURE_HORIZONTAL] = {LAYOUT_FEATURE_KIND_HORIZONTAL_RULING, "horizontal ruling",
                                   "horizontal rulings"},
    [FAMILY_FEATURE_FONT] = {LAYOUT_FEATURE_KIND_FONT, "font", "fonts"},
    [FAMILY_FEATURE_PAGE] = {LAYOUT_FEATURE_KIND_PAGE_SIZE, "page size", "page sizes"},
};

/* Returns whether `a` sorts before `b`. */
static bool is_nearer(const struct family_near *a, const struct family_near *b)
{
    int order = family_similarity_order(a->similarity, b->similarity);

    if (a->matches != b->matches) {
        return a->matches;
    }
    return order != 0 ? order > 0 : a->sketch_seq > b->sketch_seq;
}

/* A list of the nearest families so far. */
struct nearest {
    struct family_near *items;
    size_t count;
    size_t max;
};

/* Inserts a page's family in its position, once. */
static void offer(struct nearest *nearest, const struct family_near *near)
{
    size_t place = 0;

    while (place < nearest->count && nearest->items[place].family_seq != near->family_seq) {
        place++;
    }
    if (place < nearest->count && !is_nearer(near, &nearest->items[place])) {
        return;
    }
    if (place == nearest->count) {
        if (place < nearest->max) {
            nearest->count++;
        } else if (!is_nearer(near, &nearest->items[--place])) {
            return;
        }
    }
    for (; place > 0 && is_nearer(near, &nearest->items[place - 1]); place--) {
        nearest->items[place] = nearest->items[place - 1];
    }
    nearest->items[place] = *near;
}

/* Resolves the family of a page only if the list has room or the page is near enough, since an organisation has
 * up to FAMILY_SKETCHES_MAX pages. */
static enum err resolve_and_offer(struct store_txn *txn, struct org_id org, struct nearest *nearest,
                                  struct family_near *near)
{
    struct family_record family;
    enum err err = OK;

    if (nearest->count == nearest->max && !is_nearer(near, &nearest->items[nearest->count - 1])) {
        return OK;
    }
    err = family_resolve(txn, org, near->family_seq, &near->family_seq, &family);
    if (err == OK) {
        offer(nearest, near);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err compare_row(struct store_txn *txn, struct org_id org,
                            const struct family_document *document, struct slice key,
                            struct slice value, struct nearest *nearest)
{
    struct family_sketch_record row;
    struct family_sketch candidate;
    struct family_near near = {.family_seq = 0};
    enum err err = record_decode_family_sketch(value, &row);

    if (err == OK) {
        err = key_read_last_seq(key, &near.sketch_seq);
    }
    if (err == OK) {
        err = family_sketch_decode(row.sketch, &candidate);
    }
    if (err != OK || near.sketch_seq == document->seq) {
        return err;
    }
    near.family_seq = row.family_seq;
    near.matches = family_sketch_is_family(&document->sketch, &candidate, &near.similarity);
    return resolve_and_offer(txn, org, nearest, &near);
}

enum err family_nearest(struct store_txn *txn, struct org_id org,
                        const struct family_document *document, size_t max,
                        struct family_near ret_near[FAMILY_NEAREST_MAX], size_t *ret_count)
{
    const struct scan_range range = {
        .table = TABLE_FAMILY_SKETCH,
        .prefix = key_org(org),
        .rows_max = FAMILY_SKETCHES_MAX,
    };
    struct nearest nearest = {ret_near, 0, max};
    struct scan scan = {.row_count = 0};
    enum err err = OK;

    *ret_count = 0;
    if (document->sketch.count == 0) {
        return OK;
    }
    err = scan_init(&scan, txn, &range);
    while (err == OK) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = compare_row(txn, org, document, key, value, &nearest);
        }
    }
    scan_deinit(&scan);
    *ret_count = nearest.count;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Appends a text such as ` 30 words, 1 font`; nothing if all counts are zero. */
static void put_counts(struct buffer *text, const char *before, const uint32_t *counts)
{
    const char *separator = before;

    for (int i = 0; i < FAMILY_FEATURE_KINDS; i++) {
        if (counts[i] > 0) {
            buffer_printf(text, "%s%u %s", separator, counts[i],
                          counts[i] == 1 ? kinds[i].one : kinds[i].many);
            separator = ", ";
        }
    }
}

/* Sets the features by kind, and the sentence. */
static void put_difference(const struct family_difference *difference, struct buffer *run,
                           struct buffer *summary)
{
    for (int i = 0; i < FAMILY_FEATURE_KINDS; i++) {
        const struct layout_feature_count_view count = {
            .kind = kinds[i].kind,
            .shared = difference->shared[i],
            .only_document = difference->only_left[i],
            .only_family = difference->only_right[i],
        };

        if (count.shared + count.only_document + count.only_family > 0) {
            layout_feature_count_view_put(&count, NEAREST_FAMILY_FEATURES_FIELD, run);
        }
    }
    buffer_printf(summary, "%u of %u features are shared", difference->similarity.shared,
                  difference->similarity.of);
    put_counts(summary, ": ", difference->shared);
    put_counts(summary, "; only in the document: ", difference->only_left);
    put_counts(summary, "; only in the family: ", difference->only_right);
}

/* Sets the caller's id of the document whose sketch is compared. */
static enum err read_document_id(struct store_txn *txn, struct org_id org, uint64_t seq,
                                 struct slice *ret_document_id)
{
    struct document_facts facts;
    struct event event;
    enum err err = document_event_read(txn, org, seq, &event);

    if (err == OK) {
        err = document_facts_read(event.facts, &facts);
    }
    if (err == OK) {
        *ret_document_id = facts.document.document_id;
    }
    return err;
}

static enum err read_difference(struct store_txn *txn, struct org_id org,
                                const struct family_document *document, uint64_t sketch_seq,
                                struct family_difference *ret_difference)
{
    struct key key = key_family_sketch(org, sketch_seq);
    struct family_sketch_record row;
    struct family_sketch sketch;
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_FAMILY_SKETCH, key_slice(&key), &value);

    if (err == OK) {
        err = record_decode_family_sketch(value, &row);
    }
    if (err == OK) {
        err = family_sketch_decode(row.sketch, &sketch);
    }
    if (err == OK) {
        family_sketch_difference(&document->sketch, &sketch, ret_difference);
    }
    return err;
}

enum err family_near_view(struct arena *arena, struct store_txn *txn, struct org_id org,
                          const struct family_document *document, const struct family_near *near,
                          struct nearest_family_view *ret_view)
{
    struct nearest_family_view view = {
        .has_family = true,
        .matches = near->matches,
        .matches_by_letterhead = near->similarity.by_letterhead,
        .own = near->family_seq == document->family_seq,
    };
    struct layout_family_view family_view;
    struct family_members members;
    struct family_difference difference;
    struct family_record family;
    struct buffer run = {0};
    struct buffer summary = {0};
    enum err err = family_row_read(txn, org, near->family_seq, &family);

    if (err == OK) {
        err = read_document_id(txn, org, near->sketch_seq, &view.document_id);
    }
    if (err == OK) {
        err = read_difference(txn, org, document, near->sketch_seq, &difference);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    view.similarity = (double)difference.similarity.shared / (double)difference.similarity.of;
    buffer_init(&run, arena, 64);
    buffer_init(&summary, arena, 128);
    put_difference(&difference, &run, &summary);
    if (near->similarity.by_letterhead) {
        buffer_printf(&summary, "; they match by their letterheads, which share %u of %u words",
                      near->similarity.shared, near->similarity.of);
    }
    err = family_view_make(arena, txn, org, &family, &family_view);
    if (err == OK) {
        family_members_of(near->family_seq, &family, &members);
        err = family_view_add_examples(txn, org, &members, &family_view);
    }
    if (err != OK) {
        return err;
    }
    view.features.run = buffer_slice(&run);
    view.summary = buffer_slice(&summary);
    *ret_view = view;
    return buffer_ok(&run) && buffer_ok(&summary) &&
                   view_encode(&layout_family_view_type, &family_view, arena, &ret_view->family)
               ? OK
               : ERR_MEMORY;
}
