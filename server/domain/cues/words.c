/*
 * words.c: see words.h. ASCII is folded here, all other text by utf8proc, to compatibility forms
 * without accents and case.
 */
#include "server/domain/cues/words.h"

#include "store/base/text.h"

#include <utf8proc.h>

/* Maximum code points that one code point is decomposed into; longer ones, all of them Arabic
 * ligatures, are symbols. */
#define DECOMPOSED_MAX 8

/* The role of a code point in a word. */
enum character {
    CHARACTER_LETTER,
    CHARACTER_DIGIT,
    CHARACTER_APOSTROPHE, /* dropped within a word, otherwise a quotation mark */
    CHARACTER_QUOTE_OPEN,
    CHARACTER_QUOTE_CLOSE,
    CHARACTER_QUOTE, /* opens and closes */
    CHARACTER_STOP, /* ends a sentence */
    CHARACTER_QUESTION,
    CHARACTER_PAUSE, /* ends a clause */
    CHARACTER_MARK, /* dropped: accents, invisible ones */
    CHARACTER_SYMBOL, /* a word of its own, such as an emoji */
    CHARACTER_SPACE
};

/* State of reading a text. */
struct reader {
    struct slice text; /* only CUE_WORDS_BYTES_MAX bytes are read */
    struct cue_words *words;
    uint8_t *bytes; /* room for all folded words */
    size_t used;
    size_t at;
    struct cue_word word; /* the word being read */
    bool in_word;
    bool sentence_begins;
    bool clause_begins;
    bool is_quoting;
    uint32_t closing; /* the quotation mark that ends the quotation */
    size_t sentence_from; /* first word of the sentence */
    size_t upper_count; /* letters of the word */
    size_t letter_count;
};

static enum character classify_ascii(uint32_t point)
{
    if ((point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z')) {
        return CHARACTER_LETTER;
    }
    if (point >= '0' && point <= '9') {
        return CHARACTER_DIGIT;
    }
    switch (point) {
    case '\'':
    case '`':
        return CHARACTER_APOSTROPHE;
    case '"':
        return CHARACTER_QUOTE;
    case '?':
        return CHARACTER_QUESTION;
    case '.':
    case '!':
    case ';':
    case '\n':
        return CHARACTER_STOP;
    case ',':
    case ':':
    case '(':
    case ')':
        return CHARACTER_PAUSE;
    case '_':
        return CHARACTER_LETTER;
    default:
        return CHARACTER_SPACE;
    }
}

static enum character classify_wide(uint32_t point)
{
    switch (point) {
    case 0x2019:
    case 0x2018:
    case 0x02BC:
    case 0x00B4:
        return CHARACTER_APOSTROPHE;
    case 0x201C:
    case 0x201E:
    case 0x00AB:
        return CHARACTER_QUOTE_OPEN;
    case 0x201D:
    case 0x00BB:
        return CHARACTER_QUOTE_CLOSE;
    case 0x2013:
    case 0x2014:
        return CHARACTER_PAUSE;
    case 0x2026:
    case 0x3002:
    case 0x00A1:
        return CHARACTER_STOP;
    case 0xFF1F:
        return CHARACTER_QUESTION;
    default:
        break;
    }
    switch (utf8proc_category((utf8proc_int32_t)point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return CHARACTER_LETTER;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return CHARACTER_DIGIT;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_SK:
        return CHARACTER_MARK;
    case UTF8PROC_CATEGORY_SO:
        return CHARACTER_SYMBOL;
    default:
        return CHARACTER_SPACE;
    }
}

/* Appends the folded form of a code point to the word. */
static void put_folded(struct reader *reader, uint32_t point)
{
    utf8proc_int32_t parts[DECOMPOSED_MAX];
    int boundary = 0;
    utf8proc_ssize_t count = 0;

    if (point < 0x80) {
        if (reader->word.text.size < CUE_WORD_BYTES_MAX) {
            reader->bytes[reader->used + reader->word.text.size] =
                (uint8_t)(point >= 'A' && point <= 'Z' ? point - 'A' + 'a' : point);
            reader->word.text.size++;
        }
        return;
    }
    count = utf8proc_decompose_char((utf8proc_int32_t)point, parts, DECOMPOSED_MAX,
                                    UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
                                        UTF8PROC_STRIPMARK | UTF8PROC_IGNORE,
                                    &boundary);
    for (utf8proc_ssize_t i = 0;
         i < count && count <= DECOMPOSED_MAX && reader->word.text.size + 4 <= CUE_WORD_BYTES_MAX;
         i++) {
        reader->word.text.size +=
            text_encode((uint32_t)parts[i], reader->bytes + reader->used + reader->word.text.size);
    }
}

static void begin_word(struct reader *reader, size_t from)
{
    reader->in_word = true;
    reader->word = (struct cue_word){
        .text = {reader->bytes + reader->used, 0},
        .from = (uint32_t)from,
        .begins_sentence = reader->sentence_begins,
        .begins_clause = reader->sentence_begins || reader->clause_begins,
        .is_quoted = reader->is_quoting,
    };
    reader->upper_count = 0;
    reader->letter_count = 0;
}

static void end_word(struct reader *reader, size_t to)
{
    struct cue_words *words = reader->words;

    if (!reader->in_word) {
        return;
    }
    reader->in_word = false;
    reader->word.to = (uint32_t)to;
    reader->word.is_upper =
        reader->letter_count >= 2 && reader->upper_count == reader->letter_count;
    if (reader->word.text.size == 0 || words->count == CUE_WORDS_MAX) {
        return;
    }
    if (reader->sentence_begins) {
        reader->sentence_from = words->count;
    }
    reader->sentence_begins = false;
    reader->clause_begins = false;
    reader->used += reader->word.text.size;
    words->items[words->count] = reader->word;
    words->count++;
}

/* Marks the words of the sentence as part of a question. */
static void mark_question(struct reader *reader)
{
    for (size_t i = reader->sentence_from; i < reader->words->count; i++) {
        reader->words->items[i].is_asked = true;
    }
}

static void read_letter(struct reader *reader, size_t from, uint32_t point,
                        enum character character)
{
    bool is_upper = point < 0x80
                        ? point >= 'A' && point <= 'Z'
                        : utf8proc_category((utf8proc_int32_t)point) == UTF8PROC_CATEGORY_LU;

