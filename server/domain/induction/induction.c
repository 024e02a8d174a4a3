/*
 * induction.c: finds rules: see induction.h. The steps: list the submissions of both halves;
 * compute the deciles of numbers; collect the patterns of the targets; count all patterns on the
 * older half; try the best ones on the newer half; choose those that explain most; backtest each of
 * these.
 */
#include "server/domain/induction/induction.h"

#include "server/domain/analytics/proportions.h"
#include "server/domain/backtest/trial.h"
#include "server/domain/induction/place_set.h"
#include "server/domain/induction/terms.h"
#include "server/domain/scoring/rule_set.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/learners.h"
#include "store/scan.h"

#include <stdlib.h>

/* Memory for all tables: patterns, numbers and hits. */
#define INDUCTION_BYTES_MAX (256u << 20)
/* Memory for one submission: its text folded, and the texts of its patterns. */
#define SUBMISSION_BYTES_MAX (8u << 20)
/* Submissions between two readings of the clock. */
#define SUBMISSIONS_BETWEEN_LOOKS 64

static const enum learned_rule_type target_types[TARGET_COUNT] = {LEARNED_RULE_TYPE_FALSE_NEGATIVE,
                                                                  LEARNED_RULE_TYPE_FALSE_POSITIVE};

/* A pattern that is tried on the newer half. */
struct tried_pattern {
    const struct candidate *candidate;
    enum induction_target target;
    double rank; /* lower end of the lift's interval on the older half */
    struct place_set hit_targets; /* submissions of the newer half with the target */
    struct lift_group hits;
    uint64_t agreed;
    uint64_t disagreed;
    bool is_chosen;
};

struct induction {
    struct ctx *ctx;
    struct store_txn *txn;
    const struct induction_request *request;
    struct arena arena; /* all tables */
    struct arena scratch; /* emptied after each submission */
    int64_t end_us; /* end by the monotonic clock */
    bool is_late;
    uint64_t *seqs; /* newest first */
    size_t count;
    size_t newer_count; /* number of newer submissions, which come first */
    struct numeric_features *features;
    struct candidates candidates;
    struct lift_group all[TARGET_COUNT]; /* submissions of the half that is examined */
    struct lift_group with_text[TARGET_COUNT]; /* submissions of that half with a text */
    struct tried_pattern *tried;
    size_t tried_count;
};

/* A submission that is being examined. */
struct examined {
    struct verdict_submission_view view;
    size_t place; /* index in `seqs` */
    bool targets[TARGET_COUNT];
};

typedef enum err examine_step(struct induction *induction, const struct examined *examined,
                              void *user);

/* Lists the newest submissions. */
static enum err list_submissions(struct induction *induction)
{
    const struct scan_range range = {
        .table = TABLE_VERDICT,
        .prefix = key_org(induction->request->org),
        .rows_max = INDUCTION_SUBMISSIONS_MAX,
    };
    struct scan scan = {.rows_max = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t created_at_us = 0;
    enum err err = OK;

    induction->seqs =
        arena_calloc(&induction->arena, INDUCTION_SUBMISSIONS_MAX, sizeof(*induction->seqs));
    if (induction->seqs == NULL) {
        return ERR_MEMORY;
    }
    err = scan_init(&scan, induction->txn, &range);
    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_newest_first(key, &created_at_us, &induction->seqs[induction->count]);
        }
        induction->count += err == OK;
    }
    scan_deinit(&scan);
    induction->newer_count = induction->count / 2;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Ends the examination if it was cancelled, and marks it if its time is over. */
static enum err look(struct induction *induction)
{
    if (induction->request->is_cancelled(induction->request->user)) {
        return ERR_CANCELLED;
    }
    induction->is_late = clock_monotonic_us(induction->ctx->clock) > induction->end_us;
    return OK;
}

static enum err examine(struct induction *induction, size_t place, examine_step *step, void *user)
{
    struct examined examined = {.place = place};
    const struct verdict_submission_view *view = &examined.view;
    struct event event;
    enum err err =
        log_read(induction->txn, induction->request->org, induction->seqs[place], &event);

