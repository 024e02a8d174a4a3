/*
 * key.h: the parts of keys. All numbers are big-endian, so that keys sort by them; for newest first,
 * the time is inverted, and then the seq. A text is replaced by the first bytes of its SHA-256.
 * Every key begins with its organisation; rows of no organisation have zeros there, which only
 * *_global functions write. The owner of a table builds its keys from these parts: the store its own
 * (store/keys.h), each capability its own (keys.h in its folder). FORMAT.md documents all of them.
 */
#ifndef ERRATA_STORE_KEY_H
#define ERRATA_STORE_KEY_H

#include "store/backend.h"
#include "store/base/sha256.h"
#include "store/base/uuid.h"

#define KEY_ORG_BYTES 16
/* Bytes of a text in a key. */
#define KEY_HASH_BYTES 16
/* Two numbers at a key's end: inverted time, inverted seq. */
#define KEY_NEWEST_FIRST_BYTES 16

/* An organisation. Made only by the auth layer, from a token (or by the code that creates one). */
struct org_id {
    struct uuid uuid;
};

struct key {
    uint8_t bytes[STORE_KEY_BYTES_MAX];
    size_t size;
};

static inline struct slice key_slice(const struct key *key)
{
    return slice_of(key->bytes, key->size);
}

/* The prefix of all rows of an organisation. Not the zero one. */
struct key key_org(struct org_id org);
/* The prefix of rows of no organisation: 16 zero bytes. */
struct key key_global_prefix(void);

/* Build the key of a row by its seq, and by a time and its seq, newest first. */
struct key key_org_seq(struct org_id org, uint64_t seq);
struct key key_org_newest_first(struct org_id org, int64_t time_us, uint64_t seq);

/* Append to a key; together at most STORE_KEY_BYTES_MAX bytes. */
void key_put_bytes(struct key *key, const void *bytes, size_t size);
void key_put_byte(struct key *key, uint8_t byte);
void key_put_be32(struct key *key, uint32_t value);
void key_put_be64(struct key *key, uint64_t value);
/* Appends KEY_HASH_BYTES of the hash of a text. */
void key_put_hash(struct key *key, struct slice text);
/* The first `width` bytes of a text, which keep its order; a shorter one is padded with zeros. */
void key_put_padded(struct key *key, struct slice text, size_t width);
/* KEY_NEWEST_FIRST_BYTES. */
void key_put_newest_first(struct key *key, int64_t time_us, uint64_t seq);
/* A number whose order is newest first; the sign bit is inverted, so that times before 1970 sort
 * correctly. */
uint64_t key_invert_time(int64_t time_us);

/* Appends time and seq in ascending order, with as many bytes. */
void key_put_oldest_first(struct key *key, int64_t time_us, uint64_t seq);
/* Reads the seq of a key that has only its organisation before the inverted seq. ERR_CORRUPT for a key of another form. */
MUST_CHECK enum err key_read_org_newest_seq(struct slice key, uint64_t *ret_seq);
/* Reads the end that key_put_newest_first wrote. ERR_CORRUPT for a key that is too short. */
MUST_CHECK enum err key_read_newest_first(struct slice key, int64_t *ret_time_us,
                                          uint64_t *ret_seq);

#endif
