/*
 * rule_parts.c: see rule_parts.h. The words of a rule are read once, from the left; a phrase of the lexicon is read as a
 * whole, the longest one that fits.
 */
#include "server/domain/conflicts/rule_parts.h"

#include "server/domain/words/words.h"

#include <math.h>
#include <string.h>

/* Pairs of verbs that only affirm or deny: the object follows them. */
#define IS_SIGN_ONLY(pair) ((pair) == 0 || (pair) == 6 || (pair) == 14 || (pair) == 40)
/* Hashes of pairs and choices, beside those of words. */
#define PAIR_HASH(pair) ((uint64_t)0x1000 + (uint64_t)(pair))
#define CHOICE_HASH(choice) ((uint64_t)0x100000 + (uint64_t)(choice))
/* A choice's group and member are one number. */
#define CHOICE_MEMBERS 100
/* Maximum length of a number: digits, possibly with a point; longer ones are not read exactly. */
#define NUMBER_BYTES_MAX 18
/* Maximum words between a comparison and its number. */
#define NUMBER_WORDS_AHEAD 4

struct reading {
    const struct words *words;
    const struct lexicon_matches *matches;
    size_t match; /* first match at the current word or a later one */
    size_t at; /* index of the current word */
    struct rule_parts *parts;
    bool has_number; /* anywhere in the rule: words of size then belong to it */
    bool prefers; /* a word of preference precedes, so `over` is a contrast */
    bool has_bound; /* a comparison precedes the number */
    enum lexicon_bound bound;
    struct rule_part *bound_part; /* the part that has the current bound */
};

static void add_word(struct rule_words *words, uint64_t hash)
{
    for (size_t i = 0; i < words->count; i++) {
        if (words->items[i] == hash) {
            return;
        }
    }
    if (words->count < RULE_PART_WORDS_MAX) {
        words->items[words->count++] = hash;
    }
}

size_t rule_words_missing(const struct rule_words *words, const struct rule_words *other)
{
    size_t missing = 0;

    for (size_t i = 0; i < words->count; i++) {
        bool found = false;

        for (size_t j = 0; j < other->count && !found; j++) {
            found = words->items[i] == other->items[j];
        }
        missing += found ? 0 : 1;
    }
    return missing;
}

static struct rule_part *part_of(struct reading *reading)
{
    return &reading->parts->items[reading->parts->count - 1];
}

/* Begins a part, unless the current one is empty, which is reused. */
static struct rule_part *begin_part(struct reading *reading)
{
    struct rule_parts *parts = reading->parts;
    struct rule_part *part = part_of(reading);

    if (part->words.count > 0 && parts->count < RULE_PARTS_MAX) {
        part = &parts->items[parts->count++];
    }
    if (part->words.count == 0) {
        *part = (struct rule_part){.is_negative = false};
    }
    return part;
}

/* Returns the match of the list at the word; NULL if there is none. */
static const struct lexicon_match *find_at(const struct reading *reading, size_t at,
                                           enum lexicon_list list)
{
    for (size_t i = reading->match; i < reading->matches->count; i++) {
        const struct lexicon_match *match = &reading->matches->items[i];

        if (match->from > at) {
            return NULL;
        }
        if (match->from == at && match->list == list) {
            return match;
        }
    }
    return NULL;
}

/* Returns whether a number is among the next words. */
static bool has_number_near(const struct reading *reading, size_t at)
{
    for (size_t i = at; i < reading->words->count && i < at + NUMBER_WORDS_AHEAD; i++) {
        if (reading->words->items[i].is_number || find_at(reading, i, LEXICON_NUMBER) != NULL) {
            return true;
        }
    }
    return false;
}

static void negate(struct rule_part *part)
{
    part->is_negative = !part->is_negative;
    part->is_negated = !part->is_negated;
}

static void read_negation(struct reading *reading, const struct lexicon_match *match)
{
    struct rule_part *part = part_of(reading);
    bool was_negated = part->is_negated;

    switch ((enum lexicon_negation)match->value) {
    case NEGATION_WORD:
        negate(part);
        break;
    case NEGATION_CONTRAST:
        part = begin_part(reading);
        if (!was_negated) {
            negate(part);
        }
        break;
    case NEGATION_WITHOUT:
        /* "Never X without Y" wants Y whenever X; "X without Y" wants X and not Y. */
        if (was_negated && part->words.count > 0) {
            negate(part);
            part->is_condition = true;
            part->condition = CONDITION_WHEN;
        }
        part = begin_part(reading);
        if (!was_negated) {
            negate(part);
        }
        break;
    }
}

static void read_condition(struct reading *reading, const struct lexicon_match *match)
{
    struct rule_part *part = begin_part(reading);

    if (part->words.count == 0) {
        part->is_condition = true;
        part->condition = (enum lexicon_condition)match->value;
    }
}

