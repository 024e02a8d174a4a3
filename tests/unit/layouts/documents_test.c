/*
 * documents_test.c: the results of an ingested document: its fingerprint, its warnings, one event,
 * and a response that never changes.
 */
#include "server/domain/events/subject.h"
#include "server/domain/fingerprint/fingerprint.h"
#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/profiles.h"
#include "store/base/json.h"
#include "store/base/wire.h"
#include "tests/unit/layouts/documents_tests.h"
#include "tests/unit/layouts/papers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errata/v1/event_service.fields.h>
#include <errata/v1/event_service.pb-c.h>

/* The metadata of a measured document as a caller of ComputeFingerprint would write it. */
static struct slice metadata_of(struct store_fixture *fixture,
                                const struct document_measures *measures)
{
    struct buffer buffer;

    buffer_init(&buffer, &fixture->arena, 256);
    buffer_printf(&buffer, "{\"table_count\":%u,\"text_coverage_ratio\":", measures->table_count);
    json_write_double(&buffer, measures->page_cells == 0 ? 0.0
                                                         : (double)measures->covered_cells /
                                                               (double)measures->page_cells);
    buffer_printf(&buffer, ",\"page_count\":%u,\"page_dimensions\":[", measures->page_count);
    for (uint32_t i = 0; i < measures->page_count; i++) {
        buffer_printf(&buffer, "%s[%.2f,%.2f]", i == 0 ? "" : ",", measures->pages[i].width,
                      measures->pages[i].height);
    }
    buffer_append(&buffer, SLICE("]}"));
    assert_true(buffer_ok(&buffer));
    return buffer_slice(&buffer);
}

/* Goal: a measured document has the fingerprint of its metadata. Method: pages of all kinds, through
 * both functions. */
static void test_fingerprint_equals_that_of_the_metadata(void **state)
{
    static const struct document_page pages[] = {
        {595.2756, 841.8898}, {612, 792}, {0.0010000000000000002, 14400}, {0, 1e-9}, {1.005, 2.675},
        {100.125, 99999.995}, {2e20, 1},
    };
    struct store_fixture *fixture = *state;

    for (uint32_t count = 1; count <= sizeof(pages) / sizeof(pages[0]); count++) {
        struct document_measures measures = paper("a");
        struct layout_fingerprint measured;
        struct layout_fingerprint computed;
        struct sha256_digest digest;
        char text[2 * SHA256_BYTES];

        measures.pages = pages;
        measures.page_count = count;
        measures.table_count = count - 1;
        measures.covered_cells = count % 2 == 0 ? 0 : 3045 * count;
        measures.page_cells = count == 5 ? 0 : 1000000;
        assert_int_equal(fingerprint_of_measures(&fixture->arena, &measures, &measured), OK);
        assert_int_equal(
            fingerprint_compute(&fixture->ctx, metadata_of(fixture, &measures), &computed), OK);
        assert_true(slice_equal(measured.canonical_json, computed.canonical_json));
        assert_memory_equal(measured.text, computed.text, sizeof(measured.text));
        digest = sha256(measured.canonical_json);
        sha256_format(&digest, text);
        assert_memory_equal(measured.text, text, sizeof(text));
    }
}

/* Goal: the response has the rounded measures, with the profile after it. Method: one document,
 * decoded by protobuf-c. */
