/*
 * glove.c: finds the member "vectors" and reads its entries, `"word":[100 numbers, norm, rank]`, one at a time.
 */
#include "tools/mkmodel/pack/glove.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16)
#define PIECE_BYTES 65536
/* An entry has some 1,100 bytes. */
#define ENTRY_BYTES_MAX 8192
/* Smooth inverse frequency. Words follow Zipf's law: the package contains only their order. Its
 * constants are those of Zipf and Mandelbrot for English. */
#define RARITY 1e-4
#define ZIPF_SHIFT 2.7
#define ZIPF_SCALE 12.0

enum reader_state {
    READER_SEEKS, /* the member "vectors" */
    READER_READS,
    READER_IS_DONE
};

/* Reads the unpacked bytes. */
struct reader {
    enum reader_state state;
    size_t matched; /* bytes of the member's name */
    char entry[ENTRY_BYTES_MAX];
    size_t size;
    bool in_string;
    bool is_escaped; /* the byte before was a backslash that is not escaped itself */
    bool is_damaged;
    struct arena *arena;
    struct slice *words; /* by rank; empty: left out */
    float *vectors; /* by rank */
};

static const char member[] = "\"vectors\":{";

/* Keys with an escape are not words of letters. */
static bool is_plain(struct slice word)
{
    for (size_t i = 0; i < word.size; i++) {
        uint8_t byte = word.data[i];

        if (!((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte >= 0x80)) {
            return false;
        }
    }
    return word.size > 0;
}

/* Reads the numbers of a vector, separated by commas. */
static bool read_vector(const char *numbers, float *vector)
{
    for (size_t i = 0; i < MODEL_WORD_WIDTH; i++) {
        char *end = NULL;

        vector[i] = strtof(numbers, &end);
        if (end == numbers || *end != ',' || !isfinite(vector[i])) {
            return false;
        }
        numbers = end + 1;
    }
    return true;
}

/* Keeps the entry if its word is frequent and plain; false if it has another form. */
static bool take_entry(struct reader *reader)
{
    char *start = strchr(reader->entry, '"');
    char *last = strrchr(reader->entry, ',');
    char *end = start == NULL ? NULL : strchr(start + 1, '"');
    unsigned long rank = last == NULL ? 0 : strtoul(last + 1, NULL, 10);
    struct slice word;

    if (end == NULL || last == NULL) {
        return false;
    }
    word = slice_of(start + 1, (size_t)(end - start - 1));
    if (rank >= MODEL_WORDS_MAX || !is_plain(word)) {
        return true;
    }
    return strncmp(end, "\":[", 3) == 0 &&
           read_vector(end + 3, reader->vectors + rank * MODEL_WORD_WIDTH) &&
           arena_copy(reader->arena, word, &reader->words[rank]);
}

/* Adds a byte of the entries. */
static void feed_entry(struct reader *reader, char byte)
{
    if (!reader->in_string && byte == '}' && reader->size == 0) {
        reader->state = READER_IS_DONE;
        return;
    }
    if (reader->size + 1 == ENTRY_BYTES_MAX) {
        reader->is_damaged = true;
        return;
    }
    if (byte == '"' && !reader->is_escaped) {
        reader->in_string = !reader->in_string;
    }
    reader->is_escaped = byte == '\\' && !reader->is_escaped;
    if (!reader->in_string && byte == ']') {
        reader->entry[reader->size] = '\0';
        reader->is_damaged = !take_entry(reader) || reader->is_damaged;
        reader->size = 0;
    } else {
        reader->entry[reader->size++] = byte;
    }
}

static void feed(struct reader *reader, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size && !reader->is_damaged; i++) {
        char byte = (char)bytes[i];

        switch (reader->state) {
        case READER_SEEKS:
            reader->matched = byte == member[reader->matched] ? reader->matched + 1
                              : byte == member[0]             ? 1
                                                              : 0;
            if (reader->matched == sizeof(member) - 1) {
                reader->state = READER_READS;
            }
            break;
        case READER_READS:
            feed_entry(reader, byte);
            break;
        case READER_IS_DONE:
            return;
        }
    }
}

/* Inflates the file, and feeds its content to the reader. */
static enum err inflate_all(struct slice packed, struct reader *reader)
{
    uint8_t *piece = arena_alloc(reader->arena, PIECE_BYTES);
    z_stream stream = {0};
    int result = Z_OK;