    if (err == OK) {
        err = view_read_parts(&verdict_submission_view_type, event.facts, event.content,
                              &examined.view);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    examined.targets[TARGET_FALSE_NEGATIVE] =
        view->original_verdict == VERDICT_REAL && view->correct_verdict == VERDICT_FAKE;
    examined.targets[TARGET_FALSE_POSITIVE] =
        view->original_verdict == VERDICT_FAKE && view->correct_verdict == VERDICT_REAL;
    err = step(induction, &examined, user);
    arena_reset(&induction->scratch);
    return err;
}

/* Examines the submissions from `from` to before `to`; stops early when the time is over. */
static enum err examine_range(struct induction *induction, size_t from, size_t to,
                              examine_step *step, void *user)
{
    enum err err = OK;

    for (size_t i = from; i < to && err == OK && !induction->is_late; i++) {
        err = i % SUBMISSIONS_BETWEEN_LOOKS == 0 ? look(induction) : OK;
        if (err == OK) {
            err = examine(induction, i, step, user);
        }
    }
    return err;
}

static enum err examine_older(struct induction *induction, examine_step *step)
{
    return examine_range(induction, induction->newer_count, induction->count, step, NULL);
}

static enum err add_numbers(struct induction *induction, const struct examined *examined,
                            void *user)
{
    (void)user;
    return numeric_features_add(induction->features, &induction->arena, &induction->scratch,
                                &examined->view);
}

static enum err add_term(void *user, struct slice pattern)
{
    return candidates_add(&((struct induction *)user)->candidates, pattern);
}

/* Adds the patterns of a submission with a target. */
static enum err add_terms(struct induction *induction, const struct examined *examined, void *user)
{
    (void)user;
    if (!examined->targets[TARGET_FALSE_NEGATIVE] && !examined->targets[TARGET_FALSE_POSITIVE]) {
        return OK;
    }
    return terms_visit(induction->features, &induction->scratch, &examined->view, add_term,
                       induction);
}

/* A submission whose patterns are counted. */
struct counting {
    struct induction *induction;
    const struct examined *examined;
};

static enum err count_term(void *user, struct slice pattern)
{
    const struct counting *counting = user;

    candidates_count(&counting->induction->candidates, pattern, (uint32_t)counting->examined->place,
                     counting->examined->targets);
    return OK;
}

static void count_submission(struct induction *induction, const struct examined *examined)
{
    for (int target = 0; target < TARGET_COUNT; target++) {
        induction->all[target].cases++;
        induction->all[target].targets += examined->targets[target];
        if (examined->view.text.size > 0) {
            induction->with_text[target].cases++;
            induction->with_text[target].targets += examined->targets[target];
        }
    }
}

static enum err count_terms(struct induction *induction, const struct examined *examined,
                            void *user)
{
    struct counting counting = {induction, examined};

    (void)user;
    count_submission(induction, examined);
    return terms_visit(induction->features, &induction->scratch, &examined->view, count_term,
                       &counting);
}

/* Computes the lift of hits on the half that was counted last; submissions without a text are not
 * counted for a phrase. Returns false if the lift is undefined. */
static bool compute_lift(const struct induction *induction, struct slice pattern,
                         enum induction_target target, const struct lift_group *hits,
                         struct lift_group *ret_others, struct lift *ret_lift)
{
    const struct lift_group *all = slice_starts_with(pattern, SLICE("text:"))
                                       ? &induction->with_text[target]
                                       : &induction->all[target];

    /* A phrase may also be an indicator of a submission without a text. */
    ret_others->cases = all->cases > hits->cases ? all->cases - hits->cases : 0;
    ret_others->targets = all->targets > hits->targets ? all->targets - hits->targets : 0;
    if (ret_others->targets > ret_others->cases) {
        ret_others->targets = ret_others->cases;
    }
    return lift_of(hits, ret_others, ret_lift);
}

/* Orders by rank, the best first, then by pattern. */
static int compare_tried(const void *a, const void *b)
{
    const struct tried_pattern *left = a;
    const struct tried_pattern *right = b;

    if (left->rank != right->rank) {
        return left->rank > right->rank ? -1 : 1;
    }
    return slice_compare(left->candidate->pattern, right->candidate->pattern);
}

/* Lists the patterns that are found for one target on the older half, and keeps the best ones. */
static enum err choose_for_target(struct induction *induction, enum induction_target target)
{
    const struct candidates *candidates = &induction->candidates;
    struct tried_pattern *listed =
        arena_calloc(&induction->arena, (size_t)candidates->count + 1, sizeof(*listed));
    size_t count = 0;