    if (!reader->in_word) {
        begin_word(reader, from);
        reader->word.is_capital = is_upper;
    }
    if (character == CHARACTER_DIGIT) {
        reader->word.has_digit = true;
    } else {
        reader->letter_count++;
        reader->upper_count += is_upper;
    }
    put_folded(reader, point);
}

/* Returns whether a letter or digit follows. */
static bool word_goes_on(const struct reader *reader)
{
    size_t at = reader->at;
    uint32_t point = at < reader->text.size ? text_next(reader->text, &at) : ' ';
    enum character character = point < 0x80 ? classify_ascii(point) : classify_wide(point);

    return reader->in_word && (character == CHARACTER_LETTER || character == CHARACTER_DIGIT);
}

static void read_quote(struct reader *reader, size_t from, uint32_t point, enum character character)
{
    end_word(reader, from);
    if (reader->is_quoting && (character != CHARACTER_QUOTE || point == reader->closing)) {
        reader->is_quoting = false;
    } else if (!reader->is_quoting && character != CHARACTER_QUOTE_CLOSE) {
        reader->is_quoting = true;
        reader->closing = point;
    }
}

/* An apostrophe joins the letters around it, opens a quotation before a word, or closes one after a word. */
static void read_apostrophe(struct reader *reader, size_t from)
{
    size_t at = reader->at;
    uint32_t next = at < reader->text.size ? text_next(reader->text, &at) : ' ';

    if (word_goes_on(reader)) {
        return;
    }
    if (reader->is_quoting && reader->closing == '\'') {
        end_word(reader, from);
        reader->is_quoting = false;
        return;
    }
    if (!reader->in_word && !reader->is_quoting && next != ' ') {
        reader->is_quoting = true;
        reader->closing = '\'';
    }
    end_word(reader, from);
}

/* A point, comma or colon between digits is part of a number. */
static bool joins_digits(const struct reader *reader, uint32_t point)
{
    return reader->in_word && reader->word.has_digit && reader->at < reader->text.size &&
           (point == '.' || point == ',' || point == ':') && reader->text.data[reader->at] >= '0' &&
           reader->text.data[reader->at] <= '9';
}

static void read_point(struct reader *reader, size_t from, uint32_t point)
{
    enum character character = point < 0x80 ? classify_ascii(point) : classify_wide(point);

    switch (character) {
    case CHARACTER_LETTER:
    case CHARACTER_DIGIT:
        read_letter(reader, from, point, character);
        break;
    case CHARACTER_SYMBOL:
        end_word(reader, from);
        begin_word(reader, from);
        put_folded(reader, point);
        end_word(reader, reader->at);
        reader->clause_begins = true;
        break;
    case CHARACTER_MARK:
        break;
    case CHARACTER_APOSTROPHE:
        read_apostrophe(reader, from);
        break;
    case CHARACTER_QUOTE:
    case CHARACTER_QUOTE_OPEN:
    case CHARACTER_QUOTE_CLOSE:
        read_quote(reader, from, point, character);
        break;
    case CHARACTER_QUESTION:
    case CHARACTER_STOP:
        if (joins_digits(reader, point)) {
            put_folded(reader, point);
            break;
        }
        end_word(reader, from);
        if (character == CHARACTER_QUESTION) {
            mark_question(reader);
        }
        reader->sentence_begins = true;
        break;
    case CHARACTER_PAUSE:
        if (joins_digits(reader, point)) {
            if (point != ',') { /* a separator of thousands */
                put_folded(reader, point);
            }
            break;
        }
        end_word(reader, from);
        reader->clause_begins = true;
        break;
    case CHARACTER_SPACE:
        end_word(reader, from);
        break;
    }
}

/* A quotation mark that is never closed is treated as an apostrophe. */
static void forget_open_quotation(struct reader *reader)
{
    for (size_t i = reader->words->count; reader->is_quoting && i > 0; i--) {
        if (!reader->words->items[i - 1].is_quoted) {
            return;
        }
        reader->words->items[i - 1].is_quoted = false;
    }
}

enum err words_of(struct arena *arena, struct slice text, struct cue_words *ret_words)
{
    struct reader reader = {
        .text = text_first_bytes(text, CUE_WORDS_BYTES_MAX),
        .words = ret_words,
        .sentence_begins = true,
    };
    size_t letters = reader.text.size;

