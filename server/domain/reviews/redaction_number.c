/*
 * redaction_number.c: phone numbers, and numbers that look like them; see redaction.h. A number is
 * classified by the word before it or else by its form; in cases of doubt it is a phone number.
 */
#include "server/domain/reviews/redaction_internal.h"

/* Limits of digits of a phone number (ITU-T E.164), and of a mobile number written in one group. */
#define PHONE_DIGITS_MIN 7
#define PHONE_DIGITS_MAX 15
#define MOBILE_DIGITS_MIN 11
#define MOBILE_DIGITS_MAX 12
/* Maximum groups whose sizes are kept, and separators between two groups, as in `) - (`. */
#define GROUPS_KEPT 4
#define SEPARATORS_MAX 4
/* Maximum characters of a label, and between it and its number. */
#define LABEL_CHARACTERS_MAX 20
#define LABEL_GAP_MAX 4

/* --- words before a number --- */

/* Words that a phone number follows. */
static const char *const phone_labels[] = {
    "tel",       "telefon",     "telephone", "phone",       "telefonnummer",
    "rufnummer", "mobil",       "mobile",    "mobilnummer", "mobiltelefon",
    "handy",     "handynummer", "fax",       "telefax",     "faxnummer",
    "cell",      "hotline",     "whatsapp",  "t",           "f",
    "m"};
/* Words that the number of an article, an order or a version follows. */
static const char *const honest_labels[] = {"art",
                                            "artikel",
                                            "artikelnummer",
                                            "article",
                                            "auftrag",
                                            "auftrags",
                                            "batch",
                                            "bestell",
                                            "bestellung",
                                            "bestellnummer",
                                            "build",
                                            "cas",
                                            "charge",
                                            "chargen",
                                            "chargennummer",
                                            "auftragsnummer",
                                            "ean",
                                            "firmware",
                                            "fw",
                                            "gtin",
                                            "hs",
                                            "invoice",
                                            "isbn",
                                            "issn",
                                            "item",
                                            "lieferschein",
                                            "lot",
                                            "los",
                                            "model",
                                            "modell",
                                            "mpn",
                                            "nsn",
                                            "order",
                                            "ordernummer",
                                            "part",
                                            "pn",
                                            "po",
                                            "pzn",
                                            "rechnung",
                                            "rechnungs",
                                            "rechnungsnummer",
                                            "rev",
                                            "revision",
                                            "serial",
                                            "serien",
                                            "seriennummer",
                                            "sku",
                                            "sn",
                                            "taric",
                                            "teil",
                                            "teilenummer",
                                            "upc",
                                            "version"};
/* Words between such a word and its number. */
static const char *const number_words[] = {"nr", "no", "num", "nummer", "number", "code"};

static bool is_in(struct slice word, const char *const words[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (word.size == strlen(words[i]) && plain_starts_with(word, words[i])) {
            return true;
        }
    }
    return false;
}

#define IS_IN(word, words) is_in(word, words, sizeof(words) / sizeof((words)[0]))

/* Removes the last word from a text, with a few marks after it; empty if there is none, or if it is too long. */
static struct slice take_last_word(struct slice *text)
{
    size_t end = text->size;
    size_t start = 0;

    while (end > 0 && text->size - end < LABEL_GAP_MAX &&
           plain_is_one_of(text->data[end - 1], " .:#=-")) {
        end--;
    }
    start = end;
    while (start > 0 && end - start <= LABEL_CHARACTERS_MAX &&
           plain_is_letter(text->data[start - 1])) {
        start--;
    }
    text->size = start;
    return end - start <= LABEL_CHARACTERS_MAX ? slice_of(text->data + start, end - start)
                                               : slice_of(NULL, 0);
}

/* Returns the word that classifies the number after a text; empty if there is none. */
static struct slice read_label(struct slice before)
{
    struct slice word = take_last_word(&before);

    return IS_IN(word, number_words) ? take_last_word(&before) : word;
}

/* A word for phones; one of a letter needs its colon, since it may be a unit. */
static bool has_phone_label(struct slice before)
{
    struct slice word = read_label(before);

    if (!IS_IN(word, phone_labels)) {
        return false;
    }
    return word.size > 1 || plain_at(before, (size_t)(word.data - before.data) + 1) == ':';
}

/* --- groups of digits --- */

/* Digits in groups, with separators between them. */
struct groups {
    size_t digits;
    size_t count;
    size_t sizes[GROUPS_KEPT]; /* sizes of the first groups */
    size_t end;
    bool is_round; /* each group ends with two zeros */
};

/* Groups that are being read. */
struct groups_reading {
    struct groups groups;
    struct groups before; /* without the last group */
    struct groups number; /* a whole number that ends before a group that may start another one */
    size_t separators; /* number of separators since the last digit */
};

