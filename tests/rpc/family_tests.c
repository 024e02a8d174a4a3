/*
 * family_tests.c: layout families through calls: documents whose first pages are similar are of one
 * family, which their profile and their corrections name.
 */
#include "server/domain/layouts/family_records.h"
#include "tests/rpc/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Ingests a document with the words of page 1 from `first` on, and this many tables. */
static Errata__V1__Document *ingest_page(struct fixture *fixture, const char *document_id,
                                         uint32_t first, uint32_t tables)
{
    const struct exchange_start start = {.path = INGEST_UNARY, .authorization = fixture->admin};
    Errata__V1__Document *document = NULL;

    fixture->documents.answer.tables.table_count = tables;
    fake_documents_set_sketch(&fixture->documents, first);
    assert_int_equal(ingest(fixture, &start, document_id, slice_text(document_id), &document),
                     STATUS_OK);
    return document;
}

static const char *family_of_profile(struct fixture *fixture, const char *fingerprint)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/GetProfile",
                                         .authorization = fixture->admin};
    Errata__V1__GetProfileRequest request = ERRATA__V1__GET_PROFILE_REQUEST__INIT;
    Errata__V1__GetProfileResponse *response = NULL;

    request.layout_fingerprint = (char *)(uintptr_t)fingerprint;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->profile->layout_family_id == NULL ? "" : response->profile->layout_family_id;
}

/* Stores a correction that names a document; returns the family that the server added. */
static const char *family_of_capture(struct fixture *fixture, const char *document_id)
{
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent",
                                         .authorization = fixture->admin};
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
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->event->layout_family_id == NULL ? "" : response->event->layout_family_id;
}

/* Goal: similar pages are of one family, with any fingerprints; a profile names the family that
 * all its documents share, a correction that of its document. Method: two similar pages with different
 * numbers of tables, and one of another layout with the fingerprint of the second. */
static void test_similar_pages_are_of_one_family(void **state)
{
    struct fixture fixture;
    Errata__V1__Document *first = NULL;
    Errata__V1__Document *second = NULL;
    Errata__V1__Document *other = NULL;

    (void)state;
    fixture_init(&fixture);
    first = ingest_page(&fixture, "first", 0, 1);
    second = ingest_page(&fixture, "second", 3, 2);
    assert_string_not_equal(first->layout_fingerprint, second->layout_fingerprint);
    assert_string_equal(first->layout_family_id, first->id);
    assert_string_equal(second->layout_family_id, first->id);
    assert_string_equal(family_of_profile(&fixture, second->layout_fingerprint), first->id);
    other = ingest_page(&fixture, "other", 500, 2);
    assert_string_equal(other->layout_fingerprint, second->layout_fingerprint);
    assert_string_equal(other->layout_family_id, other->id);
    assert_string_equal(family_of_profile(&fixture, first->layout_fingerprint), first->id);
    assert_string_equal(family_of_profile(&fixture, second->layout_fingerprint), "");
    assert_string_equal(family_of_capture(&fixture, "second"), first->id);
    assert_string_equal(family_of_capture(&fixture, "other"), other->id);
    assert_string_equal(family_of_capture(&fixture, "never ingested"), "");
    fixture_deinit(&fixture);
}

static Errata__V1__LayoutFamily *get_family(struct fixture *fixture, const char *id)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/GetFamily",
                                         .authorization = fixture->admin};
    Errata__V1__GetFamilyRequest request = ERRATA__V1__GET_FAMILY_REQUEST__INIT;
    Errata__V1__GetFamilyResponse *response = NULL;

    request.layout_family_id = (char *)(uintptr_t)id;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->family;
}

/* Goal: families are listed newest first, page by page, and each is found with its counts and
 * fingerprints; the id of another event is not found. Method: two families, one of three documents with two
 * fingerprints, in pages of one. */