    if (listed == NULL) {
        return ERR_MEMORY;
    }
    for (uint32_t i = 0; i < candidates->count; i++) {
        const struct candidate *candidate = &candidates->items[i];
        const struct lift_group hits = {candidate->targets[target], candidate->hits};
        struct lift_group others;
        struct lift lift;

        if (candidate->hits >= INDUCTION_HITS_MIN &&
            compute_lift(induction, candidate->pattern, target, &hits, &others, &lift) &&
            lift.low > 1) {
            listed[count] =
                (struct tried_pattern){.candidate = candidate, .target = target, .rank = lift.low};
            count++;
        }
    }
    qsort(listed, count, sizeof(*listed), compare_tried);
    for (size_t i = 0; i < count && i < INDUCTION_PREDICATES_MAX / TARGET_COUNT; i++) {
        induction->tried[induction->tried_count] = listed[i];
        induction->tried_count++;
    }
    return OK;
}

/* Chooses the patterns that are tried on the newer half, with room for their hits. */
static enum err choose_tried(struct induction *induction)
{
    enum err err = OK;

    induction->tried =
        arena_calloc(&induction->arena, INDUCTION_PREDICATES_MAX, sizeof(*induction->tried));
    if (induction->tried == NULL) {
        return ERR_MEMORY;
    }
    for (int target = 0; target < TARGET_COUNT && err == OK; target++) {
        err = choose_for_target(induction, (enum induction_target)target);
    }
    for (size_t i = 0; i < induction->tried_count && err == OK; i++) {
        err = place_set_init(&induction->tried[i].hit_targets, &induction->arena,
                             induction->newer_count);
    }
    return err;
}

static enum err list_indicators(struct arena *arena, const struct verdict_submission_view *view,
                                struct receipt *receipt)
{
    struct slice runs[2] = {view->confirmed_indicators.run, view->rejected_indicators.run};
    struct slice *indicators = arena_calloc(arena, 2 * VERDICT_INDICATORS_MAX, sizeof(*indicators));
    struct slice indicator = {NULL, 0};

    if (indicators == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < 2; i++) {
        while (receipt->indicator_count < (size_t)2 * VERDICT_INDICATORS_MAX &&
               view_next(&runs[i], &indicator)) {
            indicators[receipt->indicator_count] = indicator;
            receipt->indicator_count++;
        }
    }
    receipt->indicators = indicators;
    return OK;
}

static void count_hit(struct tried_pattern *tried, const struct examined *examined)
{
    bool says_fake = tried->target == TARGET_FALSE_NEGATIVE;
    enum verdict correct = examined->view.correct_verdict;

    tried->hits.cases++;
    tried->agreed += correct == (says_fake ? VERDICT_FAKE : VERDICT_REAL);
    tried->disagreed += correct == (says_fake ? VERDICT_REAL : VERDICT_FAKE);
    if (examined->targets[tried->target]) {
        tried->hits.targets++;
        place_set_add(&tried->hit_targets, examined->place);
    }
}

/* Reads the values on which gates depend; a gate whose value is missing is open. */
static enum err read_context(const struct verdict_submission_view *view,
                             struct score_context *ret_context)
{
    struct document_profile_view profile = {.has_confidence = false};
    enum err err = view->has_document_profile
                       ? document_profile_view_read(view->document_profile, &profile)
                       : OK;

    *ret_context = (struct score_context){
        .missing_fields_enabled = !view->has_missing_fields_enabled || view->missing_fields_enabled,
        .profile_confidence = 1,
        .profile_subtype = profile.subtype,
    };
    return err;
}

/* Tries all patterns on one submission of the newer half; `user` is their set. */
static enum err try_patterns(struct induction *induction, const struct examined *examined,
                             void *user)
{
    const struct rule_set *set = user;
    struct receipt receipt = {.features = examined->view.original_features_json,
                              .text = examined->view.text};
    const struct scoring_rule **rules = NULL;
    struct score_context context;
    size_t count = 0;
    enum err err = list_indicators(&induction->scratch, &examined->view, &receipt);

    count_submission(induction, examined);
    if (err == OK) {
        err = read_context(&examined->view, &context);
    }
    if (err == OK) {
        err = rule_set_match(&induction->scratch, set, &receipt, &rules, &count);
    }
    for (size_t i = 0; i < count && err == OK; i++) {
        struct score_weight weight = score_weigh(VERDICT_UNIT, rules[i]->gates, &context);

        if (weight.suppressed_by == SCORE_GATE_UNSPECIFIED) {
            count_hit(&induction->tried[rules[i] - set->rules], examined);
        }
    }
    return err;
}

static enum err try_all(struct induction *induction)
{
    struct slice *patterns =
        arena_calloc(&induction->arena, induction->tried_count + 1, sizeof(*patterns));
    struct rule_set *set = NULL;
    enum err err = patterns != NULL ? OK : ERR_MEMORY;

