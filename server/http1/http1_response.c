/*
 * http1_response.c: see http1_response.h.
 */
#include "server/http1/http1_response.h"

#include "store/base/assert.h"
#include "store/base/timestamp.h"

#include <inttypes.h>
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
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {413, "Content Too Large"},
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

void http1_write_head(struct buffer *to, const struct http_head *head, int64_t wall_us, bool closes)
{
    char date[HTTP1_DATE_BYTES] = "";

    http1_format_date(wall_us, date);
    buffer_printf(to, "HTTP/1.1 %u %s\r\ndate: %s\r\n", head->status, http1_reason_of(head->status),
                  date);
    for (uint32_t i = 0; i < head->field_count; i++) {
        buffer_append(to, head->fields[i].name);
        buffer_append(to, SLICE(": "));
        buffer_append(to, head->fields[i].value);
        buffer_append(to, SLICE("\r\n"));
    }
    if (!head->has_length) {
        buffer_append(to, SLICE("transfer-encoding: chunked\r\n"));
    } else if (http_status_has_length(head->status)) {
        buffer_printf(to, "content-length: %" PRIu64 "\r\n", head->length);
    }
    buffer_append(to, closes ? SLICE("connection: close\r\n\r\n") : SLICE("\r\n"));
}

size_t http1_write_chunk_line(uint8_t *to, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t length = 0;
    unsigned shift = 28;

    ASSERT(size > 0 && size <= UINT32_MAX);
    while (size >> shift == 0) {
        shift -= 4;
    }
    for (;; shift -= 4) {
        to[length++] = (uint8_t)digits[size >> shift & 15];
        if (shift == 0) {
            break;
        }
    }
    to[length++] = '\r';
    to[length++] = '\n';
    return length;
}
