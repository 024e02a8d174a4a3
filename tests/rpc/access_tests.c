/*
 * access_tests.c: the permissions of callers: tokens and roles.
 */
#include "tests/rpc/fixture.h"

#include "server/domain/admin/token_use.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Permissions of methods by role, one letter each: Viewer, Operator, Reviewer, Service, Integrator,
 * Admin. Maintained by hand, independently of the options that the server uses. */
static const struct {
    const char *path;
    const char *roles;
} allowed[] = {
    {"/errata.v1.AdminService/CreateOrganization", "A"},
    {"/errata.v1.AdminService/CreateToken", "A"},
    {"/errata.v1.AdminService/DeleteOrganization", "A"},
    {"/errata.v1.AdminService/GetServerInfo", "A"},
    {"/errata.v1.AdminService/GetSettings", "A"},
    {"/errata.v1.AdminService/ListOrganizations", "A"},
    {"/errata.v1.AdminService/ListTokens", "A"},
    {"/errata.v1.AdminService/ListAudit", "A"},
    {"/errata.v1.AdminService/RevokeToken", "A"},
    {"/errata.v1.AdminService/RotateToken", "A"},
    {"/errata.v1.AdminService/PreviewRetention", "A"},
    {"/errata.v1.AdminService/ResumeOrganization", "A"},
    {"/errata.v1.AdminService/SuspendOrganization", "A"},
    {"/errata.v1.AdminService/SetQuota", "A"},
    {"/errata.v1.AdminService/ListQuotas", "A"},
    {"/errata.v1.AdminService/EraseContent", "A"},
    {"/errata.v1.AdminService/UpdateSettings", "A"},
    {"/errata.v1.AdminService/Verify", "A"},
    {"/errata.v1.AdminService/Backup", "A"},
    {"/errata.v1.AnalyticsService/GetExperimentReport", "IA"},
    {"/errata.v1.AnalyticsService/GetLearningAnalytics", "IA"},
    {"/errata.v1.AnalyticsService/ListLayoutCoverage", "IA"},
    {"/errata.v1.FeedbackService/BatchCaptureFeedbackEvents", "IA"},
    {"/errata.v1.FeedbackService/CaptureFeedbackEvent", "ORSIA"},
    {"/errata.v1.PromptService/GetExamples", "ORSA"},
    {"/errata.v1.FeedbackService/GetFeedbackEvent", "VORSIA"},
    {"/errata.v1.PromptService/GetPromptTemplate", "VORSIA"},
    {"/errata.v1.FeedbackService/ListFeedbackEvents", "VORSIA"},
    {"/errata.v1.PromptService/ListPromptTemplates", "VORSIA"},
    {"/errata.v1.PromptService/PreparePrompt", "ORSA"},
    {"/errata.v1.PromptService/PutPromptTemplate", "RA"},
    {"/errata.v1.ReviewService/SubmitReview", "ORSIA"},
    {"/errata.v1.ReviewService/GetReview", "VORSIA"},
    {"/errata.v1.ReviewService/ListReviews", "VORSIA"},
    {"/errata.v1.ReviewService/GetRun", "VORSIA"},
    {"/errata.v1.ReviewService/GetTriggers", "VORSIA"},
    {"/errata.v1.ReviewService/GetAgentCard", "VORSIA"},
    {"/errata.v1.ReviewService/SetTriggerThresholds", "A"},
    {"/errata.v1.ReviewService/PutItem", "ORSIA"},
    {"/errata.v1.ReviewService/PutFragmentSet", "ORSA"},
    {"/errata.v1.ReviewService/ApproveFragmentSet", "RA"},
    {"/errata.v1.ReviewService/ListFragmentSets", "VORSIA"},
    {"/errata.v1.DecisionService/RecordDecision", "ORSIA"},
    {"/errata.v1.DecisionService/GetDecision", "VORSIA"},
    {"/errata.v1.DecisionService/ListDecisions", "VORSIA"},
    {"/errata.v1.DecisionService/ListAgentDecisions", "VORSIA"},
    {"/errata.v1.DecisionService/Evaluate", "ORSA"},
    {"/errata.v1.DecisionService/SubmitEvaluation", "ORSA"},
    {"/errata.v1.DecisionService/OverrideEvaluation", "RA"},
    {"/errata.v1.DecisionService/GetEvaluatorReport", "RIA"},
    {"/errata.v1.DecisionService/GetReviewerReport", "RIA"},
    {"/errata.v1.DecisionService/FindSimilar", "ORSA"},
    {"/errata.v1.DecisionService/ListDeadLetters", "IA"},
    {"/errata.v1.DecisionService/RetryDeadLetter", "IA"},
    {"/errata.v1.GuidelineService/ProposeGuideline", "ORSA"},
    {"/errata.v1.GuidelineService/GenerateProposal", "ORSA"},
    {"/errata.v1.GuidelineService/CheckConflicts", "ORSA"},
    {"/errata.v1.GuidelineService/GetProposal", "VORSIA"},
    {"/errata.v1.GuidelineService/ListPendingProposals", "VORSIA"},
    {"/errata.v1.GuidelineService/ApproveProposal", "RA"},
    {"/errata.v1.GuidelineService/ApproveProposals", "RA"},
    {"/errata.v1.GuidelineService/RejectProposal", "RA"},
    {"/errata.v1.GuidelineService/RetractVote", "RA"},
    {"/errata.v1.GuidelineService/ListActiveGuidelines", "VORSIA"},
    {"/errata.v1.GuidelineService/GetGuidelineEffectiveness", "VORSIA"},
    {"/errata.v1.GuidelineService/RetireGuideline", "RA"},
    {"/errata.v1.GuidelineService/BuildAgentPrompt", "ORSA"},
    {"/errata.v1.ReviewService/ResolvePlaceholders", "ORSA"},
    {"/errata.v1.TurnService/RecordTurn", "ORSIA"},
    {"/errata.v1.TurnService/DetectFeedback", "ORSIA"},
    {"/errata.v1.TurnService/GetTurn", "VORSIA"},
    {"/errata.v1.TurnService/ListTurns", "VORSIA"},
    {"/errata.v1.TurnService/SearchStrategies", "ORSA"},
    {"/errata.v1.TurnService/GetSession", "VORSIA"},
    {"/errata.v1.AdminService/ExportOrganization", "A"},
    {"/errata.v1.AdminService/ImportOrganization", "A"},
    {"/errata.v1.TurnService/GetSatisfaction", "VORSIA"},
    {"/errata.v1.TurnService/SetFeedback", "RA"},
    {"/errata.v1.TurnService/GetDetectorReport", "RIA"},
    {"/errata.v1.VerdictService/SubmitVerdict", "ORSIA"},
    {"/errata.v1.VerdictService/ScoreDocument", "ORSA"},
    {"/errata.v1.VerdictService/GetVerdictStats", "ORIA"},
    {"/errata.v1.VerdictService/GetLearnedRule", "VORSIA"},
    {"/errata.v1.VerdictService/ListLearnedRules", "VORSIA"},
    {"/errata.v1.VerdictService/SetLearnedRuleEnabled", "RA"},
    {"/errata.v1.VerdictService/ListSuggestedWeights", "RIA"},
    {"/errata.v1.VerdictService/ApplySuggestedWeights", "RA"},
    {"/errata.v1.VerdictService/ProposeRules", "RIA"},
    {"/errata.v1.VerdictService/ExportLearnedRules", "IA"},
    {"/errata.v1.VerdictService/ImportLearnedRules", "IA"},
    {"/errata.v1.VerdictService/ExportLabels", "IA"},
    {"/errata.v1.ExtractionService/RecordExtraction", "ORSIA"},
    {"/errata.v1.LearningService/ExplainExposure", "ORSA"},
    {"/errata.v1.LearningService/GetArtifactReport", "RIA"},
    {"/errata.v1.LearningService/GetRuleSetReport", "RIA"},
    {"/errata.v1.LearningService/ProposeArtifact", "ORSA"},
    {"/errata.v1.LearningService/SetArtifactState", "RA"},
    {"/errata.v1.LearningService/Backtest", "RIA"},
    {"/errata.v1.LayoutService/ComputeFingerprint", "ORSA"},
    {"/errata.v1.LayoutService/GetDocument", "VORSIA"},
    {"/errata.v1.LayoutService/GetFamily", "VORSIA"},
    {"/errata.v1.LayoutService/GetNearestFamilies", "VORSIA"},
    {"/errata.v1.LayoutService/GetProfile", "VORSIA"},
    {"/errata.v1.LayoutService/IngestDocument", "ORSIA"},
    {"/errata.v1.LayoutService/IngestDocumentStream", "ORSIA"},
    {"/errata.v1.LayoutService/ListDocuments", "VORSIA"},
    {"/errata.v1.LayoutService/ListFamilies", "VORSIA"},
    {"/errata.v1.LayoutService/ListProfiles", "VORSIA"},
    {"/errata.v1.LayoutService/MergeFamilies", "RA"},
    {"/errata.v1.LayoutService/SplitFamily", "RA"},
    {"/errata.v1.EventService/GetEvent", "VORSIA"},
    {"/errata.v1.EventService/ListEvents", "VORSIA"},
    {"/errata.v1.EventService/RetractEvent", "ORA"},
    {"/errata.v1.EventService/WatchEvents", "VORSIA"},
    {"/errata.v1.MappingService/BatchJudgeMappings", "ORSIA"},
    {"/errata.v1.MappingService/ConfirmMapping", "ORSIA"},
    {"/errata.v1.MappingService/GetMapping", "VORSIA"},
    {"/errata.v1.MappingService/ListMappings", "VORSIA"},
    {"/errata.v1.MappingService/MatchLines", "ORSA"},
    {"/errata.v1.MappingService/RecordMatches", "ORSIA"},
    {"/errata.v1.MappingService/RejectMapping", "ORSIA"},
    {"/errata.v1.MappingService/SuggestMapping", "ORSIA"},
    {"/errata.v1.TextService/CompareTexts", "ORSA"},
    {"/errata.v1.TextService/Embed", "ORSA"},
    {"/errata.v1.TextService/Sanitize", "ORSA"},
};

