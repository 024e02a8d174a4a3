/*
 * family_tests.c: layout families through calls: documents whose first pages are similar are of one
 * family, which their profile and their corrections name.
 */
#include "tests/rpc/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Makes the worker answer with a sketch of 30 words from `first` on, and this many tables. */
static void set_page(struct world *world, uint32_t first, uint32_t tables)
{
    struct family_sketch *sketch = &world->documents.answer.tables.sketch;

    world->documents.answer.tables.table_count = tables;
    sketch->count = 30;
    for (uint32_t i = 0; i < sketch->count; i++) {
        sketch->features[i] = 8 * (first + i) + (uint32_t)FAMILY_FEATURE_WORD;
    }
}

static Errata__V1__Document *ingest_page(struct world *world, const char *document_id,
                                         uint32_t first, uint32_t tables)
{
    const struct exchange_start start = {.path = INGEST_UNARY, .authorization = world->admin};
    Errata__V1__Document *document = NULL;

    set_page(world, first, tables);
    assert_int_equal(ingest(world, &start, document_id, slice_text(document_id), &document),
                     STATUS_OK);
    return document;
}

static const char *family_of_profile(struct world *world, const char *fingerprint)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/GetProfile",
                                         .authorization = world->admin};
    Errata__V1__GetProfileRequest request = ERRATA__V1__GET_PROFILE_REQUEST__INIT;
    Errata__V1__GetProfileResponse *response = NULL;

    request.layout_fingerprint = (char *)(uintptr_t)fingerprint;
    assert_int_equal(world_call(world, &start, &request.base, &response), STATUS_OK);
    return response->profile->layout_family_id == NULL ? "" : response->profile->layout_family_id;
}

/* Stores a correction that names a document; returns the family that the server added. */
static const char *family_of_capture(struct world *world, const char *document_id)
{
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent",
                                         .authorization = world->admin};
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventResponse *response = NULL;

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    event._document_id_case = ERRATA__V1__FEEDBACK_EVENT___DOCUMENT_ID_DOCUMENT_ID;
    event.document_id = (char *)(uintptr_t)document_id;
    event.before_json = (char *)(uintptr_t) "{\"qty\":10}";
    event.after_json = (char *)(uintptr_t) "{\"qty\":12}";
    request.event = &event;
    assert_int_equal(world_call(world, &start, &request.base, &response), STATUS_OK);
    return response->event->layout_family_id == NULL ? "" : response->event->layout_family_id;
}

/* Goal: similar pages are of one family, with any fingerprints; a profile names the family that
 * all its documents share, a correction that of its document. Method: two similar pages with different
 * numbers of tables, and one of another layout with the fingerprint of the second. */
static void test_one_family(void **state)
{
    struct world world;
    Errata__V1__Document *first = NULL;
    Errata__V1__Document *second = NULL;
    Errata__V1__Document *other = NULL;

    (void)state;
    world_init(&world);
    first = ingest_page(&world, "first", 0, 1);
    second = ingest_page(&world, "second", 3, 2);
    assert_string_not_equal(first->layout_fingerprint, second->layout_fingerprint);
    assert_string_equal(first->layout_family_id, first->id);
    assert_string_equal(second->layout_family_id, first->id);
    assert_string_equal(family_of_profile(&world, second->layout_fingerprint), first->id);
    other = ingest_page(&world, "other", 500, 2);
    assert_string_equal(other->layout_fingerprint, second->layout_fingerprint);
    assert_string_equal(other->layout_family_id, other->id);
    assert_string_equal(family_of_profile(&world, first->layout_fingerprint), first->id);
    assert_string_equal(family_of_profile(&world, second->layout_fingerprint), "");
    assert_string_equal(family_of_capture(&world, "second"), first->id);
    assert_string_equal(family_of_capture(&world, "other"), other->id);
    assert_string_equal(family_of_capture(&world, "never ingested"), "");
    world_deinit(&world);
}

int run_family_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_family),
    };

    return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