static void test_response_has_rounded_measures_and_profile(void **state)
{
    struct store_fixture *fixture = *state;
    struct document_measures measures = paper("invoice-7");
    struct layout_fingerprint fingerprint;
    uint64_t seq = paper_ingest(fixture, &measures);
    Errata__V1__IngestDocumentResponse *answer = paper_answer(fixture, seq);
    const Errata__V1__Document *document = answer->document;
    const Errata__V1__LayoutProfile *profile = answer->profile;

    assert_int_equal(fingerprint_of_measures(&fixture->arena, &measures, &fingerprint), OK);
    assert_memory_equal(document->layout_fingerprint, fingerprint.text, sizeof(fingerprint.text));
    assert_string_equal(document->document_id, "invoice-7");
    assert_int_equal(document->page_count, 1);
    assert_int_equal(document->n_page_dimensions, 1);
    assert_true(document->page_dimensions[0]->width == 595.28);
    assert_true(document->page_dimensions[0]->height == 841.89);
    assert_int_not_equal(document->_table_count_case, 0);
    assert_int_equal(document->table_count, 1);
    assert_true(document->text_coverage_ratio == 0.1);
    assert_int_equal(document->text_chars, 500);
    assert_int_equal(document->pages_read, 1);
    assert_int_equal(document->size_bytes, 1234);
    assert_int_equal(strlen(document->sha256), 64);
    assert_int_equal(document->n_warnings, 0);
    assert_string_equal(document->fp_version, "1/22.12.0");
    assert_string_equal(document->input_snippet, "Invoice 7\nBohrer 12 St\xc3\xbc\x63k\n");
    assert_int_equal(document->created_at->seconds, STORE_FIXTURE_START_US / 1000000 + 1);
    assert_string_equal(profile->id, document->id);
    assert_string_equal(profile->layout_fingerprint, document->layout_fingerprint);
    assert_int_equal(profile->seen_count, 1);
    assert_true(profile->stats->page_count == 1 && profile->stats->table_count == 1);
    assert_true(profile->stats->text_coverage_ratio == 0.1);
    assert_true(profile->stats->text_density == 0.2);
    assert_string_equal(profile->stats->fp_version, "1/22.12.0");
    assert_int_equal(profile->first_seen_at->seconds, document->created_at->seconds);
    assert_int_equal(profile->updated_at->seconds, document->created_at->seconds);
    errata__v1__ingest_document_response__free_unpacked(answer, NULL);
}

/* Goal: a scan has no snippet, though its pages end with line feeds; text keeps its white space.
 * Method: only white space, and text between it. */
static void test_scan_has_no_snippet(void **state)
{
    struct store_fixture *fixture = *state;
    struct document_measures scan = paper("a");
    struct document_measures text = paper("b");
    Errata__V1__IngestDocumentResponse *answer = NULL;

    scan.input_snippet = SLICE("\n \t\f\r\n\v\n");
    answer = paper_answer(fixture, paper_ingest(fixture, &scan));
    assert_string_equal(answer->document->input_snippet, "");
    errata__v1__ingest_document_response__free_unpacked(answer, NULL);
    text.input_snippet = SLICE("\n x\n");
    answer = paper_answer(fixture, paper_ingest(fixture, &text));
    assert_string_equal(answer->document->input_snippet, "\n x\n");
    errata__v1__ingest_document_response__free_unpacked(answer, NULL);
}

static void expect_warning(const struct document_measures *measures, struct store_fixture *fixture,
                           Errata__V1__WarningCode code)
{
    uint64_t seq = paper_ingest(fixture, measures);
    Errata__V1__IngestDocumentResponse *answer = paper_answer(fixture, seq);

    assert_int_equal(answer->document->n_warnings, 1);
    assert_int_equal(answer->document->warnings[0]->code, code);
    assert_int_not_equal(answer->document->warnings[0]->message[0], '\0');
    errata__v1__ingest_document_response__free_unpacked(answer, NULL);
}

/* Goal: each warning for people has a code. Method: one document for each. */
static void test_each_warning_has_a_code(void **state)
{
    struct store_fixture *fixture = *state;
    struct document_measures damaged = paper("a");
    struct document_measures large = paper("b");
    struct document_measures scan = paper("c");
    struct document_measures cmaps = paper("d");
    struct document_measures cut = paper("e");

    damaged.damaged = true;
    large.page_too_large = true;
    scan.page_one_chars = 0;
    cmaps.cmaps_unavailable = true;
    cut.has_table_count = false;
    expect_warning(&damaged, fixture, ERRATA__V1__WARNING_CODE__WARNING_CODE_DAMAGED);
    expect_warning(&large, fixture, ERRATA__V1__WARNING_CODE__WARNING_CODE_PAGE_TOO_LARGE);
    expect_warning(&scan, fixture, ERRATA__V1__WARNING_CODE__WARNING_CODE_SCAN);
    expect_warning(&cmaps, fixture, ERRATA__V1__WARNING_CODE__WARNING_CODE_CMAPS_UNAVAILABLE);
    expect_warning(&cut, fixture, ERRATA__V1__WARNING_CODE__WARNING_CODE_RULINGS_LIMIT);
}

