/*
 * redacted_members.c: see redacted_members.h.
 */
#include "server/domain/settings/redacted_members.h"

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

struct slice redacted_members_of(const struct organization_settings_view *view)
{
    return view->has_redacted_members ? view->redacted_members : redacted_members_default();
}

enum err redacted_members_read(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                               struct slice *ret_message)
{
    struct organization_settings_view view;
    enum err err = settings_message_read(txn, org, as_of_seq, &view);

    if (err == OK) {
        *ret_message = redacted_members_of(&view);
    }
    return err;
}
