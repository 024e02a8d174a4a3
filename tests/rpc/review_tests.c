/*
 * review_tests.c: TextService/Sanitize through calls: each profile, the report beside the text, refusals, texts
 * of any size, and the order of organisations.
 */
#include "tests/rpc/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errata/v1/text_service.pb-c.h>

/* The most bytes of a text, by the contract. */
#define TEXT_BYTES_MAX ((size_t)1 << 20)

static enum status_code sanitize(struct fixture *fixture, int profile, const char *text,
                                 Errata__V1__SanitizeResponse **ret_response)
{
    Errata__V1__SanitizeRequest request = ERRATA__V1__SANITIZE_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.TextService/Sanitize",
                                         .authorization = fixture->admin};

    request.profile = (Errata__V1__SanitizeProfile)profile;
    request.text = (char *)(uintptr_t)text;
    return fixture_call(fixture, &start, &request.base, ret_response);
}

/* Goal: each profile has its rules, and the response reports whether something was removed. Method:
 * one text that all three change differently, and one that none changes. */
static void test_each_profile_applies_its_rules(void **state)
{
    static const char text[] = "System: \xef\xbc\xa1\xe2\x80\x8b ```{{x}}```\t<|im_end|>";
    struct fixture fixture;
    Errata__V1__SanitizeResponse *response = NULL;

    (void)state;
    fixture_init(&fixture);
    for (int profile = 1; profile <= 3; profile++) {
        bool example = profile == ERRATA__V1__SANITIZE_PROFILE__SANITIZE_PROFILE_EXAMPLE;

        assert_int_equal(sanitize(&fixture, profile, text, &response), STATUS_OK);
        assert_string_equal(response->text, example ? "\xef\xbc\xa1 ```x``` " : "A x ");
        assert_true(response->changed);
        assert_false(response->failed);
        assert_int_equal(sanitize(&fixture, profile,
                                  "Gr\xc3\xb6\xc3\x9f"
                                  "e: 5 mm",
                                  &response),
                         STATUS_OK);
        assert_string_equal(response->text, "Gr\xc3\xb6\xc3\x9f"
                                            "e: 5 mm");
        assert_false(response->changed);
    }
    fixture_deinit(&fixture);
}

/* Goal: a text that cannot be made safe becomes empty and is counted; it is never an error. Method:
 * a mark inside a mark, a hundred times; the server's counter before and after. */
static void test_text_that_can_not_be_made_safe_becomes_empty(void **state)
{
    struct fixture fixture;
    char text[1024] = {0};
    Errata__V1__SanitizeResponse *response = NULL;
    Errata__V1__GetServerInfoRequest request = ERRATA__V1__GET_SERVER_INFO_REQUEST__INIT;
    Errata__V1__GetServerInfoResponse *info = NULL;
    struct exchange_start start = {.path = "errata.v1.AdminService/GetServerInfo"};
    uint64_t counted[2] = {0, 0};

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    for (size_t i = 0; i < 100; i++) {
        memcpy(text + i * 4, "<sys", 4);
        memcpy(text + 400 + i * 4, "tem>", 4);
    }
    for (int round = 0; round < 2; round++) {
        assert_int_equal(fixture_call(&fixture, &start, &request.base, &info), STATUS_OK);
        assert_string_equal(info->counters[0]->name, "sanitiser_fallbacks");
        counted[round] = info->counters[0]->value;
        for (int profile = 1; round == 0 && profile <= 3; profile++) {
            assert_int_equal(sanitize(&fixture, profile, text, &response), STATUS_OK);
            assert_string_equal(response->text, "");
            assert_true(response->changed);
            assert_true(response->failed);
        }
    }
    assert_int_equal(counted[1], counted[0] + 3);
    fixture_deinit(&fixture);
}

/* Goal: an invalid request is refused. Method: no profile, an unknown one, a text one byte too
 * long. */
static void test_invalid_request_is_refused(void **state)
{
    struct fixture fixture;
    Errata__V1__SanitizeResponse *response = NULL;
    char *text = NULL;

    (void)state;
    fixture_init(&fixture);
    text = arena_alloc(&fixture.arena, TEXT_BYTES_MAX + 2);
    assert_non_null(text);
    memset(text, 'a', TEXT_BYTES_MAX + 1);
    text[TEXT_BYTES_MAX + 1] = '\0';
    assert_int_equal(sanitize(&fixture, 0, "a", &response), STATUS_INVALID_ARGUMENT);
    assert_int_equal(sanitize(&fixture, 9, "a", &response), STATUS_INVALID_ARGUMENT);
    assert_int_equal(sanitize(&fixture, 1, text, &response), STATUS_INVALID_ARGUMENT);
    fixture_deinit(&fixture);
}

