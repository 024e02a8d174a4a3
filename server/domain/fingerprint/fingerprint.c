/*
 * fingerprint.c: see fingerprint.h. The four members are written in the order of their names by
 * this file; their values may be any JSON.
 */
#include "server/domain/fingerprint/fingerprint.h"

#include "server/domain/fingerprint/canonical.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FIELD SLICE("metadata_json")

/* `%.2f` of the largest double has 309 digits, the point, 2 digits and a sign. */
#define ROUNDED_BYTES 320

static enum err write_member(struct ctx *ctx, struct json_value metadata, const char *name,
                             struct buffer *buffer)
{
    struct json_value value = {JSON_NULL, SLICE("null")};

    if (!json_member(metadata, slice_text(name), &value)) {
        value = (struct json_value){JSON_NULL, SLICE("null")};
    }
    buffer_printf(buffer, "\"%s\": ", name);
    return canonical_write(ctx->arena, buffer, value);
}

/* The C library converts exactly in both directions, as Python does; the program never sets a
 * locale, so the decimal separator is a point. */
double fingerprint_round(double value)
{
    char text[ROUNDED_BYTES] = {0};

    if (!isfinite(value)) {
        return value;
    }
    (void)snprintf(text, sizeof(text), "%.2f", value);
    return strtod(text, NULL);
}

/* Writes the ratio as round() returns it: an integer remains an integer, and so do false and
 * true. */
static enum err write_ratio(struct ctx *ctx, struct json_value metadata, struct buffer *buffer)
{
    struct json_value value = {JSON_NUMBER, SLICE("0")};
    struct canonical_number number = {false, 0};

    buffer_append(buffer, SLICE("\"text_coverage_ratio\": "));
    if (!json_member(metadata, SLICE("text_coverage_ratio"), &value)) {
        value = (struct json_value){JSON_NUMBER, SLICE("0")};
    }
    if (value.kind == JSON_TRUE || value.kind == JSON_FALSE) {
        buffer_append_byte(buffer, value.kind == JSON_TRUE ? '1' : '0');
        return OK;
    }
    if (value.kind != JSON_NUMBER) {
        fault_add(
            ctx->fault, FIELD,
            "text_coverage_ratio is not a number; expected a number such as 0.35, or no value");
        return ERR_INVALID;
    }
    number = canonical_read_number(value.text);
    if (number.is_float) {
        canonical_write_double(buffer, fingerprint_round(number.value));
        return OK;
    }
    return canonical_write(ctx->arena, buffer, value);
}

static enum err read_metadata(struct ctx *ctx, struct slice text, struct json_value *ret_value)
{
    const struct json_rules rules = {JSON_FIELD_DEPTH_MAX, true};
    struct json_problem problem = {NULL, 0};
    enum err err = json_check(ctx->arena, text, &rules, ret_value, &problem);

    if (err == ERR_INVALID) {
        fault_add(ctx->fault, FIELD,
                  "invalid JSON, %s at byte %zu; expected an object with page_count, "
                  "page_dimensions, table_count and text_coverage_ratio",
                  problem.what, problem.at);
    } else if (err == OK && ret_value->kind != JSON_OBJECT) {
        fault_add(ctx->fault, FIELD,
                  "not a JSON object; expected one with page_count, page_dimensions, table_count "
                  "and text_coverage_ratio");
        err = ERR_INVALID;
    }
    return err;
}

/* Finds the end of the number that begins at `at`, and whether it is an integer. */
static size_t pass_number(struct slice text, size_t at, bool *ret_integer)
{
    bool integer = true;

    while (at < text.size &&
           (text.data[at] == '-' || text.data[at] == '+' || text.data[at] == '.' ||
            text.data[at] == 'e' || text.data[at] == 'E' || isdigit(text.data[at]))) {
        integer = integer && (text.data[at] == '-' || isdigit(text.data[at]));
        at++;
    }
    *ret_integer = integer;
    return at;
}

/* Python also parses the ignored members, and raises an error for a long integer in any of them. */
static enum err check_digits(struct ctx *ctx, struct slice text)
{
    bool in_string = false;
    size_t at = 0;

    while (at < text.size) {
        bool integer = false;
        size_t end = in_string ? at : pass_number(text, at, &integer);

        if (end > at) {
            size_t digits = end - at - (text.data[at] == '-');

            if (integer && digits > FINGERPRINT_DIGITS_MAX) {
                fault_add(
                    ctx->fault, FIELD,
                    "integer of %zu digits at byte %zu; expected at most %d digits, or a float",
                    digits, at, FINGERPRINT_DIGITS_MAX);
                return ERR_INVALID;
            }
            at = end;
            continue;
        }
        if (text.data[at] == '"') {
            in_string = !in_string;
        }
        at += in_string && text.data[at] == '\\' ? 2 : 1;
    }
    return OK;
}

static enum err finish(const struct buffer *buffer, struct layout_fingerprint *ret_fingerprint)
{
    struct sha256_digest digest = {{0}};

    if (!buffer_ok(buffer)) {
        return ERR_MEMORY;
    }
    digest = sha256(buffer_slice(buffer));
    ret_fingerprint->canonical_json = buffer_slice(buffer);
    sha256_format(&digest, ret_fingerprint->text);
    return OK;
}

enum err fingerprint_compute(struct ctx *ctx, struct slice metadata_json,
                             struct layout_fingerprint *ret_fingerprint)
{
    static const char *const names[] = {"page_count", "page_dimensions", "table_count"};
    struct json_value metadata = {JSON_NULL, {NULL, 0}};
    struct buffer buffer = {0};
    enum err err = read_metadata(ctx, metadata_json, &metadata);

    if (err == OK) {
        err = check_digits(ctx, metadata_json);
    }
    buffer_init(&buffer, ctx->arena, 256);
    buffer_append_byte(&buffer, '{');
    for (size_t i = 0; i < 3 && err == OK; i++) {
        err = write_member(ctx, metadata, names[i], &buffer);
        buffer_append(&buffer, SLICE(", "));
    }
    if (err == OK) {
        err = write_ratio(ctx, metadata, &buffer);
    }
    buffer_append_byte(&buffer, '}');
    return err != OK ? err : finish(&buffer, ret_fingerprint);
}

double fingerprint_coverage(const struct document_measures *measures)
{
    if (measures->page_cells == 0) {
        return 0;
    }
    return fingerprint_round((double)measures->covered_cells / (double)measures->page_cells);
}

enum err fingerprint_of_measures(struct arena *arena, const struct document_measures *measures,
                                 struct layout_fingerprint *ret_fingerprint)
{
    struct buffer buffer = {0};

    buffer_init(&buffer, arena, 128 + (size_t)measures->page_count * 16);
    buffer_printf(&buffer, "{\"page_count\": %" PRIu32 ", \"page_dimensions\": [",
                  measures->page_count);
    for (uint32_t i = 0; i < measures->page_count; i++) {
        buffer_append(&buffer, i == 0 ? SLICE("[") : SLICE(", ["));
        canonical_write_double(&buffer, fingerprint_round(measures->pages[i].width));
        buffer_append(&buffer, SLICE(", "));
        canonical_write_double(&buffer, fingerprint_round(measures->pages[i].height));
        buffer_append_byte(&buffer, ']');
    }
    buffer_printf(&buffer, "], \"table_count\": %" PRIu32 ", \"text_coverage_ratio\": ",
                  measures->table_count);
    canonical_write_double(&buffer, fingerprint_coverage(measures));
    buffer_append_byte(&buffer, '}');
    return finish(&buffer, ret_fingerprint);
}