/* Returns whether the text continues as a word, like an article number: with a letter, or a hyphen and a letter. */
static bool goes_on(struct slice text)
{
    return plain_is_letter(plain_at(text, plain_at(text, 0) == '-'));
}

static bool ends_round(struct slice text, size_t end)
{
    return end >= 2 && text.data[end - 1] == '0' && text.data[end - 2] == '0';
}

/* Adds a digit; returns false if there are too many. */
static bool add_digit(struct groups_reading *reading, struct slice text, size_t at)
{
    struct groups *groups = &reading->groups;

    if (groups->count == 0 || reading->separators > 0) {
        groups->is_round =
            groups->count == 0 || (groups->is_round && ends_round(text, groups->end));
        reading->before = *groups;
        if (text.data[at] == '0' && groups->digits >= PHONE_DIGITS_MIN) {
            reading->number = *groups;
        }
        groups->count++;
    }
    if (groups->count <= GROUPS_KEPT) {
        groups->sizes[groups->count - 1]++;
    }
    reading->separators = 0;
    groups->digits++;
    groups->end = at + 1;
    return groups->digits <= PHONE_DIGITS_MAX;
}

/* Returns whether a separator may follow: a full stop before a space ends a number. */
static bool add_separator(struct groups_reading *reading, struct slice text, size_t at)
{
    reading->separators++;
    return reading->separators <= SEPARATORS_MAX &&
           plain_is_one_of(text.data[at], at == 0 ? "+(" : " -/().") &&
           !(text.data[at] == '.' && plain_at(text, at + 1) == ' ');
}

/* Units that follow a quantity; only those that are not words of a sentence. */
static const char *const units[] = {"mm",  "cm",  "km",  "kg", "mg",  "ml",  "lm",  "kv",  "kw",
                                    "wh",  "kwh", "mah", "hz", "khz", "mhz", "ghz", "pa",  "kpa",
                                    "hpa", "mpa", "bar", "nm", "rpm", "eur", "usd", "chf", "gbp"};

/* Returns whether a unit follows. */
static bool has_unit(struct slice text)
{
    size_t start = plain_at(text, 0) == ' ';
    size_t end = start;

    while (plain_is_letter(plain_at(text, end)) && end - start <= LABEL_CHARACTERS_MAX) {
        end++;
    }
    return IS_IN(slice_of(text.data + start, end - start), units);
}

/* Reads groups until they would have too many digits, or until one starts a word or a quantity: a
 * number may be followed by another one, or by other text. */
static struct groups read_groups(struct slice text)
{
    struct groups_reading reading = {.separators = 0};
    struct slice rest = {NULL, 0};
    bool is_next = true;
    bool has_room = true;

    for (size_t at = 0; at < text.size && has_room && is_next; at++) {
        if (plain_is_digit(text.data[at])) {
            has_room = add_digit(&reading, text, at);
        } else {
            is_next = add_separator(&reading, text, at);
        }
    }
    if (!has_room) {
        return reading.number.count > 0 ? reading.number : reading.before;
    }
    rest = slice_after(text, reading.groups.end);
    reading.groups.is_round = reading.groups.is_round && ends_round(text, reading.groups.end);
    return goes_on(rest) || has_unit(rest) ? reading.before : reading.groups;
}

/* --- numbers that are not private --- */

/* Returns the value of the digits at a place of a text. */
static unsigned number_at(struct slice text, size_t at, size_t digits)
{
    unsigned number = 0;

    for (size_t i = 0; i < digits; i++) {
        number = 10 * number + plain_at(text, at + i) - '0';
    }
    return number;
}

static size_t count_digits(struct slice text, size_t at)
{
    size_t count = 0;

    while (count <= PHONE_DIGITS_MAX && plain_is_digit(plain_at(text, at + count))) {
        count++;
    }
    return count;
}

static bool is_year(unsigned number, size_t digits)
{
    return digits == 2 || (digits == 4 && number >= 1900 && number < 2100);
}

/* Matches a day, a month and a year, or a month and a year of four digits. */
static size_t match_date(struct slice text)
{
    size_t first = count_digits(text, 0);
    size_t second = count_digits(text, first + 1);
    size_t third = count_digits(text, first + 1 + second + 1);
    uint8_t separator = plain_at(text, first);
    size_t end = first + 1 + second;
    unsigned one = 0;
    unsigned two = 0;

    if (first < 1 || first > 2 || second < 1 || !plain_is_one_of(separator, "./-")) {
        return 0;
    }
    one = number_at(text, 0, first);
    if (second == 4 && first == 2 && separator != '-') {
        bool is_month = one >= 1 && one <= 12 && is_year(number_at(text, first + 1, 4), 4);

        return is_month && (plain_at(text, end) != separator || third == 0) ? end : 0;
    }
    two = number_at(text, first + 1, second < 3 ? second : 0);
    if (second > 2 || plain_at(text, end) != separator || one < 1 || two < 1 || one > 31 ||
        two > 31 || (one > 12 && two > 12) ||
        !is_year(number_at(text, end + 1, third <= 4 ? third : 0), third)) {
        return 0;
    }
    end += 1 + third;
    return plain_at(text, end) == separator && plain_is_digit(plain_at(text, end + 1)) ? 0 : end;
}

