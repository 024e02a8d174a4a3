/*
 * sketch_test.c: the sketch in a worker's answer: a round trip, and each rule broken.
 */
#include "tests/unit/pdf_answer/answer_samples.h"

#include "store/base/wire.h"

#define ARENA_BYTES ((size_t)1 << 20)
#define SKETCH_BYTES_MORE (FAMILY_SKETCH_BYTES_MAX + 4)

/* The sample's sketch, 8 features, with one thing wrong. */
enum lie {
    LIE_NONE,
    LIE_WITH_CUT,
    LIE_PARTIAL, /* incomplete features */
    LIE_FEW,
    LIE_MANY,
    LIE_UNSORTED,
    LIE_REPEATED,
    LIE_KIND,
    LIES
};

static void damage(struct sample_frame *frame, enum lie lie, uint8_t bytes[SKETCH_BYTES_MORE])
{
    struct slice *sketch = &frame->tables.sketch;

    memset(bytes, 0, SKETCH_BYTES_MORE);
    memcpy(bytes, sketch->data, sketch->size);
    *sketch = slice_of(bytes, sketch->size);
    switch (lie) {
    case LIE_NONE:
    case LIES:
        break;
    case LIE_WITH_CUT:
        frame->tables.cut = PDF_CUT_PATHS;
        frame->tables.table_count = 0;
        break;
    case LIE_PARTIAL:
        sketch->size--;
        break;
    case LIE_FEW:
        sketch->size -= 4;
        break;
    case LIE_MANY:
        for (uint32_t i = 0; i < SKETCH_BYTES_MORE / 4; i++) {
            bytes[4 * i + 2] = (uint8_t)i; /* 0, 256, 512 ... */
            bytes[4 * i + 3] = 0;
        }
        sketch->size = SKETCH_BYTES_MORE;
        break;
    case LIE_UNSORTED:
        bytes[11] = 1; /* 0, 8, 1 ... */
        break;
    case LIE_REPEATED:
        bytes[11] = 8; /* 0, 8, 8 ... */
        break;
    case LIE_KIND:
        bytes[11] = 8 + FAMILY_FEATURE_KINDS;
        break;
    }
}

/* Decodes an answer of the sample's text and the tables' frame. */
static enum err decode_tables(struct arena *arena, const struct sample_frame *frame,
                              struct pdf_answer *ret_answer)
{
    struct buffer bytes;

    buffer_init(&bytes, arena, 0);
    assert_int_equal(pdf_answer_put_text(&bytes, sample_text()), OK);
    put_any_frame(&bytes, frame);
    return pdf_answer_decode(arena, buffer_slice(&bytes), ret_answer);
}

/* A sketch that came with another wire type: its slice would point to where it was decoded. */
static void check_wire_type(struct arena *arena)
{
    struct pdf_answer answer;
    struct buffer inner;
    struct buffer outer;
    struct buffer bytes;

    buffer_init(&inner, arena, 0);
    buffer_init(&outer, arena, 0);
    buffer_init(&bytes, arena, 0);
    wire_put_raw(&inner, 3, WIRE_FIXED64, UINT64_C(0x4141414141414141));
    wire_put_bytes(&outer, 3, buffer_slice(&inner));
    assert_int_equal(pdf_answer_put_text(&bytes, sample_text()), OK);
    for (unsigned i = 0; i < PDF_FRAME_HEADER_BYTES; i++) {
        buffer_append_byte(&bytes, (uint8_t)(outer.size >> (8 * i)));
    }
    buffer_append(&bytes, buffer_slice(&outer));
    assert_int_equal(pdf_answer_decode(arena, buffer_slice(&bytes), &answer), ERR_MALFORMED);
}

/* Goal: a sketch arrives as it was, and what is not a sketch is refused. Method: the sample's, by the
 * encoder and as bytes, and those bytes with one thing wrong. */
void test_sketch_round_trips_or_is_refused(void **state)
{
    const struct pdf_tables sample = sample_tables();
    uint8_t bytes[SKETCH_BYTES_MORE];
    struct sample_frame frame;
    struct pdf_answer answer;
    struct arena arena;
    struct buffer encoded;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    buffer_init(&encoded, &arena, 0);
    assert_int_equal(pdf_answer_put_text(&encoded, sample_text()), OK);
    assert_int_equal(pdf_answer_put_tables(&encoded, PDF_CUT_NONE, &sample), OK);
    assert_int_equal(pdf_answer_decode(&arena, buffer_slice(&encoded), &answer), OK);
    assert_int_equal(answer.tables.sketch.count, sample.sketch.count);
    assert_memory_equal(answer.tables.sketch.features, sample.sketch.features,
                        sample.sketch.count * sizeof(uint32_t));
    for (enum lie lie = LIE_NONE; lie < LIES; lie++) {
        sample_tables_frame(&frame);
        damage(&frame, lie, bytes);
        if (decode_tables(&arena, &frame, &answer) != (lie == LIE_NONE ? OK : ERR_MALFORMED)) {
            fail_msg("lie %d was believed", (int)lie);
        }
    }
    check_wire_type(&arena);
    arena_deinit(&arena);
}