/* Goal: a document that was cut is never hashed. Method: a document without a table count. */
static void test_cut_document_has_no_fingerprint(void **state)
{
    struct store_fixture *fixture = *state;
    struct document_measures measures = paper("a");
    Errata__V1__IngestDocumentResponse *answer = NULL;
    struct store_txn *txn = NULL;
    struct event event;
    uint64_t seq = 0;

    measures.has_table_count = false;
    seq = paper_ingest(fixture, &measures);
    answer = paper_answer(fixture, seq);
    assert_int_equal(answer->document->_layout_fingerprint_case, 0);
    assert_int_equal(answer->document->_table_count_case, 0);
    assert_null(answer->profile);
    assert_true(answer->document->input_snippet[0] != '\0');
    errata__v1__ingest_document_response__free_unpacked(answer, NULL);
    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(log_read(txn, paper_org(), seq, &event), OK);
    assert_int_equal(event.subject_count, 1);
    assert_int_equal(event.subjects[0].kind, SUBJECT_DOCUMENT);
    store_abort(txn);
}

/* Returns the bytes of the response of IngestDocument. */
static struct slice answer_bytes(struct store_fixture *fixture, uint64_t seq)
{
    Errata__V1__IngestDocumentResponse *answer = paper_answer(fixture, seq);
    size_t size = errata__v1__ingest_document_response__get_packed_size(answer);
    uint8_t *bytes = arena_alloc(&fixture->arena, size);

    assert_non_null(bytes);
    assert_int_equal(errata__v1__ingest_document_response__pack(answer, bytes), size);
    errata__v1__ingest_document_response__free_unpacked(answer, NULL);
    return slice_of(bytes, size);
}

/* Goal: the same bytes again change nothing and get the first response; other bytes are refused.
 * Method: a document again after others of its layout, cut or not; then with another digest. */
static void test_repeated_document_changes_nothing(void **state)
{
    struct store_fixture *fixture = *state;
    struct document_measures first = paper("a");
    struct document_measures other = paper("b");
    uint64_t seq = paper_ingest(fixture, &first);
    uint64_t found = 0;
    struct slice answer = answer_bytes(fixture, seq);

    assert_int_equal(paper_ingest(fixture, &other), seq + 1);
    assert_int_equal(paper_ingest(fixture, &first), seq);
    first.has_table_count = false;
    assert_int_equal(paper_ingest(fixture, &first), seq);
    assert_true(slice_equal(answer_bytes(fixture, seq), answer));
    first.sha256.bytes[0] ^= 1;
    assert_int_equal(paper_store(fixture, &first, &found), ERR_EXISTS);
    assert_int_equal(found, 0);
    assert_non_null(memmem(fixture->fault.message.data, fixture->fault.message.size,
                           "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", 64));
    assert_int_equal(paper_last_seq(fixture), seq + 1);
}

static Errata__V1__DocumentIngested *ingested_of(struct store_fixture *fixture,
                                                 const struct event *event, bool with_content)
{
    Errata__V1__GetEventResponse *answer = NULL;
    Errata__V1__DocumentIngested *ingested = NULL;
    struct document_ingested_view view;
    struct buffer event_body;
    struct buffer body;

    /* Wraps the payload into an event, like EventService. */
    buffer_init(&event_body, &fixture->arena, 256);
    if (with_content) {
        assert_int_equal(document_ingested_of_event(&fixture->arena, event, &view), OK);
        document_ingested_view_put(&view, EVENT_DOCUMENT_INGESTED_FIELD, &event_body);
    } else {
        wire_put_bytes(&event_body, EVENT_DOCUMENT_INGESTED_FIELD, event->facts);
    }
    buffer_init(&body, &fixture->arena, 256);
    wire_put_bytes(&body, GET_EVENT_RESPONSE_EVENT_FIELD, buffer_slice(&event_body));
    answer = errata__v1__get_event_response__unpack(NULL, body.size, body.data);
    assert_non_null(answer);
    assert_int_equal(answer->event->payload_case, ERRATA__V1__EVENT__PAYLOAD_DOCUMENT_INGESTED);
    ingested = answer->event->document_ingested;
    answer->event->document_ingested = NULL;
    answer->event->payload_case = ERRATA__V1__EVENT__PAYLOAD__NOT_SET;
    errata__v1__get_event_response__free_unpacked(answer, NULL);
    return ingested;
}

/* Goal: the log has a document as one message, and without its content for callers that may not see
 * it. Method: both ways, decoded by protobuf-c, beside the response of IngestDocument. */
