/*
 * lexicon_build.c: reads the data of cues.def into a lexicon.
 */
#include "server/domain/cues/lexicon_internal.h"

/* A line of cues.def. */
struct item {
    enum {
        ITEM_EXPAND,
        ITEM_SET,
        ITEM_KNOWN,
        ITEM_CUE
    } kind;
    enum cue_class class;
    struct slice name; /* the word, or the set's name */
    struct slice words;
};

static const struct item items[] = {
#define EXPAND(word, meaning) {ITEM_EXPAND, CUE_CLASS_COUNT, SLICE_ITEM(word), SLICE_ITEM(meaning)},
#define SET(name, words) {ITEM_SET, CUE_CLASS_COUNT, SLICE_ITEM(name), SLICE_ITEM(words)},
#define KNOWN(words) {ITEM_KNOWN, CUE_CLASS_COUNT, {NULL, 0}, SLICE_ITEM(words)},
#define CUE(class, pattern) {ITEM_CUE, CUE_##class, {NULL, 0}, SLICE_ITEM(pattern)},
#define SLICE_ITEM(text)                                                                           \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }
#include "server/domain/cues/cues.def"
#undef SLICE_ITEM
#undef EXPAND
#undef SET
#undef KNOWN
#undef CUE
};

static bool add_expansion(struct cue_lexicon *lexicon, const struct item *item)
{
    uint16_t entry = cue_lexicon_add(lexicon, item->name);
    struct slice rest = item->words;
    bool is_good = entry != 0;

    for (size_t i = 0; is_good && i < sizeof(lexicon->entries[0].expansion) / sizeof(uint16_t);
         i++) {
        struct slice word = cue_lexicon_next(&rest);

        if (word.size > 0) {
            lexicon->entries[entry].expansion[i] = cue_lexicon_add(lexicon, word);
            is_good = lexicon->entries[entry].expansion[i] != 0;
        }
    }
    return is_good;
}

/* Adds words; those of a set get its bit. */
static bool add_words(struct cue_lexicon *lexicon, struct slice rest, uint32_t set)
{
    struct slice word = cue_lexicon_next(&rest);

    while (word.size > 0) {
        uint16_t entry = cue_lexicon_add(lexicon, word);

        if (entry == 0) {
            return false;
        }
        lexicon->entries[entry].sets |= set;
        word = cue_lexicon_next(&rest);
    }
    return true;
}

static bool add_set(struct cue_lexicon *lexicon, const struct item *item)
{
    if (lexicon->set_count == CUE_LEXICON_SETS_MAX) {
        return false;
    }
    lexicon->sets[lexicon->set_count] = item->name;
    lexicon->set_count++;
    return add_words(lexicon, item->words, 1u << (lexicon->set_count - 1));
}

/* Adds a word of a pattern to the choices. */
static bool add_choice(struct cue_lexicon *lexicon, struct slice word, struct element *element)
{
    uint16_t entry = word.size > 0 ? cue_lexicon_add(lexicon, word) : 0;

    if (entry == 0 || lexicon->choice_count == CUE_LEXICON_ELEMENTS_MAX) {
        return false;
    }
    lexicon->entries[entry].is_cue = true;
    lexicon->choices[lexicon->choice_count] = entry;
    lexicon->choice_count++;
    element->count++;
    return true;
}

/* Removes a mark from the end of a word; returns whether it was there. */
static bool take_mark(struct slice *word, uint8_t mark)
{
    bool has_mark = word->size > 0 && word->data[word->size - 1] == mark;

    word->size -= has_mark;
    return has_mark;
}

/* Reads `<a b c>`; `word` is its first piece. */
static bool read_choices(struct cue_lexicon *lexicon, struct slice word, struct slice *rest,
                         struct element *element)
{
    bool is_last = false;

    element->kind = ELEMENT_WORDS;
    element->first = (uint16_t)lexicon->choice_count;
    word = slice_after(word, 1);
    while (!is_last) {
        element->is_optional = take_mark(&word, '?');
        is_last = take_mark(&word, '>');
        if (!add_choice(lexicon, word, element)) {
            return false;
        }
        word = is_last ? word : cue_lexicon_next(rest);
    }
    return true;
}

