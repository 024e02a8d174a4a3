/*
 * labels.c: see labels.h.
 */
#include "server/domain/rule_files/labels.h"

#include "server/domain/events/retraction.h"
#include "server/domain/rule_files/file_time.h"
#include "store/base/json.h"

#include <errata/v1/verdict_submission.views.h>

static struct slice word_of(enum verdict verdict)
{
    if (verdict == VERDICT_REAL) {
        return SLICE("real");
    }
    return verdict == VERDICT_FAKE ? SLICE("fake") : SLICE("suspicious");
}

/* Appends a checked JSON text without white space between its tokens, so that it is one line. */
static void put_compact(struct slice json, struct buffer *line)
{
    bool in_string = false;
    size_t from = 0;

    for (size_t i = 0; i < json.size; i++) {
        uint8_t byte = json.data[i];

        if (in_string) {
            i += byte == '\\';
            in_string = byte != '"';
        } else if (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r') {
            buffer_append(line, slice_of(json.data + from, i - from));
            from = i + 1;
        } else {
            in_string = byte == '"';
        }
    }
    buffer_append(line, slice_after(json, from));
}

/* Appends the corrections as an object. Entries of the map have the fields 1, the name, and 2, the value. */
static enum err put_corrections(struct slice run, struct buffer *line)
{
    struct slice entry = {NULL, 0};
    bool is_first = true;

    buffer_append_byte(line, '{');
    while (view_next(&run, &entry)) {
        struct wire_reader reader = wire_reader_of(entry);
        struct wire_field field;
        struct slice name = {NULL, 0};
        struct slice value = {NULL, 0};
        enum err err = OK;

        while ((err = wire_next(&reader, &field)) == OK) {
            name = field.number == 1 ? field.bytes : name;
            value = field.number == 2 ? field.bytes : value;
        }
        if (err != ERR_NOT_FOUND) {
            return err;
        }
        buffer_append(line, is_first ? SLICE("") : SLICE(","));
        json_write_string(line, name, false);
        buffer_append_byte(line, ':');
        json_write_string(line, value, false);
        is_first = false;
    }
    buffer_append_byte(line, '}');
    return OK;
}

static enum err put_line(const struct event *event, const struct verdict_submission_view *view,
                         struct buffer *piece)
{
    enum err err = OK;

    buffer_append(piece, SLICE("{\"receipt_id\":"));
    json_write_string(piece, view->receipt_id, false);
    buffer_append(piece, SLICE(",\"correct_verdict\":"));
    json_write_string(piece, word_of(view->correct_verdict), false);
    buffer_append(piece, SLICE(",\"features\":"));
    if (view->original_features_json.size > 0) {
        put_compact(view->original_features_json, piece);
    } else {
        buffer_append(piece, SLICE("null"));
    }
    buffer_append(piece, SLICE(",\"corrections\":"));
    err = put_corrections(view->corrections.run, piece);
    buffer_append(piece, SLICE(",\"timestamp\":"));
    file_time_put(event->created_at_us, piece);
    buffer_append(piece, SLICE("}\n"));
    return err;
}

/* Appends the line of an event, if it is a submission to be exported. */
static enum err put_event(struct store_txn *txn, const struct labels *labels,
                          const struct event *event, struct buffer *piece)
{
    struct verdict_submission_view view;
    uint64_t retraction_seq = 0;
    enum err err = OK;

    if (event->kind != EVENT_VERDICT_SUBMITTED) {
        return OK;
    }
    err = retraction_find(txn, event->org, event->seq, &retraction_seq);
    if (err == OK && retraction_seq == 0) {
        err = view_read_parts(&verdict_submission_view_type, event->facts, event->content, &view);
    }
    if (err != OK || retraction_seq != 0 ||
        (labels->only_corrected && view.corrections.run.size == 0)) {
        return err;
    }
    return put_line(event, &view, piece);
}

static enum err begin(struct store_txn *txn, struct org_id org, struct labels *labels)
{
    struct log_head head;
    enum err err = log_read_head(txn, org, &head);

    if (err == OK) {
        labels->has_begun = true;
        labels->last_seq = head.last_seq;
        if (labels->next_seq == 0) {
            labels->next_seq = 1;
        } else if (labels->next_seq > head.last_seq) {
            labels->next_seq = head.last_seq + 1;
        }
    }
    return err;
}

enum err labels_next(struct store_txn *txn, struct org_id org, struct labels *labels,
                     struct buffer *piece)
{
    size_t start = piece->size;
    enum err err = labels->has_begun ? OK : begin(txn, org, labels);

    for (unsigned i = 0;
         err == OK && i < LABELS_EVENTS_MAX && labels->next_seq <= labels->last_seq &&
         piece->size - start < LABELS_PIECE_BYTES;
         i++) {
        struct event event;

        err = log_read(txn, org, labels->next_seq, &event);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        if (err == OK) {
            err = put_event(txn, labels, &event, piece);
        }
        labels->next_seq += err == OK;
    }
    labels->has_ended = labels->next_seq > labels->last_seq;
    return err == OK && !buffer_ok(piece) ? ERR_MEMORY : err;
}
