/*
 * clusters.c: see clusters.h. The value of a cluster's row is the number of members 4, and for each number of a theme its
 * sum 4, big-endian; themes are stored in the same way, with 2 bytes for each number.
 */
#include "server/domain/decisions/clusters.h"

#include "server/domain/conflicts/conflicts.h"
#include "server/domain/decisions/decisions.h"
#include "server/domain/decisions/keys.h"
#include "store/base/bytes.h"
#include "store/scan.h"

#define COUNT_BYTES 4
#define SUM_BYTES 4
#define US_PER_DAY 86400000000.0

static int32_t sum_at(struct slice value, size_t index)
{
    return (int32_t)bytes_get_be32(value.data + COUNT_BYTES + index * SUM_BYTES);
}

/* Returns the mean cosine of a theme and the members of a cluster; below -1 if the row has another width. */
static double compare(const struct theme *theme, struct slice value)
{
    uint32_t count = value.size >= COUNT_BYTES ? bytes_get_be32(value.data) : 0;
    int64_t product = 0;

    if (count == 0 || value.size != COUNT_BYTES + theme->width * SUM_BYTES) {
        return -2;
    }
    for (size_t i = 0; i < theme->width; i++) {
        product += (int64_t)theme->numbers[i] * sum_at(value, i);
    }
    return (double)product / ((double)THEME_SCALE * THEME_SCALE * (double)count);
}

