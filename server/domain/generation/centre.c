/*
 * centre.c: see centre.h. The mean similarity to all members is the product with the sum of their themes.
 */
#include "server/domain/generation/centre.h"

#include "server/domain/decisions/decisions.h"
#include "server/domain/guidelines/proposals.h"

static void add_theme(struct slice theme, size_t width, int32_t *sum)
{
    for (size_t i = 0; i < width; i++) {
        sum[i] += decision_theme_number(theme, i);
    }
}

static int64_t compare(struct slice theme, size_t width, const int32_t *sum)
{
    int64_t product = 0;

    for (size_t i = 0; i < width; i++) {
        product += (int64_t)decision_theme_number(theme, i) * sum[i];
    }
    return product;
}

/* Returns the text of a member as a rule; empty if it cannot be one. */
static struct slice rule_of(struct arena *arena, const struct cluster_member *member)
{
    if (rule_content_is_valid(arena, member->comment)) {
        return member->comment;
    }
    return rule_content_is_valid(arena, member->summary) ? member->summary : slice_of(NULL, 0);
}

enum err centre_find_rule(struct arena *arena, const struct cluster_members *members,
                          struct slice *ret_rule)
{
    size_t bytes = members->items[0].theme.size;
    size_t width = bytes / DECISION_THEME_NUMBER_BYTES;
    int32_t *sum = arena_calloc(arena, width + 1, sizeof(*sum));
    int64_t best = INT64_MIN;

    if (sum == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < members->count; i++) {
        if (members->items[i].theme.size == bytes) {
            add_theme(members->items[i].theme, width, sum);
        }
    }
    for (size_t i = 0; i < members->count; i++) {
        const struct cluster_member *member = &members->items[i];
        struct slice rule = rule_of(arena, member);
        int64_t product =
            member->theme.size == bytes ? compare(member->theme, width, sum) : INT64_MIN + 1;

        if (rule.size > 0 && product > best) {
            best = product;
            *ret_rule = rule;
        }
    }
    return best == INT64_MIN ? ERR_NOT_FOUND : OK;
}