static void test_families_are_listed_newest_first(void **state)
{
    struct fixture fixture;
    struct exchange_start start = {.path = "errata.v1.LayoutService/ListFamilies"};
    Errata__V1__ListFamiliesRequest list = ERRATA__V1__LIST_FAMILIES_REQUEST__INIT;
    Errata__V1__ListFamiliesResponse *page = NULL;
    Errata__V1__GetFamilyRequest get = ERRATA__V1__GET_FAMILY_REQUEST__INIT;
    Errata__V1__LayoutFamily *family = NULL;
    Errata__V1__Document *first = NULL;
    Errata__V1__Document *second = NULL;
    Errata__V1__Document *other = NULL;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    first = ingest_page(&fixture, "first", 0, 1);
    other = ingest_page(&fixture, "other", 500, 1);
    second = ingest_page(&fixture, "second", 2, 2);
    (void)ingest_page(&fixture, "third", 0, 1);
    list.page_size = 1;
    assert_int_equal(fixture_call(&fixture, &start, &list.base, &page), STATUS_OK);
    assert_int_equal(page->n_families, 1);
    assert_string_equal(page->families[0]->id, other->id);
    list.page_token = page->next_page_token;
    assert_int_equal(fixture_call(&fixture, &start, &list.base, &page), STATUS_OK);
    assert_int_equal(page->n_families, 1);
    assert_string_equal(page->families[0]->id, first->id);
    assert_int_equal(page->families[0]->n_layout_fingerprints, 0);
    assert_string_equal(page->next_page_token, "");
    family = get_family(&fixture, first->id);
    assert_int_equal(family->document_count, 3);
    assert_int_equal(family->fingerprint_count, 2);
    assert_int_equal(family->n_layout_fingerprints, 2);
    assert_string_not_equal(family->layout_fingerprints[0], family->layout_fingerprints[1]);
    start.path = "errata.v1.LayoutService/GetFamily";
    get.layout_family_id = second->id;
    assert_int_equal(fixture_call(&fixture, &start, &get.base, NULL), STATUS_NOT_FOUND);
    fixture_deinit(&fixture);
}

/* Checks the number of documents and profiles in lists filtered by a family. */
static void expect_filtered(struct fixture *fixture, const char *family, size_t documents,
                            size_t profiles)
{
    struct exchange_start start = {.path = "errata.v1.LayoutService/ListDocuments",
                                   .authorization = fixture->admin};
    Errata__V1__ListDocumentsRequest list = ERRATA__V1__LIST_DOCUMENTS_REQUEST__INIT;
    Errata__V1__ListProfilesRequest list_profiles = ERRATA__V1__LIST_PROFILES_REQUEST__INIT;
    Errata__V1__ListDocumentsResponse *found = NULL;
    Errata__V1__ListProfilesResponse *found_profiles = NULL;

    list.layout_family_id = (char *)(uintptr_t)family;
    assert_int_equal(fixture_call(fixture, &start, &list.base, &found), STATUS_OK);
    assert_int_equal(found->n_documents, documents);
    for (size_t i = 0; i < documents; i++) {
        assert_string_equal(found->documents[i]->layout_family_id, family);
    }
    start.path = "errata.v1.LayoutService/ListProfiles";
    list_profiles.layout_family_id = (char *)(uintptr_t)family;
    assert_int_equal(fixture_call(fixture, &start, &list_profiles.base, &found_profiles),
                     STATUS_OK);
    assert_int_equal(found_profiles->n_profiles, profiles);
    list.layout_fingerprint = (char *)(uintptr_t) "both";
    start.path = "errata.v1.LayoutService/ListDocuments";
    assert_int_equal(fixture_call(fixture, &start, &list.base, NULL), STATUS_INVALID_ARGUMENT);
}

/* Goal: documents and profiles are listed by family; one that does not exist has none. Method: two
 * families that share a fingerprint. */
static void test_documents_and_profiles_are_filtered_by_family(void **state)
{
    struct fixture fixture;
    Errata__V1__Document *first = NULL;
    Errata__V1__Document *other = NULL;

    (void)state;
    fixture_init(&fixture);
    first = ingest_page(&fixture, "first", 0, 1);
    (void)ingest_page(&fixture, "second", 2, 2);
    other = ingest_page(&fixture, "other", 500, 2);
    expect_filtered(&fixture, first->id, 2, 2);
    expect_filtered(&fixture, other->id, 1, 1);
    expect_filtered(&fixture, "01890000-0000-7000-8000-000000000001", 0, 0);
    fixture_deinit(&fixture);
}

