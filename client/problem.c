/*
 * problem.c: see problem.h.
 */
#include "client/problem.h"

#include "store/base/text.h"

#include <stdarg.h>
#include <stdio.h>

void problem_say(const struct problem *problem, const char *format, ...)
{
    char whole[PROBLEM_BYTES_MAX];
    struct slice kept = {NULL, 0};
    va_list values;

    if (problem->text == NULL || problem->bytes == 0) {
        return;
    }
    va_start(values, format);
    (void)vsnprintf(whole, sizeof(whole), format, values);
    va_end(values);
    kept = text_first_bytes(slice_text(whole), problem->bytes - 1);
    memcpy(problem->text, kept.data, kept.size);
    problem->text[kept.size] = '\0';
}

struct problem_shown problem_show(const char *text)
{
    struct slice whole = slice_text(text);
    struct problem_shown shown;
    struct slice kept = {NULL, 0};

    if (!text_is_utf8(whole) || text_has_control(whole)) {
        (void)snprintf(shown.text, sizeof(shown.text), "%s", "(no text)");
        return shown;
    }
    kept = text_first_bytes(whole, PROBLEM_SHOWN_BYTES_MAX);
    (void)snprintf(shown.text, sizeof(shown.text), "%.*s%s", (int)kept.size,
                   (const char *)kept.data, kept.size < whole.size ? "..." : "");
    return shown;
}
