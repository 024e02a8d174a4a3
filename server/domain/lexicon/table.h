/*
 * table.h: the phrases of the lexicon, hashed by their first stem. The maker makes the table from the data when the
 * program is built, since stemming it takes a quarter of a millisecond.
 */
#ifndef ERRATA_SERVER_DOMAIN_LEXICON_TABLE_H
#define ERRATA_SERVER_DOMAIN_LEXICON_TABLE_H

#include <stdint.h>

/* Maximum words of a phrase. */
#define LEXICON_PHRASE_WORDS_MAX 5
#define LEXICON_BUCKETS 4096

struct lexicon_phrase {
    uint64_t stems[LEXICON_PHRASE_WORDS_MAX]; /* hashes */
    uint16_t next; /* next in the same bucket, plus 1; 0: this is the last one */
    uint16_t count; /* number of stems */
    uint16_t list; /* enum lexicon_list */
    int16_t value;
};

/* The newest phrase of each bucket, plus 1; 0: none. */
extern const uint16_t lexicon_buckets[LEXICON_BUCKETS];
extern const struct lexicon_phrase lexicon_phrases[];

#endif