static Errata__V1__GetNearestFamiliesResponse *get_nearest(struct fixture *fixture,
                                                           const char *document_id, uint32_t max)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/GetNearestFamilies",
                                         .authorization = fixture->admin};
    Errata__V1__GetNearestFamiliesRequest request = ERRATA__V1__GET_NEAREST_FAMILIES_REQUEST__INIT;
    Errata__V1__GetNearestFamiliesResponse *response = NULL;

    request.document_id = (char *)(uintptr_t)document_id;
    request.max_families = max;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response;
}

/* Goal: a person sees why a document matched, or did not: the most similar page of each family, the
 * shared and differing features. Method: pages that share 28, 8 and no words of 30; a scan. */
static void test_nearest_families_name_their_features(void **state)
{
    struct fixture fixture;
    Errata__V1__GetNearestFamiliesResponse *nearest = NULL;
    Errata__V1__Document *first = NULL;
    Errata__V1__NearestFamily **near = NULL;
    struct exchange_start start = {.path = INGEST_UNARY};

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    first = ingest_page(&fixture, "first", 0, 1);
    (void)ingest_page(&fixture, "far", 500, 1);
    (void)ingest_page(&fixture, "near", 24,
                      1); /* shares 6 of 54 features with `first`, 8 of 52 with `second` */
    (void)ingest_page(&fixture, "second", 2, 1);
    nearest = get_nearest(&fixture, "second", 0);
    near = nearest->families;
    assert_int_equal(nearest->n_families, 3);
    assert_int_equal(nearest->feature_count, 30);
    assert_string_equal(near[0]->family->id, first->id);
    assert_int_equal(near[0]->family->document_count, 2);
    assert_true(near[0]->matches && near[0]->own);
    assert_true(near[0]->similarity == 28.0 / 32.0);
    assert_string_equal(near[0]->document_id, "first");
    assert_string_equal(near[0]->summary, "28 of 32 features are shared: 28 words; only in the "
                                          "document: 2 words; only in the family: 2 words");
    assert_int_equal(near[0]->n_features, 1);
    assert_int_equal(near[0]->features[0]->kind,
                     ERRATA__V1__LAYOUT_FEATURE_KIND__LAYOUT_FEATURE_KIND_WORD);
    assert_int_equal(near[0]->features[0]->shared, 28);
    assert_true(!near[1]->matches && !near[1]->own);
    assert_string_equal(near[1]->document_id, "near");
    assert_true(near[1]->similarity == 8.0 / 52.0);
    assert_string_equal(near[2]->document_id, "far");
    assert_true(near[2]->similarity == 0);
    assert_int_equal(get_nearest(&fixture, "second", 2)->n_families, 2);
    fixture.documents.answer.tables.sketch.count = 0;
    assert_int_equal(ingest(&fixture, &start, "scan", SLICE("scan"), NULL), STATUS_OK);
    assert_int_equal(get_nearest(&fixture, "scan", 2)->n_families, 0);
    assert_int_equal(get_nearest(&fixture, "scan", 2)->feature_count, 0);
    fixture_deinit(&fixture);
}

/* Ingests a document whose words are those from `words` on, and from `first` on with their places. */
static Errata__V1__Document *ingest_words(struct fixture *fixture, const char *document_id,
                                          uint32_t first, uint32_t words)
{
    const struct exchange_start start = {.path = INGEST_UNARY, .authorization = fixture->admin};
    Errata__V1__Document *document = NULL;

    fake_documents_set_sketch(&fixture->documents, first);
    fake_documents_set_words(&fixture->documents, words);
    assert_int_equal(ingest(fixture, &start, document_id, slice_text(document_id), &document),
                     STATUS_OK);
    return document;
}

/* Goal: scans of one sender are of one family though their words are at other places, and a comparison gives the
 * reason; a family matches by places first; and documents with equal features and other words are different
 * sketches of it. Method: a page, its words at other places, other words at its places, other words at other
 * places. */