/* Matches the article number below a bar code (EAN-13): groups of 1, 6 and 6 digits, the last of
 * which checks the others. */
static size_t match_bar_code(struct slice text)
{
    unsigned sum = 0;
    size_t digits = 0;

    if (count_digits(text, 0) != 1 || plain_at(text, 1) != ' ' || count_digits(text, 2) != 6 ||
        plain_at(text, 8) != ' ' || count_digits(text, 9) != 6) {
        return 0;
    }
    for (size_t at = 0; at < 15; at++) {
        if (plain_is_digit(text.data[at])) {
            sum += (unsigned)(text.data[at] - '0') * (digits++ % 2 == 0 ? 1 : 3);
        }
    }
    return sum % 10 == 0 ? 15 : 0;
}

size_t match_honest_number(const struct redaction_place *place)
{
    struct slice text = place->text;
    size_t size = 0;

    if (!plain_is_digit(text.data[0])) {
        return 0;
    }
    size = match_date(text);
    if (size == 0) {
        size = match_bar_code(text);
    }
    if (size == 0 && IS_IN(read_label(place->before), honest_labels)) {
        size = read_groups(text).end;
    }
    return goes_on(slice_after(text, size)) ? 0 : size;
}

/* --- phone numbers --- */

static bool has_sizes(const struct groups *groups, size_t first, size_t second, size_t third)
{
    return groups->count == 3 && groups->sizes[0] == first && groups->sizes[1] == second &&
           groups->sizes[2] == third;
}

/* Returns whether the number continues a number or an article number before it: 1.2.0345-678, AB-0123-456. */
static bool is_tail(struct slice before)
{
    uint8_t separator = before.size >= 2 ? before.data[before.size - 1] : 0;
    uint8_t last = before.size >= 2 ? before.data[before.size - 2] : 0;

    return (plain_is_one_of(separator, ".-/") && plain_is_digit(last)) ||
           (separator == '-' && plain_is_letter(last));
}

/* Matches a prefix, 0 or 00, or an area code in parentheses, and at least one separator. */
static bool is_national(struct slice text, const struct groups *groups)
{
    if (groups->count < 2 || has_sizes(groups, 2, 2, 4)) {
        return false;
    }
    return text.data[0] == '(' ? !groups->is_round : text.data[0] == '0' && groups->sizes[0] >= 2;
}

/* Matches an area code and a number of three and four digits, with or without a 1 before them. */
static bool is_american(struct slice text, const struct groups *groups)
{
    bool has_one = groups->count == 4 && groups->sizes[0] == 1 && text.data[0] == '1';
    const size_t *sizes = groups->sizes + has_one;

    return groups->count == 3 + (size_t)has_one && sizes[0] == 3 && sizes[1] == 3 &&
           (has_one ? groups->digits == 11 : sizes[2] == 4) && !groups->is_round;
}

/* Matches a German mobile number in one group, unless it is an article number of 12 digits (UPC),
 * the last of which checks the others. */
static bool is_mobile(struct slice text, const struct groups *groups)
{
    unsigned sum = 0;

    if (groups->count != 1 || groups->digits < MOBILE_DIGITS_MIN ||
        groups->digits > MOBILE_DIGITS_MAX || !plain_starts_with(text, "01") ||
        !plain_is_one_of(text.data[2], "567")) {
        return false;
    }
    for (size_t i = 0; i < groups->digits; i++) {
        sum += (unsigned)(text.data[i] - '0') * (i % 2 == 0 ? 3 : 1);
    }
    return groups->digits != MOBILE_DIGITS_MAX || sum % 10 != 0;
}

size_t match_phone(const struct redaction_place *place)
{
    struct slice text = place->text;
    struct groups groups;

    if (!plain_is_digit(text.data[0]) && !plain_is_one_of(text.data[0], "+(")) {
        return 0;
    }
    groups = read_groups(text);
    if (groups.digits < PHONE_DIGITS_MIN || groups.digits > PHONE_DIGITS_MAX) {
        return 0;
    }
    if (text.data[0] == '+' || has_phone_label(place->before)) {
        return groups.end;
    }
    return !is_tail(place->before) && (is_national(text, &groups) || is_american(text, &groups) ||
                                       is_mobile(text, &groups))
               ? groups.end
               : 0;
}
