/*
 * fuzz_pdf_answer.c: any bytes as the PDF worker's answer. Accepted ones follow the rules of
 * pdf_answer.h: they can be encoded again, and are accepted again.
 */
#include "server/jobs/pdf/answer/pdf_answer.h"
#include "store/base/assert.h"
#include "tests/fuzz/fuzz.h"

#define ARENA_BYTES (64u << 20)

/* Encodes all that an answer has. */
static void encode(struct buffer *buffer, const struct pdf_answer *answer)
{
    if (answer->reason != PDF_READ) {
        ASSERT(pdf_answer_put_refusal(buffer, answer->reason) == OK);
        return;
    }
    ASSERT(pdf_answer_put_text(buffer, &answer->text) == OK);
    ASSERT(pdf_answer_put_tables(buffer, answer->cut, &answer->tables) == OK);
    if (answer->explained) {
        ASSERT(pdf_answer_put_explanation(buffer, &answer->explanation) == OK);
    }
    if (answer->picture.size > 0) {
        ASSERT(pdf_answer_put_picture(buffer, answer->picture) == OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pdf_answer answer;
    struct pdf_answer again;
    struct arena arena;
    struct buffer buffer;

    arena_init(&arena, ARENA_BYTES);
    buffer_init(&buffer, &arena, 0);
    if (pdf_answer_decode(&arena, slice_of(data, size), &answer) == OK) {
        encode(&buffer, &answer);
        ASSERT(pdf_answer_decode(&arena, buffer_slice(&buffer), &again) == OK);
        ASSERT(again.reason == answer.reason);
        ASSERT(again.reason != PDF_READ ||
               (again.cut == answer.cut && again.text.page_count == answer.text.page_count &&
                again.tables.table_count == answer.tables.table_count &&
                again.tables.sketch.count == answer.tables.sketch.count &&
                again.explained == answer.explained && slice_equal(again.picture, answer.picture)));
    }
    arena_deinit(&arena);
    return 0;
}