enum err cluster_find(struct store_txn *txn, const struct cluster_space *space,
                      const struct theme *theme, uint64_t *ret_seq)
{
    const struct scan_range range = {
        .table = TABLE_DECISION_CLUSTER,
        .prefix = key_decision_cluster_prefix(space->org, space->agent, space->space),
        .order = STORE_ASCENDING,
        .rows_max = CLUSTERS_COMPARED_MAX};
    struct scan scan = {0};
    double best = THEME_SAME_SHOWN;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    *ret_seq = 0;
    while (err == OK) {
        double shown = 0;
        uint64_t seq = 0;

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_decision_seq(key, &seq);
        }
        if (err != OK) {
            break;
        }
        shown = theme_show(space->kind, compare(theme, value));
        if (shown >= best && (*ret_seq == 0 || shown > best)) {
            best = shown;
            *ret_seq = seq;
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err read_member(struct arena *arena, struct store_txn *txn, struct org_id org,
                            uint64_t seq, struct cluster_member *ret_member)
{
    struct decision_theme theme;
    struct decision_view view;
    struct event event;
    enum err err = decision_read(txn, org, seq, &event, &view);

    if (err == OK) {
        err = decision_theme_read(&view, &theme);
    }
    if (err != OK) {
        return err;
    }
    *ret_member = (struct cluster_member){
        .seq = seq,
        .id = view.id,
        .reviewer = view.reviewer_id,
        .task = view.task_id,
        .epic = view.epic_id,
        .agent = view.agent_name,
        .words = decision_words(arena, view.reviewer_comment, view.correction_summary),
        .comment = view.reviewer_comment,
        .summary = view.correction_summary,
        .theme = theme.numbers,
        .cluster_seq = view.cluster_seq,
        .outcome = view.decision,
        .created_at_us = event.created_at_us,
        .is_change = view.decision != DECISION_OUTCOME_APPROVED,
    };
    return OK;
}

enum err cluster_members_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                              uint64_t cluster_seq, struct cluster_members *ret_members)
{
    const struct scan_range range = {.table = TABLE_DECISION_MEMBER,
                                     .prefix = key_decision_member_prefix(org, cluster_seq),
                                     .order = STORE_ASCENDING,
                                     .rows_max = CLUSTER_MEMBERS_MAX};
    struct scan scan = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = OK;

    ret_members->count = 0;
    ret_members->items = arena_calloc(arena, CLUSTER_MEMBERS_MAX + 1, sizeof(*ret_members->items));
    err = ret_members->items != NULL ? scan_init(&scan, txn, &range) : ERR_MEMORY;
    while (err == OK && ret_members->count < CLUSTER_MEMBERS_MAX) {
        uint64_t seq = 0;

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_decision_seq(key, &seq);
        }
        if (err == OK) {
            err = read_member(arena, txn, org, seq, &ret_members->items[ret_members->count]);
            ret_members->count += err == OK ? 1 : 0;
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err cluster_members_of(struct arena *arena, struct store_txn *txn, struct org_id org,
                            const uint64_t *seqs, size_t count, struct cluster_members *ret_members)
{
    enum err err = OK;

    ret_members->count = 0;
    ret_members->items = arena_calloc(arena, CLUSTER_MEMBERS_MAX + 1, sizeof(*ret_members->items));
    if (ret_members->items == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < count && i < CLUSTER_MEMBERS_MAX && err == OK; i++) {
        err = read_member(arena, txn, org, seqs[i], &ret_members->items[i]);
        ret_members->count += err == OK ? 1 : 0;
    }
    return err;
}

enum err clusters_high_read(struct store_txn *txn, struct org_id org, uint64_t before_seq,
                            size_t max, uint64_t *ret_seqs, size_t *ret_count)
{
    struct key after = key_decision_high(org, before_seq);
    const struct scan_range range = {.table = TABLE_DECISION_HIGH,
                                     .prefix = key_org(org),
                                     .order = STORE_ASCENDING,
                                     .after =
                                         before_seq != 0 ? key_slice(&after) : slice_of(NULL, 0),
                                     .rows_max = (uint32_t)max};
    struct scan scan = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    *ret_count = 0;
    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_decision_seq(key, &ret_seqs[*ret_count]);
        }
        *ret_count += err == OK ? 1 : 0;
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Returns whether no earlier member has the value at this offset; an empty one counts as a value too. */
static bool is_new(const struct cluster_members *members, size_t index, size_t offset)
{
    struct slice value;

    memcpy(&value, (const uint8_t *)&members->items[index] + offset, sizeof(value));
    for (size_t i = 0; i < index; i++) {
        struct slice other;

        memcpy(&other, (const uint8_t *)&members->items[i] + offset, sizeof(other));
        if (slice_equal(value, other)) {
            return false;
        }
    }
    return true;
}

static enum err find_contradiction(struct arena *arena, const struct cluster_members *members,
                                   bool *ret_found)
{
    struct rule_parts *parts = arena_calloc(arena, members->count + 1, sizeof(*parts));
    enum err err = parts != NULL ? OK : ERR_MEMORY;

    for (size_t i = 0; i < members->count && err == OK && !*ret_found; i++) {
        err = rule_parts_read(arena, members->items[i].words, &parts[i]);
        for (size_t j = 0; j < i && err == OK && !*ret_found; j++) {
            *ret_found = rule_parts_oppose(&parts[i], &parts[j]);
        }
    }
    return err;
}

enum err cluster_support(struct arena *arena, const struct cluster_members *members, int64_t now_us,
                         struct evaluator_support *ret_support)
{
    struct evaluator_support support = {.members = (uint32_t)members->count};
    double age_us = 0;
    enum err err = OK;

    for (size_t i = 0; i < members->count; i++) {
        support.reviewers += is_new(members, i, offsetof(struct cluster_member, reviewer)) ? 1 : 0;
        support.tasks += is_new(members, i, offsetof(struct cluster_member, task)) ? 1 : 0;
        support.epics += is_new(members, i, offsetof(struct cluster_member, epic)) ? 1 : 0;
        support.changes += members->items[i].is_change ? 1 : 0;
        age_us += members->items[i].created_at_us < now_us
                      ? (double)(now_us - members->items[i].created_at_us)
                      : 0;
    }
    if (members->count > 0) {
        support.age_days = age_us / US_PER_DAY / (double)members->count;
    }
    err = find_contradiction(arena, members, &support.contradicts);
    *ret_support = support;
    return err;
}

enum err cluster_add(struct arena *arena, struct store_txn *txn, const struct cluster_space *space,
                     uint64_t cluster_seq, struct slice theme)
{
    struct key key = key_decision_cluster(space->org, space->agent, space->space, cluster_seq);
    size_t width = theme.size / DECISION_THEME_NUMBER_BYTES;
    size_t size = COUNT_BYTES + width * SUM_BYTES;
    uint8_t *row = arena_calloc(arena, 1, size);
    struct slice value = {NULL, 0};
    enum err err =
        row != NULL ? store_get(txn, TABLE_DECISION_CLUSTER, key_slice(&key), &value) : ERR_MEMORY;

    if (err == OK && value.size != size) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        memcpy(row, value.data, size);
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    bytes_put_be32(row, bytes_get_be32(row) + 1);
    for (size_t i = 0; i < width; i++) {
        uint8_t *place = row + COUNT_BYTES + i * SUM_BYTES;
        uint32_t number = (uint32_t)(int32_t)decision_theme_number(theme, i);

        bytes_put_be32(place, bytes_get_be32(place) + number);
    }
    return store_put(txn, TABLE_DECISION_CLUSTER, key_slice(&key), slice_of(row, size));
}

enum err cluster_subtract(struct arena *arena, struct store_txn *txn,
                          const struct cluster_space *space, uint64_t cluster_seq,
                          struct slice theme)
{
    struct key key = key_decision_cluster(space->org, space->agent, space->space, cluster_seq);
    size_t width = theme.size / DECISION_THEME_NUMBER_BYTES;
    size_t size = COUNT_BYTES + width * SUM_BYTES;
    uint8_t *row = arena_calloc(arena, 1, size);
    struct slice value = {NULL, 0};
    uint32_t count = 0;
    enum err err =
        row != NULL ? store_get(txn, TABLE_DECISION_CLUSTER, key_slice(&key), &value) : ERR_MEMORY;

    if (err != OK || value.size != size) {
        return err == OK || err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    memcpy(row, value.data, size);
    count = bytes_get_be32(row);
    if (count <= 1) {
        return count == 0 ? ERR_CORRUPT : store_del(txn, TABLE_DECISION_CLUSTER, key_slice(&key));
    }
    bytes_put_be32(row, count - 1);
    for (size_t i = 0; i < width; i++) {
        uint8_t *place = row + COUNT_BYTES + i * SUM_BYTES;
        uint32_t number = (uint32_t)(int32_t)decision_theme_number(theme, i);

        bytes_put_be32(place, bytes_get_be32(place) - number);
    }
    return store_put(txn, TABLE_DECISION_CLUSTER, key_slice(&key), slice_of(row, size));
}