/* Goal: the largest text is answered, from the pool. Method: a mebibyte in each profile. */
static void test_largest_text_is_answered_from_the_pool(void **state)
{
    struct fixture fixture;
    Errata__V1__SanitizeResponse *response = NULL;
    char *text = NULL;

    (void)state;
    fixture_init(&fixture);
    text = arena_alloc(&fixture.arena, TEXT_BYTES_MAX + 1);
    assert_non_null(text);
    memset(text, 'a', TEXT_BYTES_MAX);
    text[TEXT_BYTES_MAX] = '\0';
    text[100] = '\t';
    assert_int_equal(sanitize(&fixture, 1, text, &response), STATUS_OK);
    assert_int_equal(strlen(response->text), 500);
    assert_int_equal(sanitize(&fixture, 2, text, &response), STATUS_OK);
    assert_int_equal(strlen(response->text), 500);
    assert_int_equal(sanitize(&fixture, 3, text, &response), STATUS_OK);
    assert_int_equal(strlen(response->text), TEXT_BYTES_MAX);
    assert_int_equal(response->text[100], ' ');
    fixture_deinit(&fixture);
}

static void open_sanitize(struct exchange *exchange, struct fixture *fixture, const char *token,
                          const char *text)
{
    Errata__V1__SanitizeRequest request = ERRATA__V1__SANITIZE_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.TextService/Sanitize",
                                         .authorization = token};

    request.profile = ERRATA__V1__SANITIZE_PROFILE__SANITIZE_PROFILE_EXAMPLE;
    request.text = (char *)(uintptr_t)text;
    exchange_open(exchange, fixture, &start);
    exchange_send(exchange, &request.base);
}

/* Runs the oldest of the pool's jobs. */
static void run_first_job(struct fixture *fixture)
{
    struct fixture_job job = fixture->jobs[0];

    assert_true(fixture->job_count > 0);
    fixture->job_count--;
    memmove(&fixture->jobs[0], &fixture->jobs[1], fixture->job_count * sizeof(fixture->jobs[0]));
    job.work(job.job);
    job.done(job.job, OK);
}

/* Goal: long texts of one organisation do not delay another's, and a short text is not delayed by
 * either. Method: five texts of one, then two of another; the ended calls after three jobs of the
 * pool are compared. */
static void test_long_texts_do_not_delay_others(void **state)
{
    static char text[(size_t)16 << 10];
    struct exchange long_texts[5];
    struct exchange others[2];
    char token[FIXTURE_TOKEN_BYTES];
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    memset(text, '<', sizeof(text) - 1);
    (void)fixture_make_org(&fixture, "other", token);
    for (size_t i = 0; i < 5; i++) {
        open_sanitize(&long_texts[i], &fixture, fixture.admin, text);
    }
    open_sanitize(&others[0], &fixture, token, text);
    assert_int_equal(fixture.job_count, PIPELINE_POOL_READS_MAX);
    open_sanitize(&others[1], &fixture, token, "short");
    assert_true(others[1].ended);
    for (size_t i = 0; i < PIPELINE_POOL_READS_MAX + 1; i++) {
        run_first_job(&fixture);
    }
    assert_true(others[0].ended);
    assert_false(long_texts[4].ended);
    fixture_run(&fixture);
    for (size_t i = 0; i < 5; i++) {
        assert_true(long_texts[i].ended);
        assert_int_equal(long_texts[i].code, STATUS_OK);
        exchange_close(&long_texts[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(others[i].code, STATUS_OK);
        exchange_close(&others[i]);
    }
    fixture_deinit(&fixture);
}

int run_review_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_profile_applies_its_rules),
        cmocka_unit_test(test_text_that_can_not_be_made_safe_becomes_empty),
        cmocka_unit_test(test_invalid_request_is_refused),
        cmocka_unit_test(test_largest_text_is_answered_from_the_pool),
        cmocka_unit_test(test_long_texts_do_not_delay_others),
    };

    return cmocka_run_group_tests_name("reviews", tests, NULL, NULL);
}
