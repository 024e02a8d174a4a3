/*
 * key.h: what keys are made of. All numbers are big-endian, so that keys sort by them; newest first is
 * an inverted time, and ties by an inverted seq. A text is the first bytes of its SHA-256. Every key
 * begins with its organisation; what belongs to none has zeros there, which only *_global builders
 * write.
 *
 * Whoever owns a table builds its keys from these pieces: the store its own (store/keys.h), each
 * capability its own (keys.h in its folder). FORMAT.md shows all of them.
 */
#ifndef ERRATA_STORE_KEY_H
#define ERRATA_STORE_KEY_H

#include "store/backend.h"
#include "store/base/sha256.h"
#include "store/base/uuid.h"

#define KEY_ORG_BYTES 16
/* Of a text in a key. */
#define KEY_HASH_BYTES 16
/* Two numbers at a key's end: inverted time, inverted seq. */
#define KEY_NEWEST_FIRST_BYTES 16

/* An organisation. Made by the auth layer alone, from a token (or by the code that creates one). */
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

/* Prefix of everything of an organisation. Not the zero one. */
struct key key_org(struct org_id org);
/* Prefix of what belongs to no organisation: 16 zero bytes. */
struct key key_global_prefix(void);

/* A row by its seq, and by a time and its seq, newest first. */
struct key key_org_seq(struct org_id org, uint64_t seq);
struct key key_org_newest_first(struct org_id org, int64_t time_us, uint64_t seq);

/* Each appends to a key; together at most STORE_KEY_BYTES_MAX bytes. */
void key_put_bytes(struct key *key, const void *bytes, size_t size);
void key_put_byte(struct key *key, uint8_t byte);
void key_put_be32(struct key *key, uint32_t value);
void key_put_be64(struct key *key, uint64_t value);
/* KEY_HASH_BYTES of a text. */
void key_put_hash(struct key *key, struct slice text);
/* The first `width` bytes of a text, which keep its order; zeros after a shorter one. */
void key_put_padded(struct key *key, struct slice text, size_t width);
/* KEY_NEWEST_FIRST_BYTES. */
void key_put_newest_first(struct key *key, int64_t time_us, uint64_t seq);
/* A number whose order is newest first; the sign bit is turned, so that times before 1970 sort too. */
uint64_t key_invert_time(int64_t time_us);

/* As many bytes in the order of time and seq. */
void key_put_oldest_first(struct key *key, int64_t time_us, uint64_t seq);
/* Reads the end that key_put_newest_first wrote. ERR_CORRUPT for a key that is too short. */
MUST_CHECK enum err key_read_newest_first(struct slice key, int64_t *ret_time_us,
                                          uint64_t *ret_seq);

#endif
