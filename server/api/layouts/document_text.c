/*
 * document_text.c: see document_text.h.
 */
#include "server/api/layouts/document_text.h"

#include "server/domain/layouts/documents.h"
#include "store/base/wire.h"

#include <errata/v1/layout_service.fields.h>
#include <errata/v1/warning.fields.h>
#include <errata/v1/warning.views.h>

/* Room for the members besides the text: numbers and a warning. */
#define OTHER_BYTES 512

_Static_assert(PDF_PAGES_TEXT_BYTES_MAX == 1 << 20, "a text below says so");

/* Returns why the text does not cover the whole document; empty if it does. */
static struct slice warning_of(struct arena *arena, const struct pdf_answer *answer)
{
    switch (answer->pages.end) {
    case PDF_PAGES_WHOLE:
        return slice_of(NULL, 0);
    case PDF_PAGES_FULL:
        return arena_printf(arena, "the text is cut at 1 MiB, on page %u of %u",
                            answer->pages.count, answer->text.page_count);
    case PDF_PAGES_STOPPED:
        return arena_printf(
            arena,
            "the text has %u of %u pages: reading the others met a limit of time or "
            "memory, or failed; another attempt may return more on a less busy "
            "machine",
            answer->pages.count, answer->text.page_count);
    }
    return slice_of(NULL, 0);
}

enum err document_text_encode(struct arena *arena, const struct pdf_answer *answer,
                              struct slice *ret_message)
{
    const struct pdf_pages *pages = &answer->pages;
    struct warning_view warning = {.code = WARNING_CODE_TEXT_TRUNCATED};
    struct buffer message;

    warning.message = warning_of(arena, answer);
    if (pages->end != PDF_PAGES_WHOLE && warning.message.size == 0) {
        return ERR_MEMORY;
    }
    buffer_init(&message, arena, pages->text.size + OTHER_BYTES);
    if (!document_text_is_blank(pages->text)) {
        wire_put_bytes(&message, DOCUMENT_TEXT_TEXT_FIELD, pages->text);
    }
    wire_put_varint_given(&message, DOCUMENT_TEXT_PAGES_READ_FIELD, pages->count);
    if (warning.message.size > 0) {
        warning_view_put(&warning, DOCUMENT_TEXT_WARNINGS_FIELD, &message);
    }
    if (!buffer_ok(&message)) {
        return ERR_MEMORY;
    }
    *ret_message = buffer_slice(&message);
    return OK;
}
