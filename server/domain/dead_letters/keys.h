/*
 * keys.h: keys of the rows of dead letters. FORMAT.md shows the bytes.
 */
#ifndef ERRATA_SERVER_DOMAIN_DEAD_LETTERS_KEYS_H
#define ERRATA_SERVER_DOMAIN_DEAD_LETTERS_KEYS_H

#include "store/key.h"

struct key key_dead_letter(struct org_id org, uint64_t seq);
/* `entry_sha256` has SHA256_BYTES. */
struct key key_dead_letter_entry(struct org_id org, struct slice stream, struct slice entry_id,
                                 struct slice entry_sha256);
struct key key_dead_letter_retry(struct org_id org, uint64_t seq);

#endif
