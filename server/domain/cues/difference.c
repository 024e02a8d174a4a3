/*
 * difference.c: see difference.h.
 */
#include "server/domain/cues/difference.h"

/* Maximum number of content words replaced in a sentence that is otherwise the same. */
#define REPLACED_MAX 2
/* Minimum number of letters that two forms of a word share at their beginning: "direct" in
 * "directed" and "director". */
#define STEM_LETTERS_MIN 4
/* Maximum digits of a number that are compared. */
#define DIGITS_MAX 18

/* A pair of words with opposite meanings. */
struct antonyms {
    struct slice words[2];
};

#define PIECE(text)                                                                                \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }
static const struct antonyms antonyms[] = {
#define ANTONYMS(a, b) {{PIECE(a), PIECE(b)}},
#include "server/domain/cues/antonyms.def"
#undef ANTONYMS
};
static const struct slice spelled[] = {PIECE("zero"),  PIECE("one"),  PIECE("two"), PIECE("three"),
                                       PIECE("four"),  PIECE("five"), PIECE("six"), PIECE("seven"),
                                       PIECE("eight"), PIECE("nine"), PIECE("ten"), PIECE("eleven"),
                                       PIECE("twelve")};
static const struct slice prefixes[] = {PIECE("un"),  PIECE("dis"), PIECE("in"),
                                        PIECE("non"), PIECE("de"),  PIECE("re")};

/* A word in the form in which it is compared. */
struct form {
    const struct cue_word *word;
    uint64_t number; /* the number that the word is or begins with, + 1; 0: none */
    bool is_content;
    bool is_name;
    bool is_common; /* the other side has the word too */
    bool is_aligned; /* it is part of the longest common sequence */
};

struct side {
    struct form forms[DIFFERENCE_WORDS_MAX];
    size_t count;
    bool is_shouted; /* the text is all in upper case, so case does not indicate names */
};

struct comparison {
    const struct cue_lexicon *lexicon;
    struct side query;
    struct side message;
};

bool difference_is_content(const struct cue_lexicon *lexicon, const struct cue_word *word)
{
    uint32_t stop = cue_lexicon_set(lexicon, SLICE("stop"));

    return (word->text.size > 1 || word->has_digit) &&
           (lexicon->entries[word->entry].sets & stop) == 0;
}

/* Returns the number, + 1, that a word spells or begins with. */
static uint64_t number_of(struct slice word)
{
    uint64_t number = 0;
    size_t digits = 0;

    for (size_t i = 0; i < sizeof(spelled) / sizeof(spelled[0]); i++) {
        if (slice_equal(word, spelled[i])) {
            return i + 1;
        }
    }
    for (size_t i = 0; i < word.size && digits < DIGITS_MAX; i++) {
        if (word.data[i] >= '0' && word.data[i] <= '9') {
            number = number * 10 + (uint64_t)(word.data[i] - '0');
            digits++;
        } else {
            break;
        }
    }
    return digits > 0 ? number + 1 : 0;
}

/* Returns whether a word looks like a name or an identifier. */
static bool looks_like_name(const struct cue_word *word)
{
    bool has_bar = word->text.size > 0 && memchr(word->text.data, '_', word->text.size) != NULL;

    return has_bar || word->is_upper || (word->is_capital && !word->begins_sentence) ||
           (word->has_digit && word->text.size > 2 &&
            (word->text.data[0] < '0' || word->text.data[0] > '9'));
}

static void take_side(const struct cue_lexicon *lexicon, const struct cue_words *words,
                      struct side *side)
{
    size_t upper = 0;

    side->count = words->count < DIFFERENCE_WORDS_MAX ? words->count : DIFFERENCE_WORDS_MAX;
    for (size_t i = 0; i < side->count; i++) {
        const struct cue_word *word = &words->items[i];
        struct form *form = &side->forms[i];

        *form = (struct form){
            .word = word,
            .number = number_of(word->text),
            .is_content = difference_is_content(lexicon, word),
        };
        form->is_name = form->is_content && looks_like_name(word);
        upper += word->is_upper || word->text.size == 1;
    }
    side->is_shouted = upper == side->count;
}

static bool same_form(const struct form *a, const struct form *b)
{
    if (a->number != 0 || b->number != 0) {
        return a->number == b->number;
    }
    return words_equal_stem(a->word->text, b->word->text);
}