static const char role_letters[] = "?VORSIA"; /* indexed by number */

static const char *roles_of(struct slice path)
{
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        if (slice_equal(path, slice_text(allowed[i].path))) {
            return allowed[i].roles;
        }
    }
    fail_msg("%.*s is missing from the table of roles", (int)path.size, (const char *)path.data);
    return "";
}

/* Calls a method with an empty request; returns the code, or OK for a stream that stays open. */
static enum status_code call_with(struct fixture *fixture, const struct method_info *method,
                                  const char *token)
{
    const struct exchange_start start = {.path = (const char *)method->path.data + 1,
                                         .authorization = token};
    struct exchange exchange;

    exchange_open(&exchange, fixture, &start);
    if (!exchange.ended) {
        call_deliver(exchange.core, slice_of("", 0));
        call_deliver_end(exchange.core);
    }
    fixture_run(fixture);
    exchange_close(&exchange);
    return exchange.ended ? exchange.code : STATUS_OK;
}

/* Checks that the table allows the code for this method and role. */
static void check_pair(const struct method_info *method, int role, enum status_code code)
{
    bool may = strchr(roles_of(method->path), role_letters[role]) != NULL;
    bool refused = code == STATUS_PERMISSION_DENIED;

    if (may == refused || code == STATUS_UNAUTHENTICATED) {
        fail_msg("%.*s with %c gives code %d", (int)method->path.size,
                 (const char *)method->path.data, role_letters[role], (int)code);
    }
}

