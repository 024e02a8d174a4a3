/*
 * records.h: rows of organisations and tokens as plain C, and their bytes: messages of proto/record/admin.proto.
 * The rules of store/records.h apply: slices are borrowed from the bytes, and bytes that do not decode are
 * ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_ADMIN_RECORDS_H
#define ERRATA_SERVER_DOMAIN_ADMIN_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

/* ORGANIZATION */
struct organization_record {
    struct uuid id;
    struct slice name; /* must not be empty */
    int64_t created_at_us;
    int64_t suspended_at_us; /* 0: not suspended */
    uint64_t state_seq; /* the event that suspended or resumed it last; 0: none has */
};

/* TOKEN */
struct token_record {
    struct uuid org;
    struct sha256_digest secret_sha256;
    uint32_t role; /* an errata.v1.Role; not 0 */
    bool server; /* may administer other organisations */
    struct slice user_id; /* user that the token is bound to, or empty */
    struct slice created_by; /* actor_user_id of its creation, or empty */
    int64_t created_at_us;
    int64_t expire_at_us; /* 0: never expires */
    int64_t revoked_at_us; /* 0: not revoked */
    bool is_replaced; /* replaced by the token `replaced_by` */
    uint32_t replaced_by; /* a key id; 0 unless is_replaced */
};

MUST_CHECK enum err record_decode_organization(struct slice bytes,
                                               struct organization_record *ret_record);
MUST_CHECK enum err record_decode_token(struct slice bytes, struct token_record *ret_record);

MUST_CHECK enum err record_encode_organization(struct arena *arena,
                                               const struct organization_record *record,
                                               struct slice *ret_bytes);
MUST_CHECK enum err record_encode_token(struct arena *arena, const struct token_record *record,
                                        struct slice *ret_bytes);

#endif