static void test_letterheads_make_a_family(void **state)
{
    struct fixture fixture;
    Errata__V1__GetNearestFamiliesResponse *nearest = NULL;
    Errata__V1__Document *first = NULL;
    Errata__V1__Document *other = NULL;

    (void)state;
    fixture_init(&fixture);
    first = ingest_words(&fixture, "first", 0, 0);
    other = ingest_words(&fixture, "other", 1000, 500);
    assert_string_not_equal(other->layout_family_id, first->id);
    assert_string_equal(ingest_words(&fixture, "moved", 500, 0)->layout_family_id, first->id);
    assert_string_equal(ingest_words(&fixture, "same places", 1000, 0)->layout_family_id,
                        other->id);
    assert_string_equal(ingest_words(&fixture, "other words", 0, 900)->layout_family_id, first->id);
    assert_string_equal(ingest_words(&fixture, "other words again", 0, 900)->layout_family_id,
                        first->id);
    nearest = get_nearest(&fixture, "moved", 0);
    assert_int_equal(nearest->n_families, 2);
    assert_true(nearest->families[0]->matches && nearest->families[0]->matches_by_letterhead);
    assert_true(nearest->families[0]->similarity == 0);
    assert_non_null(strstr(nearest->families[0]->summary,
                           "; they match by their letterheads, which share 12 of 12 words"));
    nearest = get_nearest(&fixture, "same places", 0);
    assert_string_equal(nearest->families[0]->family->id, other->id);
    assert_true(nearest->families[0]->matches && !nearest->families[0]->matches_by_letterhead);
    assert_true(nearest->families[1]->matches && nearest->families[1]->matches_by_letterhead);
    fixture_deinit(&fixture);
}

/* The code of a merge; `ret_response` is set if it is OK, and may be NULL. */
static int merge(struct fixture *fixture, const char *key, const char *from, const char *into,
                 Errata__V1__MergeFamiliesResponse **ret_response)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/MergeFamilies",
                                         .authorization = fixture->admin,
                                         .idempotency_key = key};
    Errata__V1__MergeFamiliesRequest request = ERRATA__V1__MERGE_FAMILIES_REQUEST__INIT;

    request.from_layout_family_id = (char *)(uintptr_t)from;
    request.into_layout_family_id = (char *)(uintptr_t)into;
    return fixture_call(fixture, &start, &request.base, ret_response);
}

/* Goal: after a merge documents, profiles, corrections, lists and comparisons name the remaining family,
 * for either id, and new documents like those of either family join it. Method: two families that share
 * a fingerprint, merged. */
static void test_merged_family_is_named_by_either_id(void **state)
{
    struct fixture fixture;
    Errata__V1__MergeFamiliesResponse *merged = NULL;
    Errata__V1__MergeFamiliesResponse *again = NULL;
    Errata__V1__GetNearestFamiliesResponse *nearest = NULL;
    Errata__V1__LayoutFamily *family = NULL;
    Errata__V1__Document *first = NULL;
    Errata__V1__Document *other = NULL;

    (void)state;
    fixture_init(&fixture);
    first = ingest_page(&fixture, "first", 0, 1);
    (void)ingest_page(&fixture, "second", 2, 2);
    other = ingest_page(&fixture, "other", 500, 2);
    assert_string_equal(family_of_profile(&fixture, other->layout_fingerprint), "");
    assert_int_equal(merge(&fixture, "m", other->id, first->id, &merged), STATUS_OK);
    assert_int_equal(merge(&fixture, "m", other->id, first->id, &again), STATUS_OK);
    assert_string_equal(again->event_id, merged->event_id);
    assert_string_equal(merged->family->id, first->id);
    assert_int_equal(merged->family->document_count, 3);
    assert_int_equal(merged->family->fingerprint_count, 3); /* one of them is in both families */
    assert_int_equal(merged->n_warnings, 0);
    assert_string_equal(family_of_profile(&fixture, other->layout_fingerprint), first->id);
    assert_string_equal(family_of_capture(&fixture, "other"), first->id);
    assert_string_equal(ingest_page(&fixture, "like other", 502, 3)->layout_family_id, first->id);
    assert_string_equal(ingest_page(&fixture, "like first", 1, 3)->layout_family_id, first->id);
    expect_filtered(&fixture, first->id, 5, 3);
    family = get_family(&fixture, other->id);
    assert_string_equal(family->id, first->id);
    assert_int_equal(family->document_count, 5);
    assert_int_equal(family->fingerprint_count, 3);
    assert_int_equal(family->n_layout_fingerprints, 3);
    assert_int_equal(family->n_merged_family_ids, 1);
    assert_string_equal(family->merged_family_ids[0], other->id);
    nearest = get_nearest(&fixture, "other", 0);
    assert_int_equal(nearest->n_families, 1);
    assert_true(nearest->families[0]->own);
    assert_string_equal(nearest->families[0]->family->id, first->id);
    fixture_deinit(&fixture);
}

