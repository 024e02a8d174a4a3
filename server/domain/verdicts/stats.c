/*
 * stats.c: see stats.h. Missed indicators are counted in a hash table with linear probing that doubles when it is half
 * full.
 */
#include "server/domain/verdicts/stats.h"

#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/records.h"
#include "store/base/assert.h"
#include "store/base/view.h"

#include <errata/v1/verdict_submission.fields.h>

/* Initial number of slots; always a power of two. */
#define SLOTS_FIRST 256
/* Submissions between two calls of is_cancelled. */
#define ROWS_BETWEEN_LOOKS 256

struct names {
    struct arena *arena;
    struct indicator_count *slots; /* count 0: empty */
    size_t slot_count;
    size_t count;
};

/* FNV-1a: names are chosen by callers of the organisation itself, so a slow table affects only its
 * own call. */
static uint64_t hash_of(struct slice name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < name.size; i++) {
        hash = (hash ^ name.data[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Returns the slot of a name, or the empty slot for it. */
static struct indicator_count *slot_of(const struct names *names, struct slice name)
{
    size_t at = (size_t)hash_of(name) & (names->slot_count - 1);

    while (names->slots[at].count != 0 && !slice_equal(names->slots[at].indicator, name)) {
        at = (at + 1) & (names->slot_count - 1);
    }
    return &names->slots[at];
}

static enum err grow(struct names *names)
{
    struct names larger = *names;

    larger.slot_count = names->slot_count == 0 ? SLOTS_FIRST : 2 * names->slot_count;
    larger.slots = arena_calloc(names->arena, larger.slot_count, sizeof(*larger.slots));
    if (larger.slots == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < names->slot_count; i++) {
        if (names->slots[i].count != 0) {
            *slot_of(&larger, names->slots[i].indicator) = names->slots[i];
        }
    }
    *names = larger;
    return OK;
}

static enum err count_name(struct names *names, struct slice name, bool *incomplete)
{
    struct indicator_count *slot = NULL;
    enum err err = 2 * names->count >= names->slot_count ? grow(names) : OK;

    if (err != OK) {
        return err;
    }
    slot = slot_of(names, name);
    if (slot->count > 0) {
        slot->count++;
        return OK;
    }
    if (names->count >= VERDICT_STATS_NAMES_MAX) {
        *incomplete = true;
        return OK;
    }
    if (!arena_copy(names->arena, name, &slot->indicator)) {
        return ERR_MEMORY;
    }
    slot->count = 1;
    names->count++;
    return OK;
}

/* Counts the missed indicators of one submission. */
static enum err count_missed(struct slice missed, struct names *names, bool *incomplete)
{
    struct slice name = {NULL, 0};
    enum err err = OK;

    while (err == OK && view_next(&missed, &name)) {
        err = count_name(names, name, incomplete);
    }
    return err;
}

static void count_verdicts(const struct verdict_record *record, struct verdict_stats *stats)
{
    bool was_real = record->original_verdict == VERDICT_REAL;
    bool was_fake = record->original_verdict == VERDICT_FAKE;

    stats->total++;
    stats->right += record->original_verdict == record->correct_verdict;
    stats->false_positives += was_fake && record->correct_verdict == VERDICT_REAL;
    stats->false_negatives += was_real && record->correct_verdict == VERDICT_FAKE;
    stats->real += record->correct_verdict == VERDICT_REAL;
    stats->fake += record->correct_verdict == VERDICT_FAKE;
    stats->suspicious += record->correct_verdict == VERDICT_SUSPICIOUS;
}

static bool is_before(const struct indicator_count *a, const struct indicator_count *b)
{
    return a->count != b->count ? a->count > b->count
                                : slice_compare(a->indicator, b->indicator) < 0;
}

/* Inserts a name into the sorted list, if it is one of the first VERDICT_STATS_TOP. */
static void rank(const struct indicator_count *name, struct verdict_stats *stats)
{
    size_t at = stats->missed_count;

    if (at == VERDICT_STATS_TOP) {
        at--;
        if (!is_before(name, &stats->missed[at])) {
            return;
        }
    } else {
        stats->missed_count++;
    }
    for (; at > 0 && is_before(name, &stats->missed[at - 1]); at--) {
        stats->missed[at] = stats->missed[at - 1];
    }
    stats->missed[at] = *name;
}

static enum err walk(struct store_txn *txn, const struct verdict_stats_query *query,
                     struct names *names, struct verdict_stats *stats)
{
    struct key prefix = key_org(query->org);
    struct store_cursor cursor = {0};
    struct verdict_record record;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t created_at_us = INT64_MAX;
    uint64_t seq = 0;
    enum err err = store_cursor_init(&cursor, txn, TABLE_VERDICT, key_slice(&prefix),
                                     slice_of(NULL, 0), STORE_ASCENDING);

    while (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK) {
            err = key_read_newest_first(key, &created_at_us, &seq);
        }
        if (err != OK || created_at_us < query->from_us) {
            break;
        }
        err = record_decode_verdict(value, &record);
        if (err == OK) {
            count_verdicts(&record, stats);
        }
        if (err == OK) {
            err = count_missed(record.missed, names, &stats->incomplete);
        }
        if (err == OK && stats->total % ROWS_BETWEEN_LOOKS == 0 &&
            query->is_cancelled(query->user)) {
            err = ERR_CANCELLED;
        }
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err verdict_stats_read(struct arena *arena, struct store_txn *txn,
                            const struct verdict_stats_query *query,
                            struct verdict_stats *ret_stats)
{
    struct names names = {.arena = arena};
    struct verdict_stats stats = {.total = 0};
    enum err err = walk(txn, query, &names, &stats);

    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < names.slot_count; i++) {
        if (names.slots[i].count > 0) {
            rank(&names.slots[i], &stats);
        }
    }
    *ret_stats = stats;
    return OK;
}

uint32_t verdict_stats_permille(const struct verdict_stats *stats)
{
    ASSERT(stats->total > 0);
    return (uint32_t)((2000 * stats->right + stats->total) / (2 * stats->total));
}