    if (piece == NULL || inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
        return ERR_MEMORY;
    }
    stream.next_in = (Bytef *)packed.data;
    stream.avail_in = (uInt)packed.size;
    while (result == Z_OK && reader->state != READER_IS_DONE && !reader->is_damaged) {
        stream.next_out = piece;
        stream.avail_out = PIECE_BYTES;
        result = inflate(&stream, Z_NO_FLUSH);
        feed(reader, piece, PIECE_BYTES - stream.avail_out);
    }
    (void)inflateEnd(&stream);
    return reader->state == READER_IS_DONE && !reader->is_damaged ? OK : ERR_INVALID;
}

/* The share of a word among all words of a large text. */
static double frequency(size_t rank)
{
    return 1 / (((double)rank + ZIPF_SHIFT) * ZIPF_SCALE);
}

static double weight(size_t rank)
{
    return RARITY / (RARITY + frequency(rank));
}

/* Writes the direction of the mean of a text's weighted words. */
static void find_common_direction(const struct reader *reader, double direction[MODEL_WORD_WIDTH])
{
    double squares = 0;

    memset(direction, 0, MODEL_WORD_WIDTH * sizeof(direction[0]));
    for (size_t rank = 0; rank < MODEL_WORDS_MAX; rank++) {
        double factor = frequency(rank) * weight(rank);

        for (size_t i = 0; i < MODEL_WORD_WIDTH; i++) {
            direction[i] += factor * (double)reader->vectors[rank * MODEL_WORD_WIDTH + i];
        }
    }
    for (size_t i = 0; i < MODEL_WORD_WIDTH; i++) {
        squares += direction[i] * direction[i];
    }
    for (size_t i = 0; i < MODEL_WORD_WIDTH && squares > 0; i++) {
        direction[i] /= sqrt(squares);
    }
}

static void weigh(const float *vector, size_t rank, const double direction[MODEL_WORD_WIDTH],
                  float *weighted)
{
    double along = 0;

    for (size_t i = 0; i < MODEL_WORD_WIDTH; i++) {
        along += direction[i] * (double)vector[i];
    }
    for (size_t i = 0; i < MODEL_WORD_WIDTH; i++) {
        weighted[i] = (float)(weight(rank) * ((double)vector[i] - along * direction[i]));
    }
}

static int compare_words(const void *a, const void *b)
{
    return slice_compare(*(*(const struct slice *const *)a), *(*(const struct slice *const *)b));
}

/* Sorts the words that were kept. */
static enum err list_words(const struct reader *reader, struct make_words *ret_words)
{
    const struct slice **sorted = (const struct slice **)arena_alloc(
        reader->arena, MODEL_WORDS_MAX * sizeof(const struct slice *));
    struct slice *words =
        (struct slice *)arena_alloc(reader->arena, MODEL_WORDS_MAX * sizeof(struct slice));
    float *vectors = (float *)arena_alloc(reader->arena, (size_t)MODEL_WORDS_MAX *
                                                             MODEL_WORD_WIDTH * sizeof(float));
    double direction[MODEL_WORD_WIDTH];
    size_t count = 0;

    if (sorted == NULL || words == NULL || vectors == NULL) {
        return ERR_MEMORY;
    }
    for (size_t rank = 0; rank < MODEL_WORDS_MAX; rank++) {
        if (reader->words[rank].size > 0) {
            sorted[count++] = &reader->words[rank];
        }
    }
    qsort(sorted, count, sizeof(sorted[0]), compare_words);
    find_common_direction(reader, direction);
    for (size_t i = 0; i < count; i++) {
        size_t rank = (size_t)(sorted[i] - reader->words);

        words[i] = *sorted[i];
        weigh(reader->vectors + rank * MODEL_WORD_WIDTH, rank, direction,
              vectors + i * MODEL_WORD_WIDTH);
    }
    *ret_words = (struct make_words){.words = words, .vectors = vectors, .count = count};
    return OK;
}

enum err glove_read(struct arena *arena, struct slice packed, struct make_words *ret_words,
                    struct fault *fault)
{
    struct reader *reader = (struct reader *)arena_calloc(arena, 1, sizeof(struct reader));
    enum err err = OK;

    if (reader == NULL) {
        return ERR_MEMORY;
    }
    reader->arena = arena;
    reader->words = (struct slice *)arena_calloc(arena, MODEL_WORDS_MAX, sizeof(struct slice));
    reader->vectors =
        (float *)arena_calloc(arena, (size_t)MODEL_WORDS_MAX * MODEL_WORD_WIDTH, sizeof(float));
    if (reader->words == NULL || reader->vectors == NULL) {
        return ERR_MEMORY;
    }
    err = inflate_all(packed, reader);
    if (err == ERR_INVALID) {
        return fault_say(fault, ERR_INVALID,
                         "words: damaged package; expected a gzip file with a member \"vectors\"");
    }
    return err == OK ? list_words(reader, ret_words) : err;
}
