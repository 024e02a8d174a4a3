/*
 * sim_check_families.c: see sim_check_families.h.
 */
#include "tests/sim/sim_check_families.h"

#include "server/domain/layouts/document_facts.h"
#include "store/base/assert.h"
#include "tests/sim/sim_documents.h"

#include <errata/payload/payload.views.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS_AT_ONCE 64

/* A family, or an alias. */
struct sim_family {
    uint64_t seq; /* seq of the event that made it */
    struct uuid id; /* id of that event */
    uint64_t alias_of_seq; /* 0: a separate family */
    unsigned layouts; /* set of the layouts of the documents that joined it, or were moved to it */
};

struct sim_family_document {
    uint64_t seq;
    unsigned layout;
};

static void wrong(const struct sim_families *families, const struct event *event, const char *what)
{
    sim_fail(families->sim, "event %" PRIu64 ": %s", event->seq, what);
}

/* Returns the array, with room for one more item. */
static void *grow(void *items, size_t count, size_t item_bytes)
{
    void *grown = items;

    if (count % ITEMS_AT_ONCE == 0) {
        grown = realloc(items, (count + ITEMS_AT_ONCE) * item_bytes);
        ASSERT(grown != NULL);
    }
    return grown;
}

static struct sim_family *find(const struct sim_families *families, uint64_t seq)
{
    for (size_t i = 0; i < families->count; i++) {
        if (families->families[i].seq == seq) {
            return &families->families[i];
        }
    }
    return NULL;
}

static struct sim_family *add(struct sim_families *families, const struct event *event)
{
    struct sim_family *family = NULL;

    families->families = grow(families->families, families->count, sizeof(*family));
    family = &families->families[families->count++];
    *family = (struct sim_family){.seq = event->seq, .id = event->id};
    return family;
}

/* The family that a member of a family belongs to. */
static const struct sim_family *root_of(const struct sim_families *families,
                                        const struct sim_family *family)
{
    return family->alias_of_seq != 0 ? find(families, family->alias_of_seq) : family;
}

/* Makes a family, which no family before may have been similar to. */
static struct sim_family *make(struct sim_families *families, const struct event *event,
                               unsigned layout)
{
    for (size_t i = 0; i < families->count; i++) {
        if ((families->families[i].layouts & 1u << layout) != 0) {
            wrong(families, event, "a second family of one layout");
            return NULL;
        }
    }
    return add(families, event);
}

static void check_document(struct sim_families *families, const struct event *event)
{
    struct sim_family_document *document = NULL;
    struct document_facts facts;
    struct sim_family *family = NULL;
    bool makes = false;

    if (document_facts_read(event->facts, &facts) != OK) {
        wrong(families, event, "the document can't be read");
        return;
    }
    if (!facts.document.has_layout_family_id) {
        return;
    }
    families->documents = grow(families->documents, families->document_count, sizeof(*document));
    document = &families->documents[families->document_count++];
    *document = (struct sim_family_document){
        .seq = event->seq,
        .layout = (unsigned)(facts.document.size_bytes % SIM_DOCUMENT_LAYOUTS),
    };
    makes = facts.internal.family_seq == 0;
    family =
        makes ? make(families, event, document->layout) : find(families, facts.internal.family_seq);
    if (family == NULL) {
        wrong(families, event, "a document of a family that was not made");
        return;
    }
    if (!makes && (family->layouts & 1u << document->layout) == 0) {
        wrong(families, event, "a document of another layout's family");
    }
    family->layouts |= 1u << document->layout;
    if (!uuid_equal(facts.document.layout_family_id, root_of(families, family)->id)) {
        wrong(families, event, "a document that does not name its family");
    }
}

static void check_merge(struct sim_families *families, const struct event *event)
{
    struct families_merged_internal_view internal;
    struct families_merged_view facts;
    struct sim_family *from = NULL;
    struct sim_family *into = NULL;

    if (families_merged_view_read(event->facts, &facts) != OK ||
        families_merged_internal_view_read(payload_internal(facts.internal, event->facts),
                                           &internal) != OK) {
        wrong(families, event, "the merge can't be read");
        return;
    }
    from = find(families, internal.from_seq);
    into = find(families, internal.into_seq);
    if (from == NULL || into == NULL || from == into || from->alias_of_seq != 0 ||
        into->alias_of_seq != 0) {
        wrong(families, event, "a merge that is not of two families");
        return;
    }
    for (size_t i = 0; i < families->count; i++) {
        if (root_of(families, &families->families[i]) == from && &families->families[i] != from) {
            families->families[i].alias_of_seq = into->seq;
        }
    }
    from->alias_of_seq = into->seq;
}

/* Adds the layouts of the moved documents, which have the sketches of the new family. */
static void add_layouts(const struct sim_families *families, struct slice sketch_seqs,
                        struct sim_family *family)
{
    uint64_t seq = 0;

    while (view_next_number(&sketch_seqs, &seq)) {
        for (size_t i = 0; i < families->document_count; i++) {
            if (families->documents[i].seq == seq) {
                family->layouts |= 1u << families->documents[i].layout;
            }
        }
    }
}

static void check_split(struct sim_families *families, const struct event *event)
{
    struct family_split_internal_view internal;
    struct family_split_view facts;
    struct sim_family *family = NULL;

    if (family_split_view_read(event->facts, &facts) != OK ||
        family_split_internal_view_read(payload_internal(facts.internal, event->facts),
                                        &internal) != OK) {
        wrong(families, event, "the split can't be read");
        return;
    }
    family = find(families, internal.from_seq != 0 ? internal.from_seq : internal.family_seq);
    if (family == NULL || (family->alias_of_seq == 0) != (internal.from_seq != 0)) {
        wrong(families, event, "a split of an alias by documents, or of a separate family without");
        return;
    }
    if (internal.from_seq == 0) {
        family->alias_of_seq = 0;
        return;
    }
    family = add(families, event);
    add_layouts(families, internal.sketch_seqs.run, family);
    if (family->layouts == 0) {
        wrong(families, event, "a split of documents that were not ingested");
    }
}

void sim_families_check(struct sim_families *families, const struct event *event)
{
    if (event->kind == EVENT_DOCUMENT_INGESTED) {
        check_document(families, event);
        return;
    }
    if (event->kind != EVENT_FAMILIES_MERGED && event->kind != EVENT_FAMILY_SPLIT) {
        return;
    }
    families->changes = grow(families->changes, families->change_count, sizeof(struct uuid));
    families->changes[families->change_count++] = event->id;
    if (event->kind == EVENT_FAMILIES_MERGED) {
        check_merge(families, event);
    } else {
        check_split(families, event);
    }
}

bool sim_families_have_change(const struct sim_families *families, const char *id)
{
    struct uuid wanted;

    for (size_t i = 0; uuid_parse(slice_text(id), &wanted) && i < families->change_count; i++) {
        if (uuid_equal(families->changes[i], wanted)) {
            return true;
        }
    }
    return false;
}

void sim_families_deinit(struct sim_families *families)
{
    free(families->families);
    free(families->documents);
    free(families->changes);
}
