/*
 * family_members.c: see family_members.h.
 */
#include "server/domain/layouts/family_members.h"

#include "server/domain/layouts/family_rows.h"
#include "server/domain/layouts/keys.h"

enum err family_resolve(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                        uint64_t *ret_family_seq, struct family_record *ret_family)
{
    struct family_record family;
    uint64_t seq = family_seq;
    enum err err = family_row_read(txn, org, seq, &family);

    if (err == OK && family.alias_of_seq != 0) {
        seq = family.alias_of_seq;
        err = family_row_read(txn, org, seq, &family);
        if (err == ERR_NOT_FOUND || (err == OK && family.alias_of_seq != 0)) {
            err = ERR_CORRUPT; /* aliases are flattened */
        }
    }
    if (err == OK) {
        *ret_family_seq = seq;
        *ret_family = family;
    }
    return err;
}

void family_members_of(uint64_t family_seq, const struct family_record *family,
                       struct family_members *ret_members)
{
    ret_members->seqs[0] = family_seq;
    memcpy(&ret_members->seqs[1], family->alias_seqs,
           family->alias_count * sizeof(family->alias_seqs[0]));
    ret_members->count = 1 + family->alias_count;
}

/* Reads the aliases of a family. */
static enum err read_aliases(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                             struct family_record *ret_family)
{
    struct key key = key_family(org, family_seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_FAMILY, key_slice(&key), &value);

    return err != OK ? err : record_decode_family_aliases(value, ret_family);
}

enum err family_members(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                        struct family_members *ret_members)
{
    struct family_record family;
    uint64_t seq = family_seq;
    enum err err = read_aliases(txn, org, seq, &family);

    if (err == OK && family.alias_of_seq != 0) {
        seq = family.alias_of_seq;
        err = read_aliases(txn, org, seq, &family);
        if (err == ERR_NOT_FOUND || (err == OK && family.alias_of_seq != 0)) {
            err = ERR_CORRUPT; /* aliases are flattened */
        }
    }
    if (err == OK) {
        family_members_of(seq, &family, ret_members);
    }
    return err;
}

bool family_members_have(const struct family_members *members, uint64_t family_seq)
{
    for (size_t i = 0; i < members->count; i++) {
        if (members->seqs[i] == family_seq) {
            return true;
        }
    }
    return false;
}

void family_total_add(struct family_record *total, const struct family_record *member)
{
    if (member->document_count == 0) {
        return; /* a family without documents has no times */
    }
    if (total->document_count == 0 || total->first_seen_at_us > member->first_seen_at_us) {
        total->first_seen_at_us = member->first_seen_at_us;
    }
    if (total->document_count == 0 || total->last_seen_at_us < member->last_seen_at_us) {
        total->last_seen_at_us = member->last_seen_at_us;
    }
    total->document_count += member->document_count;
    total->fingerprint_count += member->fingerprint_count;
}

enum err family_total(struct store_txn *txn, struct org_id org, const struct family_record *family,
                      struct family_record *ret_total)
{
    struct family_record total = *family;
    struct family_record alias;

    for (size_t i = 0; i < family->alias_count; i++) {
        enum err err = family_row_read(txn, org, family->alias_seqs[i], &alias);

        if (err != OK) {
            return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        family_total_add(&total, &alias);
    }
    *ret_total = total;
    return OK;
}