/* Marks the longest sequence of words that both sides have in the same order, and all words that both have. */
static void align(struct comparison *comparison)
{
    uint8_t lengths[DIFFERENCE_WORDS_MAX + 1][DIFFERENCE_WORDS_MAX + 1];
    struct side *a = &comparison->query;
    struct side *b = &comparison->message;
    size_t i = 0;
    size_t j = 0;

    memset(lengths, 0, sizeof(lengths));
    for (i = a->count; i-- > 0;) {
        for (j = b->count; j-- > 0;) {
            bool is_same = same_form(&a->forms[i], &b->forms[j]);
            uint8_t below = lengths[i + 1][j];
            uint8_t longer = below > lengths[i][j + 1] ? below : lengths[i][j + 1];

            a->forms[i].is_common |= is_same;
            b->forms[j].is_common |= is_same;
            lengths[i][j] = is_same ? (uint8_t)(lengths[i + 1][j + 1] + 1u) : longer;
        }
    }
    i = 0;
    j = 0;
    while (i < a->count && j < b->count) {
        if (same_form(&a->forms[i], &b->forms[j])) {
            a->forms[i++].is_aligned = true;
            b->forms[j++].is_aligned = true;
        } else if (lengths[i + 1][j] >= lengths[i][j + 1]) {
            i++;
        } else {
            j++;
        }
    }
}

/* Returns whether a short word has the first and some later letters of a long one: "km", "db". */
static bool shortens(struct slice text, struct slice whole)
{
    size_t at = 0;

    if (text.size > 3 || whole.size < STEM_LETTERS_MIN || text.data[0] != whole.data[0]) {
        return false;
    }
    for (size_t i = 0; i < whole.size && at < text.size; i++) {
        at += whole.data[i] == text.data[at];
    }
    return at == text.size;
}

/* Returns whether a word abbreviates words of the other side, by letters of one word or by initials. */
static bool abbreviates(struct slice text, const struct side *side)
{
    for (size_t i = 0; i < side->count && text.size >= 2; i++) {
        size_t letters = 0;

        if (slice_starts_with(side->forms[i].word->text, text) ||
            shortens(text, side->forms[i].word->text) ||
            (side->forms[i].word->text.size >= STEM_LETTERS_MIN - 1 &&
             slice_starts_with(text, side->forms[i].word->text))) {
            return true;
        }
        while (letters < text.size && i + letters < side->count &&
               side->forms[i + letters].word->text.data[0] == text.data[letters]) {
            letters++;
        }
        if (letters == text.size) {
            return true;
        }
    }
    return false;
}

/* Returns whether two words are forms of one word, or one abbreviates the other. */
static bool related(struct slice a, struct slice b)
{
    size_t shared = 0;
    size_t shorter = a.size < b.size ? a.size : b.size;

    while (shared < shorter && a.data[shared] == b.data[shared]) {
        shared++;
    }
    return shared >= STEM_LETTERS_MIN;
}

static bool are_antonyms(struct slice a, struct slice b)
{
    for (size_t i = 0; i < sizeof(antonyms) / sizeof(antonyms[0]); i++) {
        const struct slice *pair = antonyms[i].words;

        if ((slice_equal(a, pair[0]) && slice_equal(b, pair[1])) ||
            (slice_equal(a, pair[1]) && slice_equal(b, pair[0]))) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t size = prefixes[i].size;

        if (a.size > size + 2 && slice_starts_with(a, prefixes[i]) &&
            words_equal_stem(slice_after(a, size), b)) {
            return true;
        }
        if (b.size > size + 2 && slice_starts_with(b, prefixes[i]) &&
            words_equal_stem(slice_after(b, size), a)) {
            return true;
        }
    }
    return false;
}

static bool has_antonym(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->query.count; i++) {
        const struct form *a = &comparison->query.forms[i];

        for (size_t j = 0; j < comparison->message.count && !a->is_common; j++) {
            const struct form *b = &comparison->message.forms[j];

            if (!b->is_common && are_antonyms(a->word->text, b->word->text)) {
                return true;
            }
        }
    }
    return false;
}

/* Returns whether the other side has the word with a typing error. */
static bool is_spelled_alike(struct slice text, const struct side *other)
{
    for (size_t i = 0; i < other->count; i++) {
        struct slice spelled_there = other->forms[i].word->text;

        if (text.size >= CUE_LEXICON_TYPO_LETTERS_MIN &&
            words_differ_by_typo(text, spelled_there)) {
            return true;
        }
    }
    return false;
}

/* Returns whether a side has a name or a number that does not occur on the other side. */
static bool has_own(const struct side *side, const struct side *other, bool numbers)
{
    for (size_t i = 0; i < side->count; i++) {
        const struct form *form = &side->forms[i];
        bool counts = numbers ? form->number > 2 || (form->number != 0 && form->word->has_digit)
                              : form->is_name && form->number == 0 && !side->is_shouted;

        if (counts && !form->is_common &&
            (numbers || !(abbreviates(form->word->text, other) ||
                          is_spelled_alike(form->word->text, other)))) {
            return true;
        }
    }
    return false;
}

/* A gap where the sides differ: the words between two aligned words. */
struct gap {
    const struct side *side;
    size_t from;
    size_t to;
};

