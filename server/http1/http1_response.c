/*
 * http1_response.c: see http1_response.h.
 */
#include "server/http1/http1_response.h"

#include "store/base/timestamp.h"

#include <stdio.h>

#define US_PER_S INT64_C(1000000)
#define S_PER_DAY INT64_C(86400)
/* 1970-01-01 was a Thursday. */
#define FIRST_WEEKDAY 4

struct http1_reason {
    unsigned status;
    const char *text;
};

static const struct http1_reason http1_reasons[] = {
    {200, "OK"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

static const char *http1_reason_of(unsigned status)
{
    for (size_t i = 0; i < sizeof(http1_reasons) / sizeof(http1_reasons[0]); i++) {
        if (http1_reasons[i].status == status) {
            return http1_reasons[i].text;
        }
    }
    return "";
}

void http1_format_date(int64_t wall_us, char date[HTTP1_DATE_BYTES])
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    int64_t seconds = wall_us > 0 ? wall_us / US_PER_S : 0;
    char text[TIMESTAMP_TEXT_BYTES_MAX] = "";
    unsigned month = 0;

    /* 2026-11-24T08:30:00Z */
    (void)timestamp_format(seconds, 0, text);
    month = (unsigned)(text[5] - '0') * 10 + (unsigned)(text[6] - '0');
    (void)snprintf(date, HTTP1_DATE_BYTES, "%s, %.2s %s %.4s %.8s GMT",
                   days[(seconds / S_PER_DAY + FIRST_WEEKDAY) % 7], text + 8,
                   months[(month + 11) % 12], text, text + 11);
}

/* Returns whether a value may be sent: a line end in it would begin another field. */
static bool http1_is_value(struct slice value)
{
    for (size_t i = 0; i < value.size; i++) {
        if ((value.data[i] < ' ' && value.data[i] != '\t') || value.data[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

void http1_write_head(struct buffer *head, const struct connect_response *response, int64_t wall_us,
                      bool closes)
{
    char date[HTTP1_DATE_BYTES] = "";

    http1_format_date(wall_us, date);
    buffer_printf(head, "HTTP/1.1 %u %s\r\ndate: %s\r\n", response->status,
                  http1_reason_of(response->status), date);
    for (uint32_t i = 0; i < response->field_count; i++) {
        const struct call_field *field = &response->fields[i];

        if (http1_is_value(field->value)) {
            buffer_append(head, field->name);
            buffer_append(head, SLICE(": "));
            buffer_append(head, field->value);
            buffer_append(head, SLICE("\r\n"));
        }
    }
    if (response->status != 304) {
        buffer_printf(head, "content-length: %zu\r\n", response->body.size);
    }
    buffer_append(head, closes ? SLICE("connection: close\r\n\r\n") : SLICE("\r\n"));
}