static void read_opposite(struct reading *reading, const struct lexicon_match *match)
{
    struct rule_part *part = part_of(reading);
    int pair = match->value / 2;

    part->is_negative = part->is_negative != (match->value % 2 == 1);
    if (!IS_SIGN_ONLY(pair)) {
        add_word(&part->words, PAIR_HASH(pair));
        add_word(&reading->parts->all, PAIR_HASH(pair));
    }
}

static void read_choice(struct reading *reading, const struct lexicon_match *match)
{
    struct rule_parts *parts = reading->parts;

    add_word(&part_of(reading)->words, CHOICE_HASH(match->value));
    if (parts->choice_count < RULE_CHOICES_MAX) {
        parts->choices[parts->choice_count++] =
            (struct rule_choice){match->value / CHOICE_MEMBERS, match->value % CHOICE_MEMBERS,
                                 part_of(reading)->is_negative};
    }
}

static double number_of(struct slice digits)
{
    double number = 0;
    double unit = 1;
    bool is_fraction = false;

    for (size_t i = 0; i < digits.size && i < NUMBER_BYTES_MAX; i++) {
        if (digits.data[i] == '.') {
            is_fraction = true;
            continue;
        }
        unit = is_fraction ? unit / 10 : unit;
        number = is_fraction ? number + unit * (digits.data[i] - '0')
                             : number * 10 + (digits.data[i] - '0');
    }
    return number;
}

/* Reads the unit after a number, and returns the number of its words. */
static size_t read_unit(struct reading *reading, size_t at, struct rule_bound *bound)
{
    static const struct {
        int dimension;
        double scale;
    } units[UNIT_COUNT] = {[UNIT_MILLISECOND] = {0, 1e-3}, [UNIT_SECOND] = {0, 1},
                           [UNIT_MINUTE] = {0, 60},        [UNIT_HOUR] = {0, 3600},
                           [UNIT_DAY] = {0, 86400},        [UNIT_WEEK] = {0, 604800},
                           [UNIT_MONTH] = {0, 2592000},    [UNIT_YEAR] = {0, 31536000},
                           [UNIT_BYTE] = {1, 1},           [UNIT_KILOBYTE] = {1, 1024},
                           [UNIT_MEGABYTE] = {1, 1048576}, [UNIT_GIGABYTE] = {1, 1073741824},
                           [UNIT_PERCENT] = {2, 1}};
    const struct words *words = reading->words;
    const struct lexicon_match *unit = NULL;

    bound->dimension = -1;
    if (words->items[at - 1].is_percent) {
        bound->dimension = units[UNIT_PERCENT].dimension;
        return 0;
    }
    if (at >= words->count || words->items[at].gap != WORD_GAP_SPACE) {
        return 0;
    }
    unit = find_at(reading, at, LEXICON_UNIT);
    if (unit != NULL) {
        bound->dimension = units[unit->value].dimension;
        bound->low *= units[unit->value].scale;
        bound->high *= units[unit->value].scale;
        return 1;
    }
    if (find_at(reading, at, LEXICON_MEASURE) == NULL &&
        find_at(reading, at, LEXICON_LIGHT) == NULL) {
        bound->of = words->items[at].hash;
        return 1;
    }
    return 0;
}

/* Builds an interval from the number and the comparison before or after it. A negation of "more
 * than" is part of the comparison. */
static void set_interval(struct reading *reading, double number, struct rule_bound *bound)
{
    enum lexicon_bound kind = reading->has_bound ? reading->bound : BOUND_EXACTLY;
    struct rule_part *part = part_of(reading);
    bool negated = reading->has_bound && part->is_negated && kind != BOUND_EXACTLY;

    if (negated) {
        static const enum lexicon_bound opposites[] = {[BOUND_AT_MOST] = BOUND_ABOVE,
                                                       [BOUND_BELOW] = BOUND_AT_LEAST,
                                                       [BOUND_AT_LEAST] = BOUND_BELOW,
                                                       [BOUND_ABOVE] = BOUND_AT_MOST,
                                                       [BOUND_EXACTLY] = BOUND_EXACTLY};

        kind = opposites[kind];
        negate(part);
    }
    bound->low = kind == BOUND_AT_MOST || kind == BOUND_BELOW ? -INFINITY : number;
    bound->high = kind == BOUND_AT_LEAST || kind == BOUND_ABOVE ? INFINITY : number;
    if (kind == BOUND_BELOW) {
        bound->high = nextafter(number, -INFINITY);
    }
    if (kind == BOUND_ABOVE) {
        bound->low = nextafter(number, INFINITY);
    }
}

