/*
 * redacted_members.c: see redacted_members.h.
 */
#include "server/domain/settings/redacted_members.h"

#include <errata/v1/organization_settings.views.h>

struct slice redacted_members_default(void)
{
    /* A RedactedMembers: fields 1, each with its size. */
    return SLICE("\x0a\x05"
                 "email"
                 "\x0a\x05"
                 "phone"
                 "\x0a\x07"
                 "address"
                 "\x0a\x04"
                 "iban"
                 "\x0a\x08"
                 "password"
                 "\x0a\x05"
                 "token"
                 "\x0a\x0b"
                 "reviewed_by"
                 "\x0a\x05"
                 "notes");
}

enum err redacted_members_read(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                               struct slice *ret_message)
{
    struct organization_settings_view after;
    struct slice message = {NULL, 0};
    struct event event;
    uint64_t seq = 0;
    enum err err = settings_change_find(txn, org, as_of_seq, &seq);

    *ret_message = redacted_members_default();
    if (err != OK || seq == 0) {
        return err;
    }
    err = log_read(txn, org, seq, &event);
    if (err == OK) {
        err = settings_after_event(&event, &message);
    }
    if (err == OK) {
        err = organization_settings_view_read(message, &after);
    }
    if (err == OK && after.has_redacted_members) {
        *ret_message = after.redacted_members;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