/* Goal: a list of a merged family's documents is in the order of their times, page by page, under any id
 * of the family. Method: documents of two families in turn, in pages of two. */
static void test_merged_documents_are_listed_by_time(void **state)
{
    struct fixture fixture;
    struct exchange_start start = {.path = "errata.v1.LayoutService/ListDocuments"};
    Errata__V1__ListDocumentsRequest list = ERRATA__V1__LIST_DOCUMENTS_REQUEST__INIT;
    Errata__V1__ListDocumentsResponse *page = NULL;
    Errata__V1__ListFamiliesRequest list_families = ERRATA__V1__LIST_FAMILIES_REQUEST__INIT;
    Errata__V1__ListFamiliesResponse *families = NULL;
    Errata__V1__Document *documents[5] = {NULL};
    char name[2] = "a";
    int at = 4;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    for (int i = 0; i < 5; i++, name[0]++) {
        documents[i] = ingest_page(&fixture, name, i % 2 == 0 ? 0 : 500, 1);
    }
    assert_int_equal(merge(&fixture, NULL, documents[0]->id, documents[1]->id, NULL), STATUS_OK);
    list.page_size = 2;
    list.layout_family_id = documents[0]->id;
    do {
        assert_int_equal(fixture_call(&fixture, &start, &list.base, &page), STATUS_OK);
        for (size_t i = 0; i < page->n_documents; i++, at--) {
            assert_true(at >= 0);
            assert_string_equal(page->documents[i]->id, documents[at]->id);
            assert_string_equal(page->documents[i]->layout_family_id, documents[1]->id);
        }
        list.page_token = page->next_page_token;
    } while (list.page_token[0] != '\0');
    assert_int_equal(at, -1);
    start.path = "errata.v1.LayoutService/ListFamilies";
    assert_int_equal(fixture_call(&fixture, &start, &list_families.base, &families), STATUS_OK);
    assert_int_equal(families->n_families, 1);
    assert_string_equal(families->families[0]->id, documents[1]->id);
    assert_int_equal(families->families[0]->document_count, 5);
    fixture_deinit(&fixture);
}

static int split(struct fixture *fixture, const char *key, const char *family,
                 Errata__V1__SplitFamilyResponse **ret_response)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/SplitFamily",
                                         .authorization = fixture->admin,
                                         .idempotency_key = key};
    Errata__V1__SplitFamilyRequest request = ERRATA__V1__SPLIT_FAMILY_REQUEST__INIT;

    request.layout_family_id = (char *)(uintptr_t)family;
    return fixture_call(fixture, &start, &request.base, ret_response);
}

/* Goal: a merge is taken back: both families have their documents again, and later documents are in
 * the family of the pages that they resemble; former aliases stay. Method: a merge into the second
 * family of three after one into the first, a document like the first, the first split off. */
