/*
 * example_family.c: see example_family.h.
 */
#include "server/domain/corrections/example_family.h"

#include "server/domain/layouts/family_past.h"

enum err example_family_find(struct store_txn *txn, const struct example_family_query *query,
                             struct family_members *ret_family)
{
    enum err err = OK;

    ret_family->count = 0;
    if (query->document != NULL) {
        if (query->document->family_seq == 0) {
            return OK;
        }
        err = family_past_members(txn, query->org, query->document->family_seq, query->as_of_seq,
                                  ret_family);
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    err = family_past_of_layout(txn, query->org, query->fingerprint, query->as_of_seq, ret_family);
    if (err == ERR_NOT_FOUND) {
        ret_family->count = 0;
        err = OK;
    }
    return err;
}

enum err example_family_had(struct store_txn *txn, struct org_id org,
                            const struct feedback_event_view *view, uint64_t member_seq,
                            uint64_t as_of_seq, bool *ret_had)
{
    struct document_state state = {.family_seq = 0};
    enum err err = OK;

    if (view->document_id.size == 0) {
        *ret_had = true; /* its event recorded the family */
        return OK;
    }
    err = document_read_state(txn, org, view->document_id, as_of_seq, &state);
    *ret_had = err == OK && state.family_seq == member_seq;
    return err == ERR_NOT_FOUND ? OK : err;
}