/* Goal: every method admits the roles of the table and refuses all others. Method: each method of
 * the contract with a token of each role; a method that the table does not have fails the test. */
static void test_each_method_admits_only_its_roles(void **state)
{
    struct fixture fixture;
    char tokens[ROLE_ADMIN + 1][FIXTURE_TOKEN_BYTES];

    (void)state;
    fixture_init(&fixture);
    for (int role = ROLE_VIEWER; role <= ROLE_ADMIN; role++) {
        fixture_make_token(&fixture, fixture.admin, (enum role)role, tokens[role]);
    }
    for (uint32_t i = 0; i < contract_method_count; i++) {
        const struct method_info *method = &contract_methods[i];

        if (method->open) {
            assert_false(slice_starts_with(method->path, SLICE("/errata.")));
            continue;
        }
        for (int role = ROLE_VIEWER; role <= ROLE_ADMIN; role++) {
            check_pair(method, role, call_with(&fixture, method, tokens[role]));
        }
        assert_int_equal(call_with(&fixture, method, NULL), STATUS_UNAUTHENTICATED);
    }
    fixture_deinit(&fixture);
}

/* Goal: a method whose options name no role is denied to every role. Method: a copy of a method
 * without roles, called by an administrator. */
static void test_method_without_roles_is_denied(void **state)
{
    struct fixture fixture;
    struct method_info closed =
        *contract_find_method(SLICE("/errata.v1.AdminService/GetServerInfo"));
    struct exchange exchange = {0};
    struct call_core *core = NULL;

    (void)state;
    fixture_init(&fixture);
    closed.roles = 0;
    exchange_open(&exchange, &fixture,
                  &(struct exchange_start){.path = "grpc.health.v1.Health/Check"});
    exchange_close(&exchange);
    core = call_open(fixture.calls, exchange_protocol());
    exchange = (struct exchange){.fixture = &fixture, .core = core};
    core->stream = &exchange;
    core->call.method = &closed;
    core->call.authorization = slice_text(fixture.admin);
    call_start(core);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_PERMISSION_DENIED);
    assert_true(slice_has(exchange.message, "no role"));
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: an event names the user of the token that wrote it, regardless of the name's length.
 * Method: tokens for users of one and of 128 bytes, and a capture by each. */
