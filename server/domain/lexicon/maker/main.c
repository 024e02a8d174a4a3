/*
 * main.c: lexicon-maker: writes the table of the lexicon (table.h) as C to standard output. Runs during the build.
 */
#include "server/domain/lexicon/lexicon.h"
#include "server/domain/lexicon/table.h"
#include "server/domain/words/words.h"
#include "store/base/arena.h"
#include "store/base/assert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum phrases of all lists; the data has about half as many. */
#define PHRASES_MAX 4096
/* The phrases of an entry are separated by `|`. */
#define SEPARATOR '|'

/* A line of the data. */
struct line {
    enum lexicon_list list;
    int value;
    const char *phrases;
};

struct table {
    uint16_t buckets[LEXICON_BUCKETS];
    struct lexicon_phrase phrases[PHRASES_MAX];
    uint16_t count;
};

static const struct line lines[] = {
#define ENTRY(list, value, phrases) {LEXICON_##list, (value), phrases},
#include "server/domain/lexicon/lexicon.def"
#include "server/domain/lexicon/opposites.def"
#undef ENTRY
#define CONCEPT(name, phrases) {LEXICON_CONCEPT, 0, phrases},
#include "server/domain/lexicon/concepts.def"
#undef CONCEPT
};

static void add_phrase(struct table *table, const struct line *line, int value, struct slice text)
{
    struct lexicon_phrase *phrase = &table->phrases[table->count];
    uint8_t stem[WORD_STEM_BYTES_MAX];
    uint16_t *bucket = NULL;
    size_t from = 0;

    ASSERT(table->count < PHRASES_MAX);
    ASSERT(value >= INT16_MIN && value <= INT16_MAX);
    phrase->list = (uint16_t)line->list;
    phrase->value = (int16_t)value;
    while (from < text.size) {
        const uint8_t *space = memchr(text.data + from, ' ', text.size - from);
        size_t end = space != NULL ? (size_t)(space - text.data) : text.size;

        ASSERT(phrase->count < LEXICON_PHRASE_WORDS_MAX);
        phrase->stems[phrase->count++] =
            word_hash(slice_of(stem, word_stem(slice_of(text.data + from, end - from), stem)));
        from = end + 1;
    }
    ASSERT(phrase->count > 0);
    bucket = &table->buckets[phrase->stems[0] % LEXICON_BUCKETS];
    phrase->next = *bucket;
    *bucket = ++table->count;
}

static void add_lines(struct table *table)
{
    int concept_count = 0;

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct slice rest = slice_text(lines[i].phrases);
        int value = lines[i].list == LEXICON_CONCEPT ? concept_count++ : lines[i].value;

        while (rest.size > 0) {
            const uint8_t *bar = memchr(rest.data, SEPARATOR, rest.size);
            size_t size = bar != NULL ? (size_t)(bar - rest.data) : rest.size;

            add_phrase(table, &lines[i], value, slice_of(rest.data, size));
            rest = slice_after(rest, bar != NULL ? size + 1 : size);
        }
    }
}

static void print_table(const struct table *table)
{
    (void)printf("/* Made by lexicon-maker from the lexicon's data. */\n"
                 "#include \"server/domain/lexicon/table.h\"\n\n"
                 "const uint16_t lexicon_buckets[LEXICON_BUCKETS] = {\n");
    for (size_t i = 0; i < LEXICON_BUCKETS; i++) {
        (void)printf("%u,%s", table->buckets[i], i % 16 == 15 ? "\n" : " ");
    }
    (void)printf("};\n\nconst struct lexicon_phrase lexicon_phrases[] = {\n");
    for (size_t i = 0; i < table->count; i++) {
        const struct lexicon_phrase *phrase = &table->phrases[i];

        (void)printf("{{");
        for (size_t at = 0; at < LEXICON_PHRASE_WORDS_MAX; at++) {
            (void)printf("UINT64_C(%" PRIu64 "), ", phrase->stems[at]);
        }
        (void)printf("}, %u, %u, %u, %d},\n", phrase->next, phrase->count, phrase->list,
                     phrase->value);
    }
    (void)printf("};\n");
}

int main(void)
{
    struct table *table = NULL;
    struct arena arena;
    bool is_written = false;

    arena_init(&arena, 2 * sizeof(*table));
    table = arena_calloc(&arena, 1, sizeof(*table));
    if (table != NULL) {
        add_lines(table);
        print_table(table);
        is_written = fflush(stdout) == 0;
    }
    arena_deinit(&arena);
    return is_written ? EXIT_SUCCESS : EXIT_FAILURE;
}