static void test_split_reverses_a_merge(void **state)
{
    struct fixture fixture;
    Errata__V1__SplitFamilyResponse *answer = NULL;
    Errata__V1__SplitFamilyResponse *again = NULL;
    Errata__V1__Document *first = NULL;
    Errata__V1__Document *second = NULL;
    Errata__V1__Document *third = NULL;

    (void)state;
    fixture_init(&fixture);
    first = ingest_page(&fixture, "first", 0, 1);
    second = ingest_page(&fixture, "second", 500, 1);
    third = ingest_page(&fixture, "third", 900, 1);
    assert_int_equal(split(&fixture, NULL, first->id, NULL), STATUS_FAILED_PRECONDITION);
    assert_int_equal(merge(&fixture, NULL, third->id, first->id, NULL), STATUS_OK);
    assert_int_equal(merge(&fixture, NULL, first->id, second->id, NULL), STATUS_OK);
    assert_string_equal(ingest_page(&fixture, "later", 1, 2)->layout_family_id, second->id);
    assert_int_equal(split(&fixture, NULL, second->id, NULL), STATUS_FAILED_PRECONDITION);
    assert_int_equal(split(&fixture, "s", first->id, &answer), STATUS_OK);
    assert_int_equal(split(&fixture, "s", first->id, &again), STATUS_OK);
    assert_string_equal(again->event_id, answer->event_id);
    assert_string_equal(answer->family->id, first->id);
    assert_int_equal(answer->family->document_count, 2);
    assert_int_equal(answer->family->n_merged_family_ids, 0);
    assert_string_equal(answer->remaining->id, second->id);
    assert_int_equal(answer->remaining->n_merged_family_ids, 1);
    assert_string_equal(answer->remaining->merged_family_ids[0], third->id);
    assert_int_equal(split(&fixture, NULL, first->id, NULL), STATUS_FAILED_PRECONDITION);
    assert_int_equal(split(&fixture, NULL, "01890000-0000-7000-8000-000000000001", NULL),
                     STATUS_NOT_FOUND);
    expect_filtered(&fixture, first->id, 2, 2);
    expect_filtered(&fixture, second->id, 2, 1);
    assert_string_equal(ingest_page(&fixture, "last", 1, 2)->layout_family_id, first->id);
    assert_int_equal(merge(&fixture, NULL, first->id, third->id, NULL), STATUS_OK);
    assert_string_equal(get_family(&fixture, first->id)->id, second->id);
    fixture_deinit(&fixture);
}

/* A request to split documents off a family; NULL ends their ids. */
static Errata__V1__SplitFamilyRequest splitting(struct fixture *fixture, const char *family,
                                                const char *const *ids)
{
    Errata__V1__SplitFamilyRequest request = ERRATA__V1__SPLIT_FAMILY_REQUEST__INIT;

    request.layout_family_id = (char *)(uintptr_t)family;
    request.document_ids = arena_calloc(&fixture->arena, 16, sizeof(char *));
    assert_non_null(request.document_ids);
    for (; ids[request.n_document_ids] != NULL; request.n_document_ids++) {
        request.document_ids[request.n_document_ids] =
            (char *)(uintptr_t)ids[request.n_document_ids];
    }
    return request;
}

/* Expects that documents are refused, with a message that contains `text`. */
static void expect_refused(struct fixture *fixture, const char *family, enum status_code code,
                           const char *text, const char *const *ids)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/SplitFamily",
                                         .authorization = fixture->admin};
    Errata__V1__SplitFamilyRequest request = splitting(fixture, family, ids);
    struct exchange exchange = fixture_call_whole(fixture, &start, &request.base);

    assert_int_equal(exchange.code, code);
    assert_true(slice_has(exchange.message, text) || slice_has(exchange.details, text));
}

static Errata__V1__SplitFamilyResponse *expect_split(struct fixture *fixture, const char *family,
                                                     const char *const *ids)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/SplitFamily",
                                         .authorization = fixture->admin};
    Errata__V1__SplitFamilyRequest request = splitting(fixture, family, ids);
    Errata__V1__SplitFamilyResponse *response = NULL;

    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response;
}

#define IDS(...)                                                                                   \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* Goal: documents of a family are moved into a new one, with their fingerprints and the pages that later documents
 * are compared with; both families have the right counts, and a merge takes it back. Method: four pages, each
 * similar to the one before, of which two are moved, given by the family's alias; later pages like one of each. */
