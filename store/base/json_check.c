/*
 * json_check.c: validates JSON text. One pass, one state per token, an explicit stack. Keys of open
 * objects are on a separate stack; a small object is searched by its hashes, a larger one through a
 * hash table that its level of nesting keeps for the next one. The hash is seeded with an address
 * that the text's author does not know, so that keys cannot be chosen to collide; results do not
 * depend on it.
 */
#include "store/base/json_internal.h"

#include "store/base/assert.h"
#include "store/base/hex.h"
#include "store/base/text.h"

/* Up to this many keys of an object are compared one by one. */
#define KEYS_SEARCHED_MAX 12
#define KEYS_FIRST 64
#define SLOTS_FIRST 64

struct key {
    const uint8_t *data; /* unescaped: in the document or the arena */
    uint32_t size;
    uint32_t hash;
};

/* State of one open object or array. */
struct level {
    uint32_t *slots; /* indices of keys from first_key on, plus 1; 0: free */
    uint32_t slot_count; /* slots of the open object; 0: keys are compared one by one */
    uint32_t slot_capacity; /* allocated */
    uint32_t first_key;
    bool is_object;
};

enum state {
    AT_VALUE,
    AT_FIRST_ELEMENT, /* a value or `]` */
    AT_KEY,
    AT_FIRST_KEY, /* a key or `}` */
    AFTER_VALUE
};

struct checker {
    struct arena *arena;
    struct slice text;
    size_t at;
    const struct json_rules *rules;
    const char *what; /* the first problem, and its offset */
    size_t what_at;
    bool no_memory;
    bool key_has_escape; /* the last scanned string contains an escape */
    uint64_t seed;
    unsigned depth;
    struct key *keys;
    uint32_t key_count;
    uint32_t key_capacity;
    struct level levels[JSON_DEPTH_MAX];
    struct key first_keys[KEYS_FIRST];
};

static bool problem(struct checker *checker, size_t at, const char *what)
{
    checker->what = what;
    checker->what_at = at;
    return false;
}

static bool out_of_memory(struct checker *checker)
{
    checker->no_memory = true;
    return false;
}

static bool ends_early(struct checker *checker)
{
    return problem(checker, checker->text.size, "the text ends inside a value");
}

static void skip_spaces(struct checker *checker)
{
    while (checker->at < checker->text.size && json_is_space(checker->text.data[checker->at])) {
        checker->at++;
    }
}

/* Returns the index of the first byte from `at` on that is not plain text of a string. */
static size_t skip_plain(struct slice text, size_t at)
{
    while (text.size - at >= 8) {
        uint64_t word = 0;
        uint64_t marks = 0;

        memcpy(&word, text.data + at, sizeof(word));
        marks = json_mark_special(word);
        if (marks != 0) {
            return at + (size_t)__builtin_ctzll(marks) / 8;
        }
        at += 8;
    }
    while (at < text.size && text.data[at] >= 0x20 && text.data[at] < 0x80 &&
           text.data[at] != '"' && text.data[at] != '\\') {
        at++;
    }
    return at;
}

