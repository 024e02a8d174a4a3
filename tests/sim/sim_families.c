/*
 * sim_families.c: requests about layout families: lists, merges, and splits of both kinds. Families are those
 * that documents joined; others may have changed them since.
 */
#include "store/base/assert.h"
#include "tests/sim/sim_crowd.h"

#include <errata/v1/layout_service.pb-c.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct sim *sim_of(const struct sim_member *member)
{
    return member->caller.sim;
}

static void list_families(struct sim_member *member)
{
    Errata__V1__ListFamiliesRequest request = ERRATA__V1__LIST_FAMILIES_REQUEST__INIT;

    sim_call_start(sim_new_call(member, SIM_LIST_FAMILIES), &request.base);
}

/* Reads the family that a document joined; false if it has none. */
static bool read_family(const struct sim_write *document, char ret_id[SIM_ID_BYTES])
{
    struct slice answer = slice_of(document->answer, document->answer_bytes);
    Errata__V1__IngestDocumentResponse *one = NULL;
    Errata__V1__IngestDocumentStreamResponse *streamed = NULL;
    const Errata__V1__Document *read = NULL;
    bool has = false;

    if (document->streamed) {
        streamed =
            errata__v1__ingest_document_stream_response__unpack(NULL, answer.size, answer.data);
        read = streamed != NULL ? streamed->document : NULL;
    } else {
        one = errata__v1__ingest_document_response__unpack(NULL, answer.size, answer.data);
        read = one != NULL ? one->document : NULL;
    }
    has = read != NULL && read->layout_family_id != NULL && read->layout_family_id[0] != '\0';
    if (has) {
        (void)snprintf(ret_id, SIM_ID_BYTES, "%s", read->layout_family_id);
    }
    errata__v1__ingest_document_response__free_unpacked(one, NULL);
    errata__v1__ingest_document_stream_response__free_unpacked(streamed, NULL);
    return has;
}

/* Merges the families that two documents joined, which may be the same one. */
static bool merge(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    const struct sim_write *first = sim_draw_write(member, SIM_WRITE_DOCUMENT, false);
    const struct sim_write *second = sim_draw_write(member, SIM_WRITE_DOCUMENT, false);
    Errata__V1__MergeFamiliesRequest request = ERRATA__V1__MERGE_FAMILIES_REQUEST__INIT;
    char from[SIM_ID_BYTES] = "";
    char into[SIM_ID_BYTES] = "";

    if (first == NULL || !read_family(first, from) || !read_family(second, into)) {
        return false;
    }
    request.from_layout_family_id = from;
    request.into_layout_family_id = into;
    sim_send_new_write(sim, sim_model_add(sim, &member->caller, SIM_WRITE_MERGE), &request.base);
    return true;
}

/* Splits one document, or two of one family, off the family that the first one joined. */
static bool part(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    const struct sim_write *first = sim_draw_write(member, SIM_WRITE_DOCUMENT, false);
    const struct sim_write *second = sim_draw_write(member, SIM_WRITE_DOCUMENT, false);
    Errata__V1__SplitFamilyRequest request = ERRATA__V1__SPLIT_FAMILY_REQUEST__INIT;
    char family[SIM_ID_BYTES] = "";
    char other[SIM_ID_BYTES] = "";
    char marks[2][24];
    char *ids[2] = {marks[0], marks[1]};

    if (first == NULL || !read_family(first, family)) {
        return false;
    }
    sim_write_mark(first, 0, marks[0]);
    sim_write_mark(second, 0, marks[1]);
    request.layout_family_id = family;
    request.document_ids = ids;
    request.n_document_ids =
        first != second && read_family(second, other) && strcmp(family, other) == 0 ? 2 : 1;
    sim_send_new_write(sim, sim_model_add(sim, &member->caller, SIM_WRITE_SPLIT), &request.base);
    return true;
}

/* Takes a merge back, or splits documents off. */
static bool split(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    Errata__V1__SplitFamilyRequest request = ERRATA__V1__SPLIT_FAMILY_REQUEST__INIT;
    char *alias = sim->model->orgs[member->caller.org].alias;

    if (alias[0] == '\0' || sim_draw(sim, 2) == 0) {
        return part(member);
    }
    request.layout_family_id = alias;
    sim_send_new_write(sim, sim_model_add(sim, &member->caller, SIM_WRITE_SPLIT), &request.base);
    return true;
}

bool sim_request_families(struct sim_member *member, enum sim_op op)
{
    if (op == SIM_MERGE) {
        return merge(member);
    }
    if (op == SIM_SPLIT) {
        return split(member);
    }
    list_families(member);
    return true;
}

/* Families are listed newest first, each once. */
void sim_judge_families(struct sim_call *call, struct slice reply)
{
    struct sim_member *member = call->member;
    Errata__V1__ListFamiliesResponse *page =
        errata__v1__list_families_response__unpack(NULL, reply.size, reply.data);

    if (page == NULL) {
        sim_fail(sim_of(member), "call %" PRIu64 ": not a list of families", call->number);
    }
    for (size_t i = 0; page != NULL && i < page->n_families; i++) {
        if (i > 0 && strcmp(page->families[i - 1]->id, page->families[i]->id) <= 0) {
            sim_fail(sim_of(member), "call %" PRIu64 ": families that are not newest first",
                     call->number);
        }
    }
    errata__v1__list_families_response__free_unpacked(page, NULL);
}

/* Keeps an alias of a merged family, for a split. */
static void keep_alias(struct sim *sim, const struct sim_write *write,
                       const Errata__V1__MergeFamiliesResponse *merged)
{
    const Errata__V1__LayoutFamily *family = merged != NULL ? merged->family : NULL;

    if (family == NULL || family->n_merged_family_ids == 0) {
        sim_fail(sim, "the answer to merge %" PRIu64 " has no alias", write->number);
    } else {
        (void)snprintf(sim->model->orgs[write->org].alias, SIM_ID_BYTES, "%s",
                       family->merged_family_ids[0]);
    }
}

void sim_keep_family_event_id(struct sim *sim, struct sim_write *write, struct slice answer)
{
    Errata__V1__MergeFamiliesResponse *merged = NULL;
    Errata__V1__SplitFamilyResponse *parted = NULL;
    const char *id = NULL;

    if (write->kind == SIM_WRITE_MERGE) {
        merged = errata__v1__merge_families_response__unpack(NULL, answer.size, answer.data);
        id = merged != NULL ? merged->event_id : NULL;
        keep_alias(sim, write, merged);
    } else {
        parted = errata__v1__split_family_response__unpack(NULL, answer.size, answer.data);
        id = parted != NULL ? parted->event_id : NULL;
    }
    if (id == NULL || id[0] == '\0') {
        sim_fail(sim, "the answer to write %" PRIu64 " has no event", write->number);
    } else {
        (void)snprintf(write->ids[0], SIM_ID_BYTES, "%s", id);
    }
    errata__v1__merge_families_response__free_unpacked(merged, NULL);
    errata__v1__split_family_response__free_unpacked(parted, NULL);
}