static void test_split_documents_form_a_new_family(void **state)
{
    struct fixture fixture;
    Errata__V1__SplitFamilyResponse *answer = NULL;
    Errata__V1__Document *first = NULL;
    Errata__V1__Document *alias = NULL;

    (void)state;
    fixture_init(&fixture);
    first = ingest_page(&fixture, "first", 0, 1);
    (void)ingest_page(&fixture, "second", 4, 2);
    (void)ingest_page(&fixture, "third", 14, 2);
    (void)ingest_page(&fixture, "fourth", 16, 3);
    alias = ingest_page(&fixture, "alias", 500, 4);
    assert_int_equal(merge(&fixture, NULL, alias->id, first->id, NULL), STATUS_OK);
    answer = expect_split(&fixture, alias->id, IDS("third", "fourth"));
    assert_string_not_equal(answer->family->id, first->id);
    assert_string_equal(answer->family->id, answer->event_id);
    assert_int_equal(answer->family->document_count, 2);
    assert_int_equal(answer->family->fingerprint_count, 2);
    assert_string_equal(answer->remaining->id, first->id);
    assert_int_equal(answer->remaining->document_count, 3);
    assert_int_equal(answer->remaining->fingerprint_count, 3);
    assert_int_equal(answer->remaining->n_merged_family_ids, 1);
    expect_filtered(&fixture, answer->family->id, 2, 2);
    expect_filtered(&fixture, first->id, 3, 3);
    assert_int_equal(get_family(&fixture, first->id)->document_count, 3);
    assert_int_equal(get_family(&fixture, answer->family->id)->n_layout_fingerprints, 2);
    assert_string_equal(ingest_page(&fixture, "like third", 15, 2)->layout_family_id,
                        answer->family->id);
    assert_string_equal(ingest_page(&fixture, "like first", 1, 1)->layout_family_id, first->id);
    assert_int_equal(merge(&fixture, NULL, answer->family->id, first->id, NULL), STATUS_OK);
    expect_filtered(&fixture, first->id, 7, 4);
    assert_string_equal(family_of_capture(&fixture, "fourth"), first->id);
    fixture_deinit(&fixture);
}

/* Goal: a family that loses all documents with kept pages is compared by those of the remaining ones. Method: the
 * newest of two documents with the same page is moved; a third one is nearest to both, and the newest page wins. */
static void test_family_without_pages_is_compared_by_other_pages(void **state)
{
    struct fixture fixture;
    Errata__V1__SplitFamilyResponse *answer = NULL;
    Errata__V1__Document *first = NULL;

    (void)state;
    fixture_init(&fixture);
    first = ingest_page(&fixture, "first", 0, 1);
    (void)ingest_page(&fixture, "second", 0, 2);
    answer = expect_split(&fixture, first->id, IDS("second"));
    assert_int_equal(get_nearest(&fixture, "second", 0)->n_families, 1);
    assert_string_equal(get_nearest(&fixture, "second", 0)->families[0]->family->id, first->id);
    assert_int_equal(get_nearest(&fixture, "first", 0)->n_families, 1);
    assert_string_equal(get_nearest(&fixture, "first", 0)->families[0]->family->id,
                        answer->family->id);
    fixture_deinit(&fixture);
}

/* Goal: documents that cannot be moved are refused, and nothing changes. Method: a family and a document that do not
 * exist, a document of another family, one twice, all of them; a family without a sketch of its own. */
static void test_invalid_split_is_refused(void **state)
{
    const char *nothing = "01890000-0000-7000-8000-000000000001";
    struct fixture fixture;
    Errata__V1__Document *first = NULL;

    (void)state;
    fixture_init(&fixture);
    first = ingest_page(&fixture, "first", 0, 1);
    (void)ingest_page(&fixture, "second", 1, 1);
    (void)ingest_page(&fixture, "other", 500, 1);
    expect_refused(&fixture, nothing, STATUS_NOT_FOUND, "layout_family_id: not found",
                   IDS("first"));
    expect_refused(&fixture, first->id, STATUS_NOT_FOUND, "document_ids[1]: not found",
                   IDS("first", "none"));
    expect_refused(&fixture, first->id, STATUS_FAILED_PRECONDITION,
                   "document_ids[1]: not a document of this layout family", IDS("first", "other"));
    expect_refused(&fixture, first->id, STATUS_INVALID_ARGUMENT, "given twice",
                   IDS("second", "second"));
    expect_refused(&fixture, first->id, STATUS_FAILED_PRECONDITION,
                   "document_ids: all documents of the layout family", IDS("first", "second"));
    expect_filtered(&fixture, first->id, 2, 1);
    fixture_deinit(&fixture);
}

