/*
 * report_html.c: the page (page/), which is compiled in, with the JSON report inserted.
 */
#include "tools/bench/report.h"

#include <bench_page.h>

/* Inside an element a `<` could end it: JSON can escape that character, which occurs only in its
 * strings. */
static void put_escaped(struct buffer *html, struct slice json)
{
    size_t start = 0;

    for (size_t i = 0; i < json.size; i++) {
        if (json.data[i] == '<') {
            buffer_append(html, slice_of(json.data + start, i - start));
            buffer_append(html, SLICE("\\u003c"));
            start = i + 1;
        }
    }
    buffer_append(html, slice_after(json, start));
}

void report_write_html(const struct report *report, struct arena *arena, struct buffer *html)
{
    struct buffer json;

    buffer_init(&json, arena, 65536);
    report_write_json(report, arena, &json);
    buffer_append(html, slice_of(bench_page_head, sizeof(bench_page_head)));
    put_escaped(html, buffer_slice(&json));
    buffer_append(html, slice_of(bench_page_tail, sizeof(bench_page_tail)));
    html->failed = html->failed || json.failed;
}