static void test_event_names_the_user_of_the_token(void **state)
{
    static const size_t sizes[] = {1, 128};
    struct fixture fixture;
    char user[129];

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct exchange_start start = {.path = "errata.v1.AdminService/CreateToken"};
        Errata__V1__Token wanted = ERRATA__V1__TOKEN__INIT;
        Errata__V1__CreateTokenRequest request = ERRATA__V1__CREATE_TOKEN_REQUEST__INIT;
        Errata__V1__CreateTokenResponse *response = NULL;
        char token[FIXTURE_TOKEN_BYTES];

        memset(user, 'u', sizes[i]);
        user[sizes[i]] = '\0';
        start.authorization = fixture.admin;
        wanted.role = (Errata__V1__Role)ROLE_OPERATOR;
        wanted._user_id_case = ERRATA__V1__TOKEN___USER_ID_USER_ID;
        wanted.user_id = user;
        request.token = &wanted;
        assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
        (void)snprintf(token, sizeof(token), "Bearer %s", response->secret);
        assert_string_equal(fixture_capture(&fixture, token, NULL, "layout")->actor_user_id, user);
    }
    fixture_deinit(&fixture);
}

/* Goal: only the exact token is valid. Method: the right text, changed in every way that a careless
 * check would accept. */
static void test_changed_token_is_refused(void **state)
{
    struct fixture fixture;
    char text[256];
    char end = 0;
    const struct method_info *method =
        contract_find_method(SLICE("/errata.v1.AdminService/GetServerInfo"));

    (void)state;
    fixture_init(&fixture);
    assert_int_equal(call_with(&fixture, method, fixture.admin), STATUS_OK);
    (void)snprintf(text, sizeof(text), "bEARER %s", fixture.admin + 7);
    assert_int_equal(call_with(&fixture, method, text), STATUS_OK);
    (void)snprintf(text, sizeof(text), "Bearer  %s", fixture.admin + 7);
    assert_int_equal(call_with(&fixture, method, text), STATUS_OK);
    (void)snprintf(text, sizeof(text), "bearer %20s%s", "", fixture.admin + 7);
    assert_int_equal(call_with(&fixture, method, text), STATUS_OK);

    const char *const bad[] = {"", "Bearer", "Bearer ", "Basic YTpi", fixture.admin + 7};
    const char *const heads[] = {
        "Bearer", "Bearer\t", "Bearer \t", "Bearer:", "Bearer x ", " Bearer ", "Token "};

    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        (void)snprintf(text, sizeof(text), "%s%s", heads[i], fixture.admin + 7);
        assert_int_equal(call_with(&fixture, method, text), STATUS_UNAUTHENTICATED);
    }

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(call_with(&fixture, method, bad[i]), STATUS_UNAUTHENTICATED);
    }
    for (size_t i = 7; fixture.admin[i] != '\0'; i++) {
        (void)snprintf(text, sizeof(text), "%s", fixture.admin);
        text[i] = text[i] == 'a' ? 'b' : 'a';
        assert_int_equal(call_with(&fixture, method, text), STATUS_UNAUTHENTICATED);
    }
    (void)snprintf(text, sizeof(text), "%sA", fixture.admin);
    assert_int_equal(call_with(&fixture, method, text), STATUS_UNAUTHENTICATED);
    (void)snprintf(text, sizeof(text), "%s", fixture.admin);
    /* The last character has four relevant bits: other characters with the same bits are not
     * accepted. */
    end = text[strlen(text) - 1];
    text[strlen(text) - 1] = (char)(end + 1);
    assert_int_equal(call_with(&fixture, method, text), STATUS_UNAUTHENTICATED);
    assert_int_equal(call_with(&fixture, method, fixture.admin), STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: a call with several authorization fields is refused with the reason, even if the first is a
 * valid token; open methods ignore them. Method: an administrator's token, repeated. */
static void test_several_authorization_fields_are_refused(void **state)
{
    struct fixture fixture;
    struct exchange exchange;
    struct exchange_start start = {.path = "errata.v1.AdminService/GetServerInfo",
                                   .authorization_repeated = true};

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    exchange_open(&exchange, &fixture, &start);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_UNAUTHENTICATED);
    assert_true(slice_has(exchange.message, "authorization: given several times"));
    exchange_close(&exchange);
    start.path = "grpc.health.v1.Health/Check";
    exchange_open(&exchange, &fixture, &start);
    assert_false(exchange.ended);
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: tokens that share a slot of the cache are all admitted, each with its own identity. Method:
 * one more than it has slots, in turn; an administrator's call, which none of the others may
 * make. The use of each is returned once. */
static void test_tokens_that_share_a_cache_slot_are_admitted(void **state)
{
    enum {
        COUNT = AUTH_CACHE_ENTRIES + 1
    };
    struct fixture fixture;
    uint32_t key_ids[AUTH_USES_MAX];
    char(*viewers)[FIXTURE_TOKEN_BYTES] = calloc(COUNT, sizeof(*viewers));
    const struct method_info *list =
        contract_find_method(SLICE("/errata.v1.EventService/ListEvents"));
    const struct method_info *info =
        contract_find_method(SLICE("/errata.v1.AdminService/GetServerInfo"));

    (void)state;
    assert_non_null(viewers);
    fixture_init(&fixture);
    for (size_t i = 0; i < COUNT; i++) {
        fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, viewers[i]);
    }
    for (size_t i = 0; i < (size_t)2 * COUNT; i++) {
        assert_int_equal(call_with(&fixture, list, viewers[i % COUNT]), STATUS_OK);
        assert_int_equal(call_with(&fixture, info, viewers[i % COUNT]), STATUS_PERMISSION_DENIED);
        assert_int_equal(call_with(&fixture, info, fixture.admin), STATUS_OK);
    }
    assert_int_equal(auth_take_uses(fixture.auth, 1, key_ids), COUNT + 1);
    assert_int_equal(call_with(&fixture, list, viewers[0]), STATUS_OK);
    assert_int_equal(auth_take_uses(fixture.auth, 1, key_ids), 0);
    fixture_deinit(&fixture);
    free(viewers);
}