/* Goal: invalid merges are refused with the reason, and aliases of aliases are resolved. Method: a
 * chain of merges, in both directions; unknown ids, and the id of a document that created no family;
 * one merge more than a family's limit. */
static void test_invalid_merge_is_refused(void **state)
{
    const char *nothing = "01890000-0000-7000-8000-000000000001";
    struct fixture fixture;
    Errata__V1__MergeFamiliesResponse *merged = NULL;
    const char *ids[FAMILY_ALIASES_MAX + 2] = {NULL};
    char name[16];
    const char *second = NULL;

    (void)state;
    fixture_init(&fixture);
    for (uint32_t i = 0; i < FAMILY_ALIASES_MAX + 2; i++) {
        (void)snprintf(name, sizeof(name), "page-%u", (unsigned)i);
        ids[i] = ingest_page(&fixture, name, 100 * i, 1)->id;
    }
    second = ingest_page(&fixture, "second", 0, 1)->id;
    assert_int_equal(merge(&fixture, NULL, ids[0], ids[0], NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(merge(&fixture, NULL, nothing, ids[0], NULL), STATUS_NOT_FOUND);
    assert_int_equal(merge(&fixture, NULL, ids[0], second, NULL), STATUS_NOT_FOUND);
    assert_int_equal(merge(&fixture, NULL, ids[0], ids[1], NULL), STATUS_OK);
    assert_int_equal(merge(&fixture, NULL, ids[0], ids[2], NULL), STATUS_FAILED_PRECONDITION);
    assert_int_equal(merge(&fixture, NULL, ids[1], ids[0], NULL), STATUS_FAILED_PRECONDITION);
    assert_int_equal(merge(&fixture, NULL, ids[2], ids[0], &merged), STATUS_OK);
    assert_string_equal(merged->family->id, ids[1]);
    assert_int_equal(merged->n_warnings, 1);
    assert_int_equal(merged->warnings[0]->code,
                     ERRATA__V1__WARNING_CODE__WARNING_CODE_FAMILY_MERGED);
    assert_int_equal(merge(&fixture, NULL, ids[1], ids[3], &merged), STATUS_OK);
    assert_int_equal(merged->family->n_merged_family_ids, 3);
    assert_string_equal(get_family(&fixture, ids[0])->id, ids[3]);
    for (size_t i = 4; i < FAMILY_ALIASES_MAX + 1; i++) {
        assert_int_equal(merge(&fixture, NULL, ids[i], ids[3], &merged), STATUS_OK);
    }
    assert_int_equal(merged->family->n_merged_family_ids, FAMILY_ALIASES_MAX);
    assert_int_equal(merged->family->document_count, FAMILY_ALIASES_MAX + 2);
    assert_int_equal(merge(&fixture, NULL, ids[FAMILY_ALIASES_MAX + 1], ids[3], NULL),
                     STATUS_FAILED_PRECONDITION);
    assert_int_equal(merge(&fixture, NULL, ids[3], ids[FAMILY_ALIASES_MAX + 1], NULL),
                     STATUS_FAILED_PRECONDITION);
    assert_int_equal(get_family(&fixture, ids[0])->document_count, FAMILY_ALIASES_MAX + 2);
    fixture_deinit(&fixture);
}

int run_family_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_similar_pages_are_of_one_family),
        cmocka_unit_test(test_families_are_listed_newest_first),
        cmocka_unit_test(test_documents_and_profiles_are_filtered_by_family),
        cmocka_unit_test(test_nearest_families_name_their_features),
        cmocka_unit_test(test_letterheads_make_a_family),
        cmocka_unit_test(test_merged_family_is_named_by_either_id),
        cmocka_unit_test(test_merged_documents_are_listed_by_time),
        cmocka_unit_test(test_split_reverses_a_merge),
        cmocka_unit_test(test_split_documents_form_a_new_family),
        cmocka_unit_test(test_family_without_pages_is_compared_by_other_pages),
        cmocka_unit_test(test_invalid_split_is_refused),
        cmocka_unit_test(test_invalid_merge_is_refused),
    };

    return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
