/*
 * rule_set.c: loads a set, and matches a receipt with it. Rules are found by hashes of their patterns and of the names
 * that they compare; the hashes are seeded, so that no one can choose patterns that share a bucket.
 */
#include "server/domain/scoring/rule_set_internal.h"

#include "server/domain/json/members.h"
#include "server/domain/text/case_fold.h"
#include "store/base/assert.h"
#include "store/base/bytes_hash.h"
#include "store/scan.h"

void rule_set_free(struct rule_set *set)
{
    if (set != NULL) {
        struct arena arena = set->arena; /* contains the set itself */

        arena_deinit(&arena);
    }
}

static size_t bucket_of(const struct rule_set *set, struct slice text)
{
    return bytes_hash(text, set->seed) & (set->bucket_count - 1);
}

static bool is_shadow(const struct learned_rule_record *record)
{
    return record->life.state == ARTIFACT_STATE_SHADOW && !record->life.held_back;
}

bool rule_set_has(const struct learned_rule_record *record)
{
    return artifact_life_is_live(&record->life) || is_shadow(record);
}

void rule_set_update(const struct learned_rule_record *record, struct scoring_rule *rule)
{
    rule->adjustment = record->adjustment;
    rule->count = record->count;
    rule->accuracy = learned_rule_accuracy(record);
    rule->version = record->life.version;
    rule->is_live = artifact_life_is_live(&record->life);
    rule->is_shadow = is_shadow(record);
}

/* Finds the first rule with the pattern of a new one. */
static uint32_t number_pattern(const struct rule_set *set, const struct scoring_rule *rule,
                               uint32_t index)
{
    uint32_t at = set->by_pattern[bucket_of(set, rule->pattern)];

    while (at != 0) {
        const struct scoring_rule *other = &set->rules[at - 1];

        if (slice_equal(other->pattern, rule->pattern)) {
            return other->pattern_number;
        }
        at = other->same_pattern;
    }
    return index;
}

enum err rule_set_add(struct rule_set *set, const struct learned_rule_row *row)
{
    uint32_t index = (uint32_t)set->rule_count;
    struct scoring_rule *rule = &set->rules[index];
    uint32_t *head = NULL;
    enum err err = OK;

    ASSERT(set->rule_count < set->rule_room);
    *rule = (struct scoring_rule){
        .seq = row->seq, .id = row->record.id, .rule_type = row->record.rule_type};
    rule_set_update(&row->record, rule);
    if (!arena_copy(&set->arena, row->record.pattern, &rule->pattern)) {
        return ERR_MEMORY;
    }
    rule->gates = score_gates_of(rule->pattern);
    err = predicate_read(&set->arena, rule->pattern, &rule->predicate);
    if (err != OK) {
        return err;
    }
    rule->pattern_number = number_pattern(set, rule, index);
    head = &set->by_pattern[bucket_of(set, rule->pattern)];
    rule->same_pattern = *head;
    *head = index + 1;
    if (rule->predicate.kind == PREDICATE_COMPARISON) {
        head = &set->by_name[bucket_of(set, rule->predicate.name)];
        rule->same_name = *head;
        *head = index + 1;
    }
    set->rule_count++;
    return OK;
}

/* A scan of rules, as of now or of an earlier event. */
struct rule_scan {
    struct scan scan;
    struct store_txn *txn;
    struct org_id org;
    uint64_t as_of_seq; /* UINT64_MAX: now */
};

/* Returns the next rule that belongs to the set. ERR_NOT_FOUND after the last one. */
static enum err next_rule(struct rule_scan *rules, struct learned_rule_row *ret_row)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    bool has = false;
    enum err err = OK;

    while (err == OK && !has) {
        err = scan_next(&rules->scan, &key, &value);
        if (err != OK) {
            return err;
        }
        err = key_read_learned_rule(key, &ret_row->seq);
        if (err == OK) {
            err = record_decode_learned_rule(value, &ret_row->record);
        }
        if (err == OK && rules->as_of_seq != UINT64_MAX) {
            err = learned_rule_make_past(rules->txn, rules->org, rules->as_of_seq, ret_row);
            if (err == ERR_NOT_FOUND) {
                err = OK;
                continue;
            }
        }
        has = err == OK && rule_set_has(&ret_row->record);
    }
    return err;
}

static enum err begin_rules(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                            struct rule_scan *ret_rules)
{
    const struct scan_range range = {
        .table = TABLE_LEARNED_RULE, .prefix = key_org(org), .rows_max = UINT32_MAX};

    *ret_rules = (struct rule_scan){.txn = txn, .org = org, .as_of_seq = as_of_seq};
    return scan_init(&ret_rules->scan, txn, &range);
}

/* Counts the rules of a set; ERR_TOO_LARGE for more than a set takes. */
static enum err count_rules(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                            size_t *ret_count)
{
    struct learned_rule_row row;
    struct rule_scan rules;
    size_t count = 0;
    enum err err = begin_rules(txn, org, as_of_seq, &rules);