/* Goal: a token that called is returned once a day, and again if its day could not be stored; the list shows the day that is
 * stored. Method: calls on two days; days recorded in any order. */
static void test_token_use_is_returned_once_a_day(void **state)
{
    struct fixture fixture;
    const struct method_info *list =
        contract_find_method(SLICE("/errata.v1.AdminService/ListTokens"));
    uint32_t key_ids[AUTH_USES_MAX];
    struct auth *auth = NULL;
    struct store_txn *txn = NULL;
    int64_t day_us = 0;

    (void)state;
    fixture_init(&fixture);
    auth = fixture.auth;
    assert_int_equal(call_with(&fixture, list, fixture.admin), STATUS_OK);
    assert_int_equal(call_with(&fixture, list, fixture.admin), STATUS_OK);
    assert_int_equal(auth_take_uses(auth, 7, key_ids), 1);
    assert_int_equal(auth_take_uses(auth, 7, key_ids), 0);
    auth_repeat_uses(auth);
    assert_int_equal(auth_take_uses(auth, 7, key_ids), 0);
    assert_int_equal(call_with(&fixture, list, fixture.admin), STATUS_OK);
    assert_int_equal(auth_take_uses(auth, 7, key_ids), 0);
    assert_int_equal(auth_take_uses(auth, 8, key_ids), 0);
    assert_int_equal(call_with(&fixture, list, fixture.admin), STATUS_OK);
    assert_int_equal(auth_take_uses(auth, 8, key_ids), 1);
    auth_repeat_uses(auth);
    assert_int_equal(auth_take_uses(auth, 8, key_ids), 1);
    assert_int_equal(store_begin(fixture.backend, STORE_WRITE, &txn), OK);
    assert_int_equal(token_use_read(txn, key_ids[0], &day_us), OK);
    assert_int_equal(day_us, 0);
    assert_int_equal(token_use_record(&fixture.ctx, txn, key_ids[0], 8), OK);
    assert_int_equal(token_use_record(&fixture.ctx, txn, key_ids[0], 7), OK);
    assert_int_equal(token_use_record(&fixture.ctx, txn, key_ids[0] ^ 1, 8),
                     OK); /* no such token */
    assert_int_equal(token_use_read(txn, key_ids[0], &day_us), OK);
    assert_int_equal(day_us, 8 * TOKEN_USE_DAY_US);
    assert_int_equal(token_use_read(txn, key_ids[0] ^ 1, &day_us), OK);
    assert_int_equal(day_us, 0);
    assert_int_equal(token_use_delete(txn, key_ids[0]), OK);
    assert_int_equal(token_use_read(txn, key_ids[0], &day_us), OK);
    assert_int_equal(day_us, 0);
    store_abort(txn);
    fixture_deinit(&fixture);
}