/* Reads four hex digits at `at`; -1 if there are none. */
static int32_t hex4(struct slice text, size_t at)
{
    int32_t value = 0;

    if (text.size - at < 4) {
        return -1;
    }
    for (size_t i = 0; i < 4; i++) {
        int digit = hex_value(text.data[at + i]);

        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static bool scan_unicode_escape(struct checker *checker)
{
    struct slice text = checker->text;
    size_t at = checker->at; /* position of the backslash */
    int32_t unit = hex4(text, at + 2);
    int32_t low = -1;

    if (unit < 0) {
        return problem(checker, at, "\\u without four hex digits");
    }
    checker->at = at + 6;
    if (unit < 0xd800 || unit > 0xdfff) {
        return true;
    }
    if (unit < 0xdc00 && text.size - checker->at >= 6 && text.data[checker->at] == '\\' &&
        text.data[checker->at + 1] == 'u') {
        low = hex4(text, checker->at + 2);
    }
    if (low < 0xdc00 || low > 0xdfff) {
        return problem(checker, at, "an unpaired surrogate");
    }
    checker->at += 6;
    return true;
}

static bool scan_escape(struct checker *checker)
{
    checker->key_has_escape = true;
    if (checker->text.size - checker->at < 2) {
        return ends_early(checker);
    }
    switch (checker->text.data[checker->at + 1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        checker->at += 2;
        return true;
    case 'u':
        return scan_unicode_escape(checker);
    default:
        return problem(checker, checker->at, "an unknown escape sequence");
    }
}

/* Scans from the opening quote to after the closing one. */
static bool scan_string(struct checker *checker)
{
    struct slice text = checker->text;

    checker->key_has_escape = false;
    checker->at++;
    for (;;) {
        size_t bytes = 0;
        uint8_t byte = 0;

        checker->at = skip_plain(text, checker->at);
        if (checker->at >= text.size) {
            return ends_early(checker);
        }
        byte = text.data[checker->at];
        if (byte == '"') {
            checker->at++;
            return true;
        }
        if (byte < 0x20) {
            return problem(checker, checker->at, "a control character that is not escaped");
        }
        if (byte == '\\') {
            if (!scan_escape(checker)) {
                return false;
            }
            continue;
        }
        bytes = text_sequence_bytes(slice_after(text, checker->at));
        if (bytes == 0) {
            return problem(checker, checker->at, "invalid UTF-8");
        }
        checker->at += bytes;
    }
}

static bool at_digit(const struct checker *checker)
{
    return checker->at < checker->text.size && checker->text.data[checker->at] >= '0' &&
           checker->text.data[checker->at] <= '9';
}

static bool at_byte(const struct checker *checker, uint8_t byte)
{
    return checker->at < checker->text.size && checker->text.data[checker->at] == byte;
}

static bool scan_digits(struct checker *checker, size_t start)
{
    if (!at_digit(checker)) {
        return problem(checker, start, "an invalid number");
    }
    while (at_digit(checker)) {
        checker->at++;
    }
    return true;
}

static bool scan_word(struct checker *checker, struct slice word)
{
    if (!slice_starts_with(slice_after(checker->text, checker->at), word)) {
        return problem(checker, checker->at, "an unknown literal");
    }
    checker->at += word.size;
    return true;
}

static bool scan_number(struct checker *checker)
{
    size_t start = checker->at;

    if (at_byte(checker, '-')) {
        checker->at++;
        if (checker->rules->allow_nan && at_byte(checker, 'I')) {
            return scan_word(checker, SLICE("Infinity"));
        }
    }
    if (at_byte(checker, '0')) {
        checker->at++;
        if (at_digit(checker)) {
            return problem(checker, start, "a number with a leading zero");
        }
    } else if (!scan_digits(checker, start)) {
        return false;
    }
    if (at_byte(checker, '.')) {
        checker->at++;
        if (!scan_digits(checker, start)) {
            return false;
        }
    }
    if (at_byte(checker, 'e') || at_byte(checker, 'E')) {
        checker->at++;
        if (at_byte(checker, '+') || at_byte(checker, '-')) {
            checker->at++;
        }
        return scan_digits(checker, start);
    }
    return true;
}

static bool open_container(struct checker *checker, bool is_object, enum state *state)
{
    struct level *level = NULL;

    if (checker->depth >= checker->rules->depth_max) {
        return problem(checker, checker->at, "values nested too deeply");
    }
    level = &checker->levels[checker->depth++];
    level->is_object = is_object;
    level->first_key = checker->key_count;
    level->slot_count = 0;
    checker->at++;
    *state = is_object ? AT_FIRST_KEY : AT_FIRST_ELEMENT;
    return true;
}

static void close_container(struct checker *checker, enum state *state)
{
    checker->depth--;
    checker->key_count = checker->levels[checker->depth].first_key;
    checker->at++;
    *state = AFTER_VALUE;
}

static bool scan_value(struct checker *checker, enum state *state)
{
    *state = AFTER_VALUE;
    switch (checker->text.data[checker->at]) {
    case '"':
        return scan_string(checker);
    case '{':
        return open_container(checker, true, state);
    case '[':
        return open_container(checker, false, state);
    case 't':
        return scan_word(checker, SLICE("true"));
    case 'f':
        return scan_word(checker, SLICE("false"));
    case 'n':
        return scan_word(checker, SLICE("null"));
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return scan_number(checker);
    case 'N':
        return checker->rules->allow_nan
                   ? scan_word(checker, SLICE("NaN"))
                   : problem(checker, checker->at, "NaN, which is not a valid JSON number");
    case 'I':
        return checker->rules->allow_nan
                   ? scan_word(checker, SLICE("Infinity"))
                   : problem(checker, checker->at, "Infinity, which is not a valid JSON number");
    default:
        return problem(checker, checker->at, "a character that cannot begin a value");
    }
}

/* Multiply and fold, eight bytes at a time. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t hash_key(const struct checker *checker, const uint8_t *data, size_t size)
{
    uint64_t hash = checker->seed ^ size;
    uint64_t word = 0;

    for (; size >= 8; size -= 8, data += 8) {
        memcpy(&word, data, 8);
        hash = mix(hash ^ word, checker->seed ^ UINT64_C(0xa0761d6478bd642f));
    }
    word = 0;
    memcpy(&word, data, size);
    hash = mix(hash ^ word, checker->seed ^ UINT64_C(0xe7037ed1a0b428db));
    return (uint32_t)(hash ^ hash >> 32);
}

static bool key_equal(const struct key *a, const struct key *b)
{
    return a->hash == b->hash && a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* Puts the key of this index into its slot, or returns false if an equal one is there. */
static bool put_slot(struct checker *checker, struct level *level, uint32_t index)
{
    const struct key *key = &checker->keys[index];
    uint32_t mask = level->slot_count - 1;

    for (uint32_t at = key->hash & mask;; at = (at + 1) & mask) {
        uint32_t slot = level->slots[at];

        if (slot == 0) {
            level->slots[at] = index - level->first_key + 1;
            return true;
        }
        if (key_equal(key, &checker->keys[level->first_key + slot - 1])) {
            return false;
        }
    }
}

/* Resizes the level's table to `count` slots, and inserts all its keys but the newest. */
static bool make_slots(struct checker *checker, struct level *level, uint32_t count)
{
    if (count > level->slot_capacity) {
        uint32_t *slots = arena_alloc(checker->arena, (size_t)count * sizeof(*slots));

        if (slots == NULL) {
            return out_of_memory(checker);
        }
        level->slots = slots;
        level->slot_capacity = count;
    }
    memset(level->slots, 0, (size_t)count * sizeof(*level->slots));
    level->slot_count = count;
    for (uint32_t i = level->first_key; i + 1 < checker->key_count; i++) {
        (void)put_slot(checker, level, i); /* the keys are known to be different */
    }
    return true;
}

/* Returns whether the newest key is unique in its object. */
static bool is_new_key(struct checker *checker, size_t at)
{
    struct level *level = &checker->levels[checker->depth - 1];
    uint32_t newest = checker->key_count - 1;
    uint32_t count = checker->key_count - level->first_key;
    bool is_new = true;

    if (count <= KEYS_SEARCHED_MAX) {
        for (uint32_t i = level->first_key; is_new && i < newest; i++) {
            is_new = !key_equal(&checker->keys[i], &checker->keys[newest]);
        }
    } else {
        uint32_t wanted = level->slot_count == 0 ? SLOTS_FIRST : level->slot_count * 2;
        bool is_full = level->slot_count < 2 * count;

        if (is_full && !make_slots(checker, level, wanted)) {
            return false;
        }
        is_new = put_slot(checker, level, newest);
    }
    return is_new || problem(checker, at, "a duplicate key");
}

static bool reserve_key(struct checker *checker)
{
    uint32_t capacity = checker->key_capacity * 2;
    struct key *keys = NULL;

    if (checker->key_count < checker->key_capacity) {
        return true;
    }
    keys = arena_alloc(checker->arena, (size_t)capacity * sizeof(*keys));
    if (keys == NULL) {
        return out_of_memory(checker);
    }
    memcpy(keys, checker->keys, (size_t)checker->key_count * sizeof(*keys));
    checker->keys = keys;
    checker->key_capacity = capacity;
    return true;
}

/* Records the key just scanned, which started at `start`. */
static bool note_key(struct checker *checker, size_t start)
{
    struct slice quoted = slice_of(checker->text.data + start, checker->at - start);
    struct slice name = json_unquoted(quoted);

    if (!reserve_key(checker)) {
        return false;
    }
    if (checker->key_has_escape && json_string(checker->arena, quoted, &name) != OK) {
        return out_of_memory(checker);
    }
    checker->keys[checker->key_count++] = (struct key){
        .data = name.data,
        .size = (uint32_t)name.size,
        .hash = hash_key(checker, name.data, name.size),
    };
    return is_new_key(checker, start);
}

static bool scan_key(struct checker *checker, enum state *state)
{
    size_t start = checker->at;

    if (!at_byte(checker, '"')) {
        return problem(checker, start, "a key that is not in double quotes");
    }
    if (!scan_string(checker) || !note_key(checker, start)) {
        return false;
    }
    skip_spaces(checker);
    if (checker->at >= checker->text.size) {
        return ends_early(checker);
    }
    if (!at_byte(checker, ':')) {
        return problem(checker, checker->at, "a key without a colon after it");
    }
    checker->at++;
    *state = AT_VALUE;
    return true;
}

/* Continues inside a container, after one of its values. */
static bool scan_separator(struct checker *checker, enum state *state)
{
    bool is_object = checker->levels[checker->depth - 1].is_object;

    if (at_byte(checker, is_object ? '}' : ']')) {
        close_container(checker, state);
        return true;
    }
    if (!at_byte(checker, ',')) {
        return problem(checker, checker->at,
                       is_object ? "neither `,` nor `}` after a member"
                                 : "neither `,` nor `]` after an element");
    }
    checker->at++;
    *state = is_object ? AT_KEY : AT_VALUE;
    return true;
}

static bool step(struct checker *checker, enum state *state)
{
    switch (*state) {
    case AT_VALUE:
        return scan_value(checker, state);
    case AT_FIRST_ELEMENT:
        if (at_byte(checker, ']')) {
            close_container(checker, state);
            return true;
        }
        return scan_value(checker, state);
    case AT_FIRST_KEY:
        if (at_byte(checker, '}')) {
            close_container(checker, state);
            return true;
        }
        return scan_key(checker, state);
    case AT_KEY:
        return scan_key(checker, state);
    case AFTER_VALUE:
        return scan_separator(checker, state);
    }
    return false;
}

/* Scans the end of the text, after the top value. */
static bool scan_top(struct checker *checker)
{
    enum state state = AT_VALUE;

    while (state != AFTER_VALUE || checker->depth > 0) {
        skip_spaces(checker);
        if (checker->at >= checker->text.size) {
            return ends_early(checker);
        }
        if (!step(checker, &state)) {
            return false;
        }
    }
    return true;
}

static bool scan_document(struct checker *checker, struct json_value *ret_value)
{
    size_t start = 0;

    if (checker->text.size > UINT32_MAX) {
        return problem(checker, 0, "more than 4 GiB of text");
    }
    skip_spaces(checker);
    if (checker->at >= checker->text.size) {
        return problem(checker, checker->at, "no value");
    }
    start = checker->at;
    if (!scan_top(checker)) {
        return false;
    }
    ret_value->kind = json_kind_of(checker->text.data[start]);
    ret_value->text = slice_of(checker->text.data + start, checker->at - start);
    skip_spaces(checker);
    return checker->at == checker->text.size ||
           problem(checker, checker->at, "text after the value");
}

enum err json_check(struct arena *arena, struct slice document, const struct json_rules *rules,
                    struct json_value *ret_value, struct json_problem *ret_problem)
{
    struct checker checker;
    struct json_value value = {0};

    ASSERT(rules->depth_max <= JSON_DEPTH_MAX);
    memset(&checker, 0, offsetof(struct checker, first_keys));
    checker.arena = arena;
    checker.text = document;
    checker.rules = rules;
    checker.seed = mix((uint64_t)(uintptr_t)&checker, UINT64_C(0x9e3779b97f4a7c15)) ^
                   (uint64_t)(uintptr_t)arena->chunks;
    checker.keys = checker.first_keys;
    checker.key_capacity = KEYS_FIRST;
    if (scan_document(&checker, &value)) {
        *ret_value = value;
        return OK;
    }
    if (checker.no_memory) {
        return ERR_MEMORY;
    }
    *ret_problem = (struct json_problem){checker.what, checker.what_at};
    return ERR_INVALID;
}