static bool read_set(struct cue_lexicon *lexicon, struct slice name, struct element *element)
{
    uint32_t bit = cue_lexicon_set(lexicon, name);

    element->kind = ELEMENT_SET;
    while (bit > 1) {
        bit >>= 1;
        element->first++;
    }
    return bit == 1;
}

/* Reads an element; its marks are at its end. */
static bool read_element(struct cue_lexicon *lexicon, struct slice word, struct slice *rest,
                         struct element *element)
{
    *element = (struct element){.kind = ELEMENT_ANY};
    if (slice_equal(word, SLICE(".."))) {
        element->kind = ELEMENT_GAP;
        element->is_optional = true;
        return true;
    }
    if (word.data[0] == '<') {
        return read_choices(lexicon, word, rest, element);
    }
    element->is_optional = take_mark(&word, '?');
    element->is_repeated = take_mark(&word, '*');
    element->is_optional = element->is_optional || element->is_repeated;
    if (slice_equal(word, SLICE("_"))) {
        return true;
    }
    if (word.size > 1 && word.data[0] == '@') {
        return read_set(lexicon, slice_after(word, 1), element);
    }
    element->kind = ELEMENT_WORDS;
    element->first = (uint16_t)lexicon->choice_count;
    return add_choice(lexicon, word, element);
}

static bool add_cue(struct cue_lexicon *lexicon, const struct item *item)
{
    struct cue *cue = &lexicon->cues[lexicon->cue_count];
    struct slice rest = item->words;
    struct slice word = cue_lexicon_next(&rest);

    if (lexicon->cue_count == CUE_LEXICON_CUES_MAX) {
        return false;
    }
    *cue = (struct cue){
        .class = item->class,
        .pattern = item->words,
        .elements = lexicon->elements + lexicon->element_count,
        .at_clause = word.size > 0 && word.data[0] == '^',
        .at_message = slice_equal(word, SLICE("^^")),
    };
    word = cue->at_clause ? cue_lexicon_next(&rest) : word;
    while (word.size > 0 && !cue->to_end) {
        cue->to_end = slice_equal(word, SLICE("$"));
        if (!cue->to_end) {
            if (cue->element_count == CUE_LEXICON_PATTERN_MAX ||
                lexicon->element_count == CUE_LEXICON_ELEMENTS_MAX ||
                !read_element(lexicon, word, &rest, &lexicon->elements[lexicon->element_count])) {
                return false;
            }
            lexicon->element_count++;
            cue->element_count++;
        }
        word = cue_lexicon_next(&rest);
    }
    lexicon->cue_count++;
    return cue->element_count > 0 && word.size == 0;
}

static bool add_item(struct cue_lexicon *lexicon, const struct item *item)
{
    switch (item->kind) {
    case ITEM_EXPAND:
        return add_expansion(lexicon, item);
    case ITEM_SET:
        return add_set(lexicon, item);
    case ITEM_KNOWN:
        return add_words(lexicon, item->words, 0);
    case ITEM_CUE:
        return add_cue(lexicon, item);
    }
    return false;
}

/* Adds a cue to a word's list; in the first pass, only counts it. */
static void add_start(struct cue_lexicon *lexicon, size_t word, size_t cue)
{
    struct cue_lexicon_entry *entry = &lexicon->entries[word];

    if (lexicon->starts != NULL) {
        lexicon->starts[entry->cue_first + entry->cue_count] = (uint16_t)cue;
    }
    entry->cue_count++;
    lexicon->start_count++;
}

/* Adds a cue to the lists of the words that an element matches. */
static void add_element(struct cue_lexicon *lexicon, const struct element *element, size_t cue)
{
    for (size_t i = 0; element->kind == ELEMENT_WORDS && i < element->count; i++) {
        add_start(lexicon, lexicon->choices[element->first + i], cue);
    }
    for (size_t i = 1; element->kind == ELEMENT_SET && i < lexicon->entry_count; i++) {
        if ((lexicon->entries[i].sets >> element->first & 1u) != 0) {
            add_start(lexicon, i, cue);
        }
    }
}