static void test_event_has_the_document_without_content(void **state)
{
    struct store_fixture *fixture = *state;
    struct document_measures measures = paper("a");
    Errata__V1__IngestDocumentResponse *answer = NULL;
    struct store_txn *txn = NULL;
    struct document_ingested_internal_view internal;
    struct event event;

    measures.page_one_chars = 7;
    answer = paper_answer(fixture, paper_ingest(fixture, &measures));
    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(log_read(txn, paper_org(), 1, &event), OK);
    for (int content = 0; content < 2; content++) {
        Errata__V1__DocumentIngested *ingested = ingested_of(fixture, &event, content != 0);

        assert_string_equal(ingested->document->input_snippet,
                            content != 0 ? answer->document->input_snippet : "");
        assert_string_equal(ingested->document->id, answer->document->id);
        assert_int_equal(ingested->document->n_page_dimensions, 1);
        assert_true(ingested->profile->stats->text_density == answer->profile->stats->text_density);
        assert_string_equal(ingested->profile->stats->fp_version,
                            answer->profile->stats->fp_version);
        assert_int_equal(document_ingested_internal_view_read(
                             slice_of(ingested->internal.data, ingested->internal.len), &internal),
                         OK);
        assert_int_equal(internal.text_coverage_hundredths, 10);
        assert_int_equal(internal.text_density_ten_thousandths, 28);
        assert_false(internal.scan);
        errata__v1__document_ingested__free_unpacked(ingested, NULL);
    }
    store_abort(txn);
    errata__v1__ingest_document_response__free_unpacked(answer, NULL);
}

/* Returns the number of documents of a profile; 0 if there is none. */
static uint64_t seen_count(struct store_fixture *fixture, const char *layout)
{
    struct store_txn *txn = NULL;
    struct profile profile = {.view = {.seen_count = 0}};
    enum err err = OK;

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    err = profile_find(&fixture->arena, txn, paper_org(), slice_text(layout), &profile);
    store_abort(txn);
    assert_true(err == OK || err == ERR_NOT_FOUND);
    return profile.view.seen_count;
}

/* Goal: a document that was stored without a fingerprint gets it later: it moves, keeps its id, and
 * is counted once. Method: cut, cut again, whole, whole again; found by its id and by that of its
 * second event. */
static void test_document_measured_later_moves_once(void **state)
{
    struct store_fixture *fixture = *state;
    struct document_measures measures = paper("a");
    Errata__V1__IngestDocumentResponse *cut = NULL;
    Errata__V1__IngestDocumentResponse *whole = NULL;
    struct store_txn *txn = NULL;
    struct document_list list = {.org = paper_org()};
    Errata__V1__ListDocumentsResponse *listed = NULL;
    struct event event;
    struct uuid id;
    struct paper_pages pages = {.size = 10};

    measures.has_table_count = false;
    assert_int_equal(paper_ingest(fixture, &measures), 1);
    assert_int_equal(paper_ingest(fixture, &measures), 1);
    measures.has_table_count = true;
    assert_int_equal(paper_ingest(fixture, &measures), 2);
    assert_int_equal(paper_ingest(fixture, &measures), 2);
    cut = paper_answer(fixture, 1);
    whole = paper_answer(fixture, 2);
    assert_string_equal(cut->document->id, whole->document->id);
    assert_int_equal(whole->profile->seen_count, 1);
    assert_int_equal(seen_count(fixture, whole->document->layout_fingerprint), 1);
    listed = paper_list(fixture, &list, &pages);
    assert_false(pages.more);
    assert_int_equal(listed->n_documents, 1);
    assert_string_equal(listed->documents[0]->layout_fingerprint,
                        whole->document->layout_fingerprint);
    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_true(uuid_parse(slice_text(cut->document->id), &id));
    assert_int_equal(document_read_by_id(txn, paper_org(), id, &event), OK);
    assert_int_equal(event.seq, 2);
    assert_int_equal(document_read_by_id(txn, paper_org(), event.id, &event), OK);
    assert_int_equal(event.seq, 2);
    assert_int_equal(document_read(txn, paper_org(), SLICE("a"), &event), OK);
    assert_int_equal(event.seq, 2);
    assert_int_equal(document_read(txn, store_fixture_org(9), SLICE("a"), &event), ERR_NOT_FOUND);
    assert_int_equal(document_read_by_id(txn, store_fixture_org(9), id, &event), ERR_NOT_FOUND);
    store_abort(txn);
    errata__v1__list_documents_response__free_unpacked(listed, NULL);
    errata__v1__ingest_document_response__free_unpacked(cut, NULL);
    errata__v1__ingest_document_response__free_unpacked(whole, NULL);
}