    while (err == OK) {
        err = next_rule(&rules, &row);
        count += err == OK;
        if (err == OK && count > RULE_SET_RULES_MAX) {
            err = ERR_TOO_LARGE;
        }
    }
    scan_deinit(&rules.scan);
    *ret_count = count;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Makes room for the rules and for spare ones. */
static enum err make_room(struct rule_set *set, size_t count)
{
    size_t room = count + RULE_SET_SPARE_RULES;

    set->bucket_count = RULE_SET_SPARE_RULES;
    while (set->bucket_count < room * 2) {
        set->bucket_count *= 2;
    }
    set->rules = arena_calloc(&set->arena, room, sizeof(*set->rules));
    set->by_pattern = arena_calloc(&set->arena, set->bucket_count, sizeof(*set->by_pattern));
    set->by_name = arena_calloc(&set->arena, set->bucket_count, sizeof(*set->by_name));
    set->phrase_rules = arena_calloc(&set->arena, room, sizeof(*set->phrase_rules));
    set->rule_room = room;
    return set->rules != NULL && set->by_pattern != NULL && set->by_name != NULL &&
                   set->phrase_rules != NULL
               ? OK
               : ERR_MEMORY;
}

static enum err add_rules(struct rule_set *set, struct store_txn *txn, uint64_t as_of_seq)
{
    struct learned_rule_row row;
    struct rule_scan rules;
    enum err err = begin_rules(txn, set->org, as_of_seq, &rules);

    while (err == OK) {
        err = next_rule(&rules, &row);
        if (err == OK) {
            err = rule_set_add(set, &row);
        }
    }
    scan_deinit(&rules.scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Builds the automaton of the phrases of all rules. */
static enum err build_phrases(struct rule_set *set)
{
    struct slice *items = arena_calloc(&set->arena, set->rule_count + 1, sizeof(*items));
    size_t count = 0;

    if (items == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < set->rule_count; i++) {
        if (set->rules[i].predicate.phrase.size > 0) {
            items[count] = set->rules[i].predicate.phrase;
            set->phrase_rules[count] = (uint32_t)i;
            count++;
        }
    }
    return phrases_build(&set->arena, items, count, &set->phrases);
}

/* Makes an empty set with room for rules. */
static enum err make_set(const struct rule_set *start, size_t count, struct rule_set **ret_set)
{
    struct rule_set *set = NULL;
    struct arena arena;
    enum err err = OK;

    arena_init(&arena, RULE_SET_BYTES_MAX);
    set = arena_calloc(&arena, 1, sizeof(*set));
    if (set == NULL) {
        arena_deinit(&arena);
        return ERR_MEMORY;
    }
    *set = *start;
    set->arena = arena;
    err = make_room(set, count);
    if (err != OK) {
        rule_set_free(set);
        return err;
    }
    *ret_set = set;
    return OK;
}

enum err rule_set_build(const struct slice *patterns, size_t count, uint64_t seed,
                        struct rule_set **ret_set)
{
    const struct rule_set start = {.seed = seed};
    struct rule_set *set = NULL;
    enum err err = make_set(&start, count, &set);

    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < count && err == OK; i++) {
        const struct learned_rule_row row = {
            .seq = i + 1,
            .record = {.pattern = patterns[i], .life = {.state = ARTIFACT_STATE_ACTIVE}}};

        err = rule_set_add(set, &row);
    }
    if (err == OK) {
        err = build_phrases(set);
    }
    if (err != OK) {
        rule_set_free(set);
        return err;
    }
    *ret_set = set;
    return OK;
}

/* Loads the rules after an event, UINT64_MAX: after the last one. */
static enum err load(struct store_txn *txn, const struct rule_set *start, uint64_t as_of_seq,
                     struct rule_set **ret_set)
{
    struct rule_set *set = NULL;
    size_t count = 0;
    enum err err = count_rules(txn, start->org, as_of_seq, &count);

    if (err == OK) {
        err = make_set(start, count, &set);
    }
    if (err != OK) {
        return err;
    }
    err = add_rules(set, txn, as_of_seq);
    if (err == OK) {
        err = build_phrases(set);
    }
    if (err != OK) {
        rule_set_free(set);
        return err;
    }
    *ret_set = set;
    return OK;
}

enum err rule_set_load(struct store_txn *txn, struct org_id org, uint64_t last_seq, uint64_t seed,
                       struct rule_set **ret_set)
{
    const struct rule_set start = {.org = org, .applied_seq = last_seq, .seed = seed};

    return load(txn, &start, UINT64_MAX, ret_set);
}

enum err rule_set_load_past(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                            uint64_t seed, struct rule_set **ret_set)
{
    const struct rule_set start = {.org = org, .applied_seq = as_of_seq, .seed = seed};