/* Reads a number and its unit, and returns the number of their words. */
static size_t read_number(struct reading *reading, double number)
{
    struct rule_parts *parts = reading->parts;
    struct rule_bound bound = {.of = 0};
    const struct lexicon_match *after = NULL;
    size_t count = 1;

    for (size_t ahead = 1; ahead <= 3 && after == NULL && !reading->has_bound; ahead++) {
        after = find_at(reading, reading->at + ahead, LEXICON_BOUND);
        if (after != NULL && after->count > 1) {
            reading->has_bound = true; /* "20 lines or fewer" */
            reading->bound = (enum lexicon_bound)after->value;
        }
    }
    set_interval(reading, number, &bound);
    count += read_unit(reading, reading->at + 1, &bound);
    if (parts->bound_count < RULE_BOUNDS_MAX) {
        parts->bounds[parts->bound_count++] = bound;
    }
    reading->has_bound = false;
    return count;
}

static void read_word(struct reading *reading)
{
    const struct word *word = &reading->words->items[reading->at];

    if (find_at(reading, reading->at, LEXICON_MEASURE) != NULL ||
        find_at(reading, reading->at, LEXICON_LIGHT) != NULL ||
        find_at(reading, reading->at, LEXICON_FUNCTION) != NULL) {
        return;
    }
    add_word(&part_of(reading)->words, word->hash);
    add_word(&reading->parts->all, word->hash);
}

/* Reads a phrase of the lexicon, and returns the number of its words; 0 if it has no role here. */
static size_t read_match(struct reading *reading, const struct lexicon_match *match)
{
    switch (match->list) {
    case LEXICON_NEGATION:
        if (match->value == NEGATION_CONTRAST && match->count == 1 &&
            (!reading->prefers || has_number_near(reading, reading->at + 1))) {
            return 0; /* "over 50 lines" */
        }
        read_negation(reading, match);
        return match->count;
    case LEXICON_BOUND:
        if (!has_number_near(reading, reading->at + 1)) {
            return 0;
        }
        reading->has_bound = true;
        reading->bound = (enum lexicon_bound)match->value;
        return match->value == BOUND_EXACTLY ? 0 : match->count;
    case LEXICON_CHOICE:
        read_choice(reading, match);
        return match->count;
    case LEXICON_OPPOSITE:
        if (reading->has_number && find_at(reading, reading->at, LEXICON_MEASURE) != NULL) {
            return 0; /* "50 lines long" */
        }
        read_opposite(reading, match);
        return match->count;
    case LEXICON_CONDITION:
        read_condition(reading, match);
        return match->count;
    case LEXICON_NUMBER:
        return read_number(reading, (double)match->value);
    case LEXICON_FUNCTION:
    case LEXICON_VAGUE:
    case LEXICON_PRAISE:
    case LEXICON_WORRY:
    case LEXICON_REQUEST:
    case LEXICON_GENERAL:
    case LEXICON_SPECIFIC:
    case LEXICON_PLACE:
    case LEXICON_TECHNICAL:
    case LEXICON_CONCEPT:
    case LEXICON_LIGHT:
    case LEXICON_UNIT:
    case LEXICON_MEASURE:
    case LEXICON_LIST_COUNT:
        return 0;
    }
    return 0;
}

/* Reads the item at the current word, and returns the number of words that were read. */
static size_t read_one(struct reading *reading)
{
    const struct word *word = &reading->words->items[reading->at];
    size_t count = 0;

    if (word->gap != WORD_GAP_SPACE && reading->at > 0) {
        (void)begin_part(reading);
        reading->has_bound = reading->has_bound && word->gap == WORD_GAP_COMMA;
    }
    if (slice_equal(word->text, SLICE("prefer")) || slice_equal(word->text, SLICE("favour")) ||
        slice_equal(word->text, SLICE("favor")) || slice_equal(word->text, SLICE("choose"))) {
        reading->prefers = true;
    }
    if (word->is_number) {
        return read_number(reading, number_of(word->text));
    }
    for (size_t i = reading->match; i < reading->matches->count && count == 0; i++) {
        if (reading->matches->items[i].from != reading->at) {
            break;
        }
        count = read_match(reading, &reading->matches->items[i]);
    }
    if (count == 0) {
        read_word(reading);
        count = 1;
    }
    return count;
}

enum err rule_parts_read(struct arena *arena, struct slice rule, struct rule_parts *ret_parts)
{
    struct lexicon_matches matches;
    struct words words;
    struct reading reading = {.words = &words, .matches = &matches, .parts = ret_parts};
    enum err err = words_split(arena, rule, &words);

    if (err == OK) {
        err = lexicon_find(arena, &words, &matches);
    }
    if (err != OK) {
        return err;
    }
    *ret_parts = (struct rule_parts){.count = 1};
    for (size_t i = 0; i < words.count; i++) {
        reading.has_number = reading.has_number || words.items[i].is_number;
    }
    while (reading.at < words.count) {
        while (reading.match < matches.count && matches.items[reading.match].from < reading.at) {
            reading.match++;
        }
        reading.at += read_one(&reading);
    }
    return OK;
}