    for (size_t i = 0; i < induction->tried_count && err == OK; i++) {
        patterns[i] = induction->tried[i].candidate->pattern;
    }
    for (int target = 0; target < TARGET_COUNT; target++) {
        induction->all[target] = (struct lift_group){0, 0};
        induction->with_text[target] = (struct lift_group){0, 0};
    }
    if (err == OK) {
        err = rule_set_build(patterns, induction->tried_count, induction->request->seed, &set);
    }
    if (err == OK) {
        err = examine_range(induction, 0, induction->newer_count, try_patterns, set);
    }
    rule_set_free(set);
    return err;
}

/* Returns how much a pattern explains beyond the chosen ones: the number of its new targets, times
 * the lower end of the interval of its precision; 0 if too few are new. */
static double value_of(const struct tried_pattern *tried, const struct place_set *explained)
{
    const struct proportion right = {tried->agreed, tried->agreed + tried->disagreed};
    uint64_t count = place_set_count_new(&tried->hit_targets, explained, tried->hits.targets);
    struct proportion_interval interval;

    if (count == 0 || !proportion_interval_of(&right, &interval)) {
        return 0;
    }
    return (double)count * interval.low;
}

/* Returns whether the lift of a pattern holds on the newer half. */
static bool holds(const struct induction *induction, const struct tried_pattern *tried,
                  struct found_rule *ret_rule)
{
    struct found_rule rule = {
        .target = tried->target, .pattern = tried->candidate->pattern, .hits = tried->hits};

    if (tried->hits.cases < INDUCTION_HITS_MIN ||
        !compute_lift(induction, rule.pattern, rule.target, &rule.hits, &rule.others, &rule.lift)) {
        return false;
    }
    *ret_rule = rule;
    return rule.lift.low > INDUCTION_LIFT_MIN;
}

/* Drops the patterns whose lift does not hold, and those that are rules already. */
static enum err drop_failed(struct induction *induction)
{
    size_t kept = 0;
    enum err err = OK;

    for (size_t i = 0; i < induction->tried_count && err == OK; i++) {
        const struct tried_pattern *tried = &induction->tried[i];
        struct learned_rule_row row;
        struct found_rule rule;

        if (!holds(induction, tried, &rule)) {
            continue;
        }
        err = learned_rule_find(induction->txn, induction->request->org, rule.pattern,
                                target_types[rule.target], &row);
        if (err == ERR_NOT_FOUND) {
            induction->tried[kept] = *tried;
            kept++;
            err = OK;
        }
    }
    induction->tried_count = kept;
    return err;
}

/* Returns the pattern that explains most, of equal ones the first; NULL if none explains anything new. */
static struct tried_pattern *find_best(struct induction *induction,
                                       const struct place_set explained[TARGET_COUNT])
{
    struct tried_pattern *best = NULL;
    double best_value = 0;

    for (size_t i = 0; i < induction->tried_count; i++) {
        struct tried_pattern *tried = &induction->tried[i];
        double value = tried->is_chosen ? 0 : value_of(tried, &explained[tried->target]);

        if (value > best_value) {
            best = tried;
            best_value = value;
        }
    }
    return best;
}

/* Chooses the rules one by one, each time the one that explains most. */
static enum err choose_rules(struct induction *induction, struct found_rules *found)
{
    struct place_set explained[TARGET_COUNT];
    struct tried_pattern *best = NULL;
    enum err err = OK;

