/*
 * lexicon.h: the cues by which messages accept or reject an answer, ready to be matched: words, sets of words,
 * abbreviations and patterns of cues.def. Built once, then only read, by any thread.
 */
#ifndef ERRATA_SERVER_DOMAIN_CUES_LEXICON_H
#define ERRATA_SERVER_DOMAIN_CUES_LEXICON_H

#include "server/domain/cues/words.h"

/* Maximum words, sets and elements of all patterns, with room for as many again; the tests check
 * cues.def against them. */
#define CUE_LEXICON_WORDS_MAX 8192
#define CUE_LEXICON_SETS_MAX 32
#define CUE_LEXICON_ELEMENTS_MAX 16384
#define CUE_LEXICON_CUES_MAX 2048
/* Maximum elements of a pattern; each has a bit while the pattern is matched. */
#define CUE_LEXICON_PATTERN_MAX 16
/* Minimum letters of a word that may have a typing error; too many shorter words differ by only one letter. */
#define CUE_LEXICON_TYPO_LETTERS_MIN 5

/* The classes of cues. The names are those of the API's matched_cue. */
enum cue_class {
#define CLASS(name) CUE_##name,
#include "server/domain/cues/cue_classes.def"
#undef CLASS
    CUE_CLASS_COUNT
};

/* The kinds of elements of a pattern. */
enum element_kind {
    ELEMENT_WORD, /* one word */
    ELEMENT_WORDS, /* one of several words */
    ELEMENT_SET, /* a word of a set */
    ELEMENT_ANY, /* any word */
    ELEMENT_GAP /* up to three words, or none */
};

struct element {
    enum element_kind kind;
    bool is_optional;
    bool is_repeated;
    uint16_t first; /* a word, a set, or the first of `count` words in `choices` */
    uint16_t count;
};

struct cue {
    enum cue_class class;
    struct slice pattern; /* as in cues.def */
    const struct element *elements;
    size_t element_count;
    bool at_clause; /* `^` */
    bool at_message; /* `^^` */
    bool to_end; /* `$` */
};

/* A word that cues.def has. */
struct cue_lexicon_entry {
    struct slice text;
    uint32_t sets; /* one bit for each set that has the word */
    uint16_t expansion[4]; /* words that it is an abbreviation of; 0: the end */
    bool is_cue; /* a pattern has the word or its set, so typing errors of it are corrected */
    uint32_t cue_first; /* index in `starts` of the cues that may begin with it */
    uint32_t cue_count;
};

struct cue_lexicon {
    struct arena *arena;
    struct cue_lexicon_entry *entries; /* from 1 */
    size_t entry_count; /* number of entries, including entry 0 */
    uint16_t *buckets; /* entries by their hash; 0: free */
    struct slice sets[CUE_LEXICON_SETS_MAX]; /* names */
    size_t set_count;
    struct cue *cues;
    size_t cue_count;
    struct element *elements;
    size_t element_count;
    uint16_t *choices;
    size_t choice_count;
    uint16_t *starts; /* cues by the word that they may begin with */
    size_t start_count;
    uint16_t *typos; /* cue words by the hashes of their forms without one letter */
};

/* Builds the lexicon of cues.def in the arena, which must outlive it. ERR_MEMORY; ERR_INTERNAL if
 * the data has more than the limits, or a set that does not exist. */
MUST_CHECK enum err cue_lexicon_new(struct arena *arena, const struct cue_lexicon **ret_lexicon);
/* Returns the name of a class; empty for CUE_CLASS_COUNT. */
struct slice cue_class_name(enum cue_class class);
/* Finds a class by its name; false for an unknown one. */
bool cue_class_find(struct slice name, enum cue_class *ret_class);
/* Returns the set of a name, a bit; 0 for an unknown name. */
uint32_t cue_lexicon_set(const struct cue_lexicon *lexicon, struct slice name);
/* Finds a word's entry; 0 for an unknown word. */
uint16_t cue_lexicon_find(const struct cue_lexicon *lexicon, struct slice word);
/* Finds the entry of the cue word that differs from the word by one typing error; 0 without one. */
uint16_t cue_lexicon_find_typo(const struct cue_lexicon *lexicon, struct slice word);
/* Expands abbreviations, corrects typing errors, and sets the words' entries. Fails only with
 * ERR_MEMORY. */
MUST_CHECK enum err cue_lexicon_enter(const struct cue_lexicon *lexicon, struct arena *arena,
                                      struct cue_words *words);

#endif