/* Goal: a revoked token ends with the commit, even if it was cached; an expired one ends by the
 * clock. Method: calls before and after. */
static void test_revoked_or_expired_token_is_refused(void **state)
{
    struct fixture fixture;
    char viewer[FIXTURE_TOKEN_BYTES];
    char key_id[9];
    Errata__V1__RevokeTokenRequest revoke = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
    Errata__V1__RevokeTokenResponse *revoked = NULL;
    const struct exchange_start start = {.path = "errata.v1.AdminService/RevokeToken",
                                         .authorization = fixture.admin};
    const struct method_info *method =
        contract_find_method(SLICE("/errata.v1.EventService/ListEvents"));

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, viewer);
    assert_int_equal(call_with(&fixture, method, viewer), STATUS_OK);
    fixture_key_id_of(viewer, key_id);
    revoke.key_id = key_id;
    assert_int_equal(fixture_call(&fixture, &start, &revoke.base, &revoked), STATUS_OK);
    assert_non_null(revoked->token->revoked_at);
    assert_int_equal(call_with(&fixture, method, viewer), STATUS_UNAUTHENTICATED);
    fixture_make_ending_token(&fixture, fixture.admin, FIXTURE_START_US + 60 * 1000000, viewer);
    assert_int_equal(call_with(&fixture, method, viewer), STATUS_OK);
    clock_manual_advance(&fixture.clock, 59 * 1000000);
    assert_int_equal(call_with(&fixture, method, viewer), STATUS_OK);
    clock_manual_advance(&fixture.clock, 1 * 1000000);
    assert_int_equal(call_with(&fixture, method, viewer), STATUS_UNAUTHENTICATED);
    fixture_deinit(&fixture);
}

/* Goal: a call whose headers came before its token was revoked is not served with a request that came
 * after. Method: revoke between the two; another call beside it is served. */
static void test_token_revoked_after_the_headers_is_refused(void **state)
{
    struct fixture fixture;
    struct exchange revoked;
    struct exchange other;
    char viewer[FIXTURE_TOKEN_BYTES];
    char key_id[9];
    Errata__V1__ListEventsRequest list = ERRATA__V1__LIST_EVENTS_REQUEST__INIT;
    Errata__V1__RevokeTokenRequest revoke = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
    struct exchange_start start = {.path = "errata.v1.EventService/ListEvents"};

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, viewer);
    start.authorization = viewer;
    exchange_open(&revoked, &fixture, &start);
    start.authorization = fixture.admin;
    exchange_open(&other, &fixture, &start);
    start.path = "errata.v1.AdminService/RevokeToken";
    fixture_key_id_of(viewer, key_id);
    revoke.key_id = key_id;
    assert_int_equal(fixture_call(&fixture, &start, &revoke.base, NULL), STATUS_OK);
    exchange_send(&revoked, &list.base);
    exchange_send(&other, &list.base);
    fixture_run(&fixture);
    assert_int_equal(revoked.code, STATUS_UNAUTHENTICATED);
    assert_int_equal(other.code, STATUS_OK);
    exchange_close(&revoked);
    exchange_close(&other);
    fixture_deinit(&fixture);
}

int run_access_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_method_admits_only_its_roles),
        cmocka_unit_test(test_method_without_roles_is_denied),
        cmocka_unit_test(test_event_names_the_user_of_the_token),
        cmocka_unit_test(test_changed_token_is_refused),
        cmocka_unit_test(test_several_authorization_fields_are_refused),
        cmocka_unit_test(test_tokens_that_share_a_cache_slot_are_admitted),
        cmocka_unit_test(test_token_use_is_returned_once_a_day),
        cmocka_unit_test(test_revoked_or_expired_token_is_refused),
        cmocka_unit_test(test_token_revoked_after_the_headers_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