/* Adds each cue to the words that it may begin with: those of its first element that is not
 * optional, and of the optional ones before it. */
static void add_cues(struct cue_lexicon *lexicon)
{
    lexicon->start_count = 0;
    for (size_t i = 0; i < lexicon->cue_count; i++) {
        const struct cue *cue = &lexicon->cues[i];
        size_t at = 0;

        do {
            add_element(lexicon, &cue->elements[at], i);
            at++;
        } while (at < cue->element_count && cue->elements[at - 1].is_optional);
    }
}

/* Lists for each word the cues that may begin with it. */
static enum err add_starts(struct cue_lexicon *lexicon)
{
    size_t first = 0;

    add_cues(lexicon);
    lexicon->starts =
        (uint16_t *)arena_alloc(lexicon->arena, (lexicon->start_count + 1) * sizeof(uint16_t));
    if (lexicon->starts == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 1; i < lexicon->entry_count; i++) {
        lexicon->entries[i].cue_first = (uint32_t)first;
        first += lexicon->entries[i].cue_count;
        lexicon->entries[i].cue_count = 0;
    }
    add_cues(lexicon);
    return OK;
}

/* Words of the sets of patterns may have typing errors too. */
static void mark_set_words(struct cue_lexicon *lexicon)
{
    uint32_t sets = 0;

    for (size_t i = 0; i < lexicon->element_count; i++) {
        if (lexicon->elements[i].kind == ELEMENT_SET) {
            sets |= 1u << lexicon->elements[i].first;
        }
    }
    for (size_t i = 1; i < lexicon->entry_count; i++) {
        struct cue_lexicon_entry *entry = &lexicon->entries[i];

        entry->is_cue = entry->is_cue || (entry->sets & sets) != 0;
    }
}

static struct cue_lexicon *allocate(struct arena *arena)
{
    struct cue_lexicon *lexicon = arena_calloc(arena, 1, sizeof(*lexicon));

    if (lexicon == NULL) {
        return NULL;
    }
    lexicon->arena = arena;
    lexicon->entry_count = 1;
    lexicon->entries = arena_calloc(arena, CUE_LEXICON_WORDS_MAX, sizeof(struct cue_lexicon_entry));
    lexicon->buckets = arena_calloc(arena, CUE_LEXICON_BUCKETS, sizeof(uint16_t));
    lexicon->typos = arena_calloc(arena, CUE_LEXICON_TYPO_BUCKETS, sizeof(uint16_t));
    lexicon->cues = arena_calloc(arena, CUE_LEXICON_CUES_MAX, sizeof(struct cue));
    lexicon->elements = arena_calloc(arena, CUE_LEXICON_ELEMENTS_MAX, sizeof(struct element));
    lexicon->choices = arena_calloc(arena, CUE_LEXICON_ELEMENTS_MAX, sizeof(uint16_t));
    return lexicon->entries != NULL && lexicon->buckets != NULL && lexicon->typos != NULL &&
                   lexicon->cues != NULL && lexicon->elements != NULL && lexicon->choices != NULL
               ? lexicon
               : NULL;
}

enum err cue_lexicon_new(struct arena *arena, const struct cue_lexicon **ret_lexicon)
{
    struct cue_lexicon *lexicon = allocate(arena);
    enum err err = lexicon != NULL ? OK : ERR_MEMORY;

    for (size_t i = 0; err == OK && i < sizeof(items) / sizeof(items[0]); i++) {
        err = add_item(lexicon, &items[i]) ? OK : ERR_INTERNAL;
    }
    if (err == OK) {
        mark_set_words(lexicon);
        cue_lexicon_add_typos(lexicon);
        err = add_starts(lexicon);
    }
    if (err == OK) {
        *ret_lexicon = lexicon;
    }
    return err;
}