    return load(txn, &start, as_of_seq, ret_set);
}

/* A receipt that is being matched. */
struct matching {
    struct arena *arena;
    const struct rule_set *set;
    bool *is_matched; /* indexed by rule */
};

/* Marks the rules with this pattern. */
static void mark_pattern(struct matching *matching, struct slice pattern)
{
    const struct rule_set *set = matching->set;
    uint32_t at = set->by_pattern[bucket_of(set, pattern)];

    while (at != 0) {
        const struct scoring_rule *rule = &set->rules[at - 1];

        if (slice_equal(rule->pattern, pattern)) {
            matching->is_matched[at - 1] = true;
        }
        at = rule->same_pattern;
    }
}

/* Marks the rules whose comparison holds for a feature. */
static void mark_comparisons(struct matching *matching, struct slice name,
                             const struct feature *feature)
{
    const struct rule_set *set = matching->set;
    uint32_t at = set->by_name[bucket_of(set, name)];

    while (at != 0) {
        const struct scoring_rule *rule = &set->rules[at - 1];

        if (slice_equal(rule->predicate.name, name) && predicate_holds(&rule->predicate, feature)) {
            matching->is_matched[at - 1] = true;
        }
        at = rule->same_name;
    }
}

static enum err match_features(struct matching *matching, struct slice features)
{
    struct json_walk walk = json_walk_start(members_value_of(features));
    struct json_value value = {.kind = JSON_NULL};
    struct slice quoted = {NULL, 0};
    enum err err = OK;

    while (err == OK && json_walk_next(&walk, &quoted, &value)) {
        struct feature feature = {.kind = JSON_NULL};
        struct slice name = {NULL, 0};

        err = json_string(matching->arena, quoted, &name);
        if (err == OK) {
            err = feature_read(matching->arena, value, &feature);
        }
        if (err == OK && feature_is_set(&feature)) {
            mark_pattern(matching, name);
        }
        if (err == OK) {
            mark_comparisons(matching, name, &feature);
        }
    }
    return err;
}

static enum err match_text(struct matching *matching, struct slice text)
{
    const struct rule_set *set = matching->set;
    bool *found = arena_calloc(matching->arena, set->phrases.phrase_count + 1, sizeof(*found));
    struct slice folded = {NULL, 0};
    enum err err = found != NULL ? case_fold(matching->arena, text, &folded) : ERR_MEMORY;

    if (err != OK) {
        return err;
    }
    phrases_find(&set->phrases, folded, found);
    for (size_t i = 0; i < set->phrases.phrase_count; i++) {
        if (found[i]) {
            matching->is_matched[set->phrase_rules[i]] = true;
        }
    }
    for (size_t i = 0; i < set->new_phrase_count; i++) {
        struct slice phrase = set->rules[set->new_phrases[i]].predicate.phrase;

        if (memmem(folded.data, folded.size, phrase.data, phrase.size) != NULL) {
            matching->is_matched[set->new_phrases[i]] = true;
        }
    }
    return OK;
}

/* Lists the marked rules that are live or in SHADOW. */
static enum err list_matched(const struct matching *matching,
                             const struct scoring_rule ***ret_rules, size_t *ret_count)
{
    const struct rule_set *set = matching->set;
    const struct scoring_rule **rules = NULL;
    size_t count = 0;

    for (size_t i = 0; i < set->rule_count; i++) {
        matching->is_matched[i] =
            matching->is_matched[i] && (set->rules[i].is_live || set->rules[i].is_shadow);
        count += matching->is_matched[i];
    }
    rules = arena_calloc(matching->arena, count + 1, sizeof(const struct scoring_rule *));
    if (rules == NULL) {
        return ERR_MEMORY;
    }
    count = 0;
    for (size_t i = 0; i < set->rule_count; i++) {
        if (matching->is_matched[i]) {
            rules[count] = &set->rules[i];
            count++;
        }
    }
    *ret_rules = rules;
    *ret_count = count;
    return OK;
}

enum err rule_set_match(struct arena *arena, const struct rule_set *set,
                        const struct receipt *receipt, const struct scoring_rule ***ret_rules,
                        size_t *ret_count)
{
    struct matching matching = {
        .arena = arena,
        .set = set,
        .is_matched = arena_calloc(arena, set->rule_count + 1, sizeof(*matching.is_matched)),
    };
    enum err err = matching.is_matched != NULL ? OK : ERR_MEMORY;

    for (size_t i = 0; err == OK && i < receipt->indicator_count; i++) {
        mark_pattern(&matching, receipt->indicators[i]);
    }
    if (err == OK && receipt->features.size > 0) {
        err = match_features(&matching, receipt->features);
    }
    if (err == OK && receipt->text.size > 0 &&
        (set->phrases.phrase_count > 0 || set->new_phrase_count > 0)) {
        err = match_text(&matching, receipt->text);
    }
    return err != OK ? err : list_matched(&matching, ret_rules, ret_count);
}
