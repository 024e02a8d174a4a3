/*
 * lexicon.c: finds words, also those with a typing error: a word and a known one differ by one
 * letter if and only if both become equal when at most one letter of each is left out.
 */
#include "server/domain/cues/lexicon_internal.h"

#include "store/base/assert.h"

#define FNV_BASIS 2166136261u
#define FNV_PRIME 16777619u

/* Returns the hash of a word without its letter at `left_out`, or of the whole word if it has no such letter. */
static uint32_t hash_without(struct slice word, size_t left_out)
{
    uint32_t hash = FNV_BASIS;

    for (size_t i = 0; i < word.size; i++) {
        hash = i == left_out ? hash : (hash ^ word.data[i]) * FNV_PRIME;
    }
    return hash ^ hash >> 15;
}

struct slice cue_lexicon_next(struct slice *text)
{
    size_t from = 0;
    size_t to = 0;
    struct slice word;

    while (from < text->size && text->data[from] == ' ') {
        from++;
    }
    to = from;
    while (to < text->size && text->data[to] != ' ') {
        to++;
    }
    word = slice_of(text->data + from, to - from);
    *text = slice_after(*text, to);
    return word;
}

/* Returns the bucket of a word: the one that contains it, or a free one. */
static size_t bucket_of(const struct cue_lexicon *lexicon, struct slice word)
{
    size_t bucket = hash_without(word, SIZE_MAX) % CUE_LEXICON_BUCKETS;

    while (lexicon->buckets[bucket] != 0 &&
           !slice_equal(lexicon->entries[lexicon->buckets[bucket]].text, word)) {
        bucket = (bucket + 1) % CUE_LEXICON_BUCKETS;
    }
    return bucket;
}

uint16_t cue_lexicon_find(const struct cue_lexicon *lexicon, struct slice word)
{
    return lexicon->buckets[bucket_of(lexicon, word)];
}

uint16_t cue_lexicon_add(struct cue_lexicon *lexicon, struct slice word)
{
    size_t bucket = bucket_of(lexicon, word);

    if (lexicon->buckets[bucket] == 0) {
        if (lexicon->entry_count == CUE_LEXICON_WORDS_MAX) {
            return 0;
        }
        lexicon->buckets[bucket] = (uint16_t)lexicon->entry_count;
        lexicon->entries[lexicon->entry_count].text = word;
        lexicon->entry_count++;
    }
    return lexicon->buckets[bucket];
}

static void add_typo(struct cue_lexicon *lexicon, uint32_t hash, uint16_t entry)
{
    size_t bucket = hash % CUE_LEXICON_TYPO_BUCKETS;

    while (lexicon->typos[bucket] != 0) {
        bucket = (bucket + 1) % CUE_LEXICON_TYPO_BUCKETS;
    }
    lexicon->typos[bucket] = entry;
}

void cue_lexicon_add_typos(struct cue_lexicon *lexicon)
{
    size_t forms = 0;

    for (size_t i = 1; i < lexicon->entry_count; i++) {
        struct slice word = lexicon->entries[i].text;

        if (!lexicon->entries[i].is_cue || word.size < CUE_LEXICON_TYPO_LETTERS_MIN ||
            forms + word.size + 1 > CUE_LEXICON_TYPO_BUCKETS / 2) {
            continue;
        }
        forms += word.size + 1;
        add_typo(lexicon, hash_without(word, SIZE_MAX), (uint16_t)i);
        for (size_t j = 0; j < word.size; j++) {
            add_typo(lexicon, hash_without(word, j), (uint16_t)i);
        }
    }
}

static uint16_t find_form(const struct cue_lexicon *lexicon, struct slice word, size_t left_out)
{
    size_t bucket = hash_without(word, left_out) % CUE_LEXICON_TYPO_BUCKETS;

    while (lexicon->typos[bucket] != 0) {
        uint16_t entry = lexicon->typos[bucket];

        if (words_differ_by_typo(word, lexicon->entries[entry].text)) {
            return entry;
        }
        bucket = (bucket + 1) % CUE_LEXICON_TYPO_BUCKETS;
    }
    return 0;
}

uint16_t cue_lexicon_find_typo(const struct cue_lexicon *lexicon, struct slice word)
{
    uint16_t entry = 0;

    if (word.size + 1 < CUE_LEXICON_TYPO_LETTERS_MIN || word.size >= CUE_WORD_BYTES_MAX) {
        return 0;
    }
    entry = find_form(lexicon, word, SIZE_MAX);
    for (size_t i = 0; i < word.size && entry == 0; i++) {
        entry = find_form(lexicon, word, i);
    }
    return entry;
}

/* A name within a sentence is not a typing error. */
static bool may_be_typo(const struct cue_word *word)
{
    return !word->has_digit && (!word->is_capital || word->is_upper || word->begins_sentence);
}

uint32_t cue_lexicon_set(const struct cue_lexicon *lexicon, struct slice name)
{
    for (size_t i = 0; i < lexicon->set_count; i++) {
        if (slice_equal(lexicon->sets[i], name)) {
            return 1u << i;
        }
    }
    return 0;
}

/* Appends a word, or the words that it abbreviates. */
static void enter_word(const struct cue_lexicon *lexicon, const struct cue_word *word,
                       struct cue_words *to)
{
    const struct cue_lexicon_entry *entry = &lexicon->entries[word->entry];
    bool is_first = true;

    if (word->entry == 0 || entry->expansion[0] == 0) {
        to->items[to->count++] = *word;
        return;
    }
    for (size_t i = 0; i < sizeof(entry->expansion) / sizeof(entry->expansion[0]) &&
                       entry->expansion[i] != 0 && to->count < CUE_WORDS_MAX;
         i++) {
        struct cue_word *part = &to->items[to->count++];

        *part = *word;
        part->entry = entry->expansion[i];
        part->text = lexicon->entries[part->entry].text;
        part->begins_sentence = word->begins_sentence && is_first;
        part->begins_clause = word->begins_clause && is_first;
        is_first = false;
    }
}

enum err cue_lexicon_enter(const struct cue_lexicon *lexicon, struct arena *arena,
                           struct cue_words *words)
{
    struct cue_words entered = {.text = words->text};
    size_t room = words->count * 4 < CUE_WORDS_MAX ? words->count * 4 : CUE_WORDS_MAX;

    entered.items = (struct cue_word *)arena_alloc(arena, (room + 1) * sizeof(struct cue_word));
    if (entered.items == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < words->count && entered.count < CUE_WORDS_MAX; i++) {
        struct cue_word *word = &words->items[i];

        word->entry = cue_lexicon_find(lexicon, word->text);
        if (word->entry == 0 && may_be_typo(word)) {
            word->entry = cue_lexicon_find_typo(lexicon, word->text);
        }
        enter_word(lexicon, word, &entered);
    }
    *words = entered;
    return OK;
}

struct slice cue_class_name(enum cue_class class)
{
    static const char *const names[] = {
#define CLASS(name) #name,
#include "server/domain/cues/cue_classes.def"
#undef CLASS
    };

    return slice_text(class < CUE_CLASS_COUNT ? names[class] : "");
}

bool cue_class_find(struct slice name, enum cue_class *ret_class)
{
    for (enum cue_class class = 0; class < CUE_CLASS_COUNT; class ++) {
        if (slice_equal(cue_class_name(class), name)) {
            *ret_class = class;
            return true;
        }
    }
    return false;
}