static size_t count_content(const struct gap *gap)
{
    size_t count = 0;

    for (size_t i = gap->from; i < gap->to; i++) {
        count += gap->side->forms[i].is_content && !gap->side->forms[i].is_common;
    }
    return count;
}

static bool are_related(const struct gap *a, const struct gap *b)
{
    for (size_t i = a->from; i < a->to; i++) {
        struct slice text = a->side->forms[i].word->text;

        if (a->side->forms[i].is_content && abbreviates(text, b->side)) {
            return true;
        }
        for (size_t j = b->from; j < b->to; j++) {
            struct slice other = b->side->forms[j].word->text;

            if ((b->side->forms[j].is_content && abbreviates(other, a->side)) ||
                (a->side->forms[i].is_content && related(text, other))) {
                return true;
            }
        }
    }
    return false;
}

/* Returns whether one or two words between two aligned words were replaced by one or two others. */
static bool is_replaced(const struct gap *a, const struct gap *b)
{
    size_t words_a = a->to - a->from;
    size_t words_b = b->to - b->from;
    size_t apart = words_a > words_b ? words_a - words_b : words_b - words_a;
    size_t content_a = count_content(a);
    size_t content_b = count_content(b);

    return apart <= 1 && content_a >= 1 && content_a <= REPLACED_MAX && content_b >= 1 &&
           content_b <= REPLACED_MAX && !are_related(a, b);
}

static size_t gap_end(const struct side *side, size_t from)
{
    while (from < side->count && !side->forms[from].is_aligned) {
        from++;
    }
    return from;
}

/* Counts the gaps in which something was replaced. */
static bool find_replaced(const struct comparison *comparison)
{
    const struct side *query = &comparison->query;
    const struct side *message = &comparison->message;
    size_t at_query = 0;
    size_t at_message = 0;
    bool found = false;

    while (!found && (at_query < query->count || at_message < message->count)) {
        struct gap a = {query, at_query, gap_end(query, at_query)};
        struct gap b = {message, at_message, gap_end(message, at_message)};

        found = is_replaced(&a, &b);
        at_query = a.to + 1;
        at_message = b.to + 1;
    }
    return found;
}

/* Returns the entry of the first question word; 0 without one. */
static uint16_t kind_of(const struct comparison *comparison, const struct side *side)
{
    uint32_t asks = cue_lexicon_set(comparison->lexicon, SLICE("wh"));

    for (size_t i = 0; i < side->count; i++) {
        uint16_t entry = side->forms[i].word->entry;

        if ((comparison->lexicon->entries[entry].sets & asks) != 0) {
            return entry;
        }
    }
    return 0;
}

/* Counts content words, and those that the other side has too. */
static void count(const struct side *side, size_t *ret_content, size_t *ret_common,
                  size_t *ret_aligned)
{
    *ret_content = 0;
    *ret_common = 0;
    *ret_aligned = 0;
    for (size_t i = 0; i < side->count; i++) {
        *ret_content += side->forms[i].is_content;
        *ret_common += side->forms[i].is_content && side->forms[i].is_common;
        *ret_aligned += side->forms[i].is_aligned;
    }
}

static float share(size_t part, size_t whole)
{
    return whole == 0 ? 0 : (float)part / (float)whole;
}

void difference_of(const struct cue_lexicon *lexicon, const struct cue_words *query,
                   const struct cue_words *message, struct difference *ret_difference)
{
    struct comparison comparison = {.lexicon = lexicon};
    size_t longer = 0;
    size_t content[2];
    size_t common[2];
    size_t aligned = 0;

    take_side(lexicon, query, &comparison.query);
    take_side(lexicon, message, &comparison.message);
    align(&comparison);
    count(&comparison.query, &content[0], &common[0], &aligned);
    count(&comparison.message, &content[1], &common[1], &aligned);
    longer = comparison.query.count > comparison.message.count ? comparison.query.count
                                                               : comparison.message.count;
    *ret_difference = (struct difference){
        .overlap = share(common[1], content[0] + content[1] - common[1]),
        .kept = share(common[0], content[0]),
        .order = share(aligned, longer),
        .numbers_differ = has_own(&comparison.query, &comparison.message, true) &&
                          has_own(&comparison.message, &comparison.query, true),
        .names_differ = has_own(&comparison.query, &comparison.message, false) &&
                        has_own(&comparison.message, &comparison.query, false),
        .is_antonym = has_antonym(&comparison),
        .same_kind =
            kind_of(&comparison, &comparison.query) == kind_of(&comparison, &comparison.message),
        .is_extended = content[0] > 0 && common[0] == content[0] && content[1] > common[1],
    };
    ret_difference->is_replaced = aligned * 2 >= longer && content[0] - common[0] <= REPLACED_MAX &&
                                  content[1] - common[1] <= REPLACED_MAX && aligned >= 2 &&
                                  find_replaced(&comparison);
}