    /* Each word needs a separator or at least two bytes; the parts of a code point need at most
     * DECOMPOSED_MAX times its bytes. */
    *ret_words = (struct cue_words){.text = text};
    ret_words->items = (struct cue_word *)arena_alloc(
        arena, (letters / 2 + 2 < CUE_WORDS_MAX ? letters / 2 + 2 : CUE_WORDS_MAX) *
                   sizeof(struct cue_word));
    reader.bytes = (uint8_t *)arena_alloc(arena, letters * DECOMPOSED_MAX + CUE_WORD_BYTES_MAX);
    if (ret_words->items == NULL || reader.bytes == NULL) {
        return ERR_MEMORY;
    }
    while (reader.at < reader.text.size && ret_words->count < CUE_WORDS_MAX) {
        size_t from = reader.at;

        read_point(&reader, from, text_next(reader.text, &reader.at));
    }
    end_word(&reader, reader.text.size);
    forget_open_quotation(&reader);
    return OK;
}

/* Returns the length of a word without a plural's ending. */
static size_t stem_size(struct slice word)
{
    if (word.size > 4 && word.data[word.size - 1] == 's' && word.data[word.size - 2] != 's') {
        return word.data[word.size - 2] == 'e' ? word.size - 2 : word.size - 1;
    }
    return word.size > 4 && word.data[word.size - 1] == 'e' ? word.size - 1 : word.size;
}

bool words_equal_stem(struct slice a, struct slice b)
{
    return slice_equal(slice_of(a.data, stem_size(a)), slice_of(b.data, stem_size(b)));
}

bool words_differ_by_typo(struct slice typed, struct slice meant)
{
    size_t prefix = 0;
    size_t suffix = 0;
    size_t shorter = typed.size < meant.size ? typed.size : meant.size;
    size_t longer = typed.size < meant.size ? meant.size : typed.size;

    while (prefix < shorter && typed.data[prefix] == meant.data[prefix]) {
        prefix++;
    }
    while (suffix < shorter - prefix &&
           typed.data[typed.size - 1 - suffix] == meant.data[meant.size - 1 - suffix]) {
        suffix++;
    }
    if (prefix == 0 || longer - shorter > 1) {
        return false; /* the first letter is seldom mistyped, and usually means another word */
    }
    if (longer != shorter) {
        return prefix + suffix >= shorter;
    }
    return prefix + suffix + 1 >= shorter ||
           (prefix + suffix + 2 == shorter && typed.data[prefix] == meant.data[prefix + 1] &&
            typed.data[prefix + 1] == meant.data[prefix]);
}