    for (int target = 0; target < TARGET_COUNT && err == OK; target++) {
        err = place_set_init(&explained[target], &induction->arena, induction->newer_count);
    }
    if (err != OK) {
        return err;
    }
    while (found->count < induction->request->rules_max &&
           (best = find_best(induction, explained)) != NULL) {
        struct found_rule *rule = &found->items[found->count];

        best->is_chosen = true;
        (void)holds(induction, best, rule);
        place_set_add_all(&explained[best->target], &best->hit_targets);
        found->count++;
        if (!arena_copy(induction->ctx->arena, rule->pattern, &rule->pattern)) {
            return ERR_MEMORY;
        }
    }
    return OK;
}

/* The rules that are being backtested. */
struct testing {
    struct found_rules *found;
    struct rule_trial trials[INDUCTION_RULES_MAX];
};

static void count_result(const struct verdict_submission_view *view,
                         const struct rule_trial_result *result, struct found_rule *rule)
{
    bool is_flip = result->before != result->after;

    rule->backtest_hits++;
    rule->agreements += result->agrees;
    rule->false_alarms += result->disagrees;
    rule->flips_right += is_flip && result->after == view->correct_verdict;
    rule->flips_wrong += is_flip && result->before == view->correct_verdict;
}

static enum err test_submission(struct induction *induction, const struct examined *examined,
                                void *user)
{
    struct testing *testing = user;
    struct tried_submission tried = {.view = &examined->view, .scratch = &induction->scratch};
    enum err err = OK;

    for (size_t i = 0; i < testing->found->count && err == OK; i++) {
        struct rule_trial_result result;

        err = rule_trial_run(&testing->trials[i], &tried, &induction->request->thresholds, &result);
        if (err == OK && result.fires) {
            count_result(&examined->view, &result, &testing->found->items[i]);
        }
    }
    return err;
}

static enum err test_rules(struct induction *induction, struct found_rules *found)
{
    struct testing *testing = arena_calloc(&induction->arena, 1, sizeof(*testing));
    enum err err = testing != NULL ? OK : ERR_MEMORY;

    for (size_t i = 0; i < found->count && err == OK; i++) {
        const struct found_rule *rule = &found->items[i];
        enum learned_rule_type type = target_types[rule->target];

        err = rule_trial_init(&induction->arena, type, rule->pattern,
                              learner_of_type(type)->adjustment, &testing->trials[i]);
    }
    if (err == OK && found->count > 0) {
        testing->found = found;
        err = examine_range(induction, 0, induction->count, test_submission, testing);
    }
    return err;
}

static enum err count_older(struct induction *induction)
{
    enum err err = examine_older(induction, add_numbers);

    if (err == OK) {
        numeric_features_compute(induction->features);
        err = examine_older(induction, add_terms);
    }
    return err != OK ? err : examine_older(induction, count_terms);
}

static enum err find(struct induction *induction, struct found_rules *found)
{
    enum err err = list_submissions(induction);

    if (err == OK) {
        induction->features = arena_calloc(&induction->arena, 1, sizeof(*induction->features));
        err = induction->features != NULL
                  ? candidates_init(&induction->candidates, &induction->arena,
                                    induction->request->seed)
                  : ERR_MEMORY;
    }
    if (err == OK) {
        found->submissions = induction->count;
        induction->features->room = induction->count - induction->newer_count;
        err = count_older(induction);
    }
    if (err == OK) {
        err = choose_tried(induction);
    }
    if (err == OK) {
        err = try_all(induction);
    }
    /* Partial counts would be wrong, so nothing is found if the time did not suffice. */
    if (err != OK || induction->is_late) {
        return err;
    }
    err = drop_failed(induction);
    if (err == OK) {
        err = choose_rules(induction, found);
    }
    return err != OK ? err : test_rules(induction, found);
}

enum err induction_find(struct ctx *ctx, struct store_txn *txn,
                        const struct induction_request *request, struct found_rules *ret_found)
{
    struct induction induction = {
        .ctx = ctx,
        .txn = txn,
        .request = request,
        .end_us = clock_monotonic_us(ctx->clock) + INDUCTION_TIME_US,
    };
    struct log_head head;
    enum err err = log_read_head(txn, request->org, &head);

    *ret_found = (struct found_rules){.count = 0};
    if (err != OK) {
        return err;
    }
    ret_found->as_of_seq = head.last_seq;
    arena_init(&induction.arena, INDUCTION_BYTES_MAX);
    arena_init(&induction.scratch, SUBMISSION_BYTES_MAX);
    err = find(&induction, ret_found);
    if (err == OK && induction.is_late) {
        err = fault_say(ctx->fault, ERR_BUSY,
                        "server: too busy to examine the submissions within 30 s; expected another "
                        "attempt after the given delay");
    }
    arena_deinit(&induction.scratch);
    arena_deinit(&induction.arena);
    return err;
}