/* Goal: the same bytes under another id are another document, counted. Method: two ids, one digest. */
static void test_same_bytes_under_another_id_are_another_document(void **state)
{
    struct store_fixture *fixture = *state;
    struct document_measures first = paper("a");
    struct document_measures second = paper("b");
    Errata__V1__IngestDocumentResponse *answer = NULL;

    second.sha256 = first.sha256;
    second.page_one_chars = 2500;
    assert_int_equal(paper_ingest(fixture, &first), 1);
    assert_int_equal(paper_ingest(fixture, &second), 2);
    answer = paper_answer(fixture, 2);
    assert_int_equal(answer->profile->seen_count, 2);
    assert_true(answer->profile->stats->text_density == 0.6);
    assert_int_equal(seen_count(fixture, answer->document->layout_fingerprint), 2);
    assert_int_equal(seen_count(fixture, "other"), 0);
    for (char *at = answer->document->layout_fingerprint; *at != '\0'; at++) {
        *at = (char)(*at >= 'a' ? *at - 'a' + 'A' : *at);
    }
    assert_int_equal(seen_count(fixture, answer->document->layout_fingerprint), 0);
    errata__v1__ingest_document_response__free_unpacked(answer, NULL);
}

/* Goal: the response reports whether a document is a scan as of any event. Method: a scan, stored
 * at first without a fingerprint, before, between and after its events. */
static void test_scan_is_answered_as_of_any_event(void **state)
{
    struct store_fixture *fixture = *state;
    struct document_measures measures = paper("a");
    struct document_measures other = paper("b");
    struct store_txn *txn = NULL;
    struct document_state found = {.is_scan = false};

    assert_int_equal(paper_ingest(fixture, &other), 1);
    measures.page_one_chars = 0;
    measures.has_table_count = false;
    assert_int_equal(paper_ingest(fixture, &measures), 2);
    measures.has_table_count = true;
    assert_int_equal(paper_ingest(fixture, &measures), 3);
    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(document_read_state(txn, paper_org(), SLICE("a"), 1, &found), ERR_NOT_FOUND);
    for (uint64_t seq = 2; seq < 5; seq++) {
        found.is_scan = false;
        assert_int_equal(document_read_state(txn, paper_org(), SLICE("a"), seq, &found), OK);
        assert_true(found.is_scan);
    }
    assert_int_equal(document_read_state(txn, paper_org(), SLICE("b"), UINT64_MAX, &found), OK);
    assert_false(found.is_scan);
    store_abort(txn);
}

/* Goal: damaged facts are reported, not guessed. Method: each prefix of an event's facts. */
static void test_damaged_facts_are_corrupt(void **state)
{
    struct store_fixture *fixture = *state;
    struct document_measures measures = paper("a");
    struct store_txn *txn = NULL;
    struct document_facts facts;
    struct event event;
    unsigned corrupt = 0;

    measures.page_one_chars = 0;
    assert_int_equal(paper_ingest(fixture, &measures), 1);
    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(log_read(txn, paper_org(), 1, &event), OK);
    for (size_t size = 0; size < event.facts.size; size++) {
        uint8_t *block = arena_alloc(&fixture->arena, size > 0 ? size : 1);

        assert_non_null(block);
        memcpy(block, event.facts.data, size);
        corrupt += document_facts_read(slice_of(block, size), &facts) == ERR_CORRUPT;
    }
    /* The whole document, with or without its profile, and numbers that end early stay readable. */
    assert_true(corrupt + 8 > event.facts.size);
    assert_int_equal(document_facts_read(event.facts, &facts), OK);
    assert_true(facts.internal.scan);
    store_abort(txn);
}

int run_documents_tests(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_fingerprint_equals_that_of_the_metadata),
        TEST(test_response_has_rounded_measures_and_profile),
        TEST(test_scan_has_no_snippet),
        TEST(test_each_warning_has_a_code),
        TEST(test_cut_document_has_no_fingerprint),
        TEST(test_repeated_document_changes_nothing),
        TEST(test_document_measured_later_moves_once),
        TEST(test_same_bytes_under_another_id_are_another_document),
        TEST(test_scan_is_answered_as_of_any_event),
        TEST(test_damaged_facts_are_corrupt),
        TEST(test_event_has_the_document_without_content),
    };
#undef TEST

    return cmocka_run_group_tests_name("documents", tests, NULL, NULL);
}
