/*
 * fuzz_cues.c: any bytes as a message, the query and the response before it, a name, an own cue and a text of the
 * application. Reading them ends, finds words of the message only, gives the same result again, and a result that the table
 * has; the model turns only weak rejections into NEUTRAL.
 */
#include "server/domain/cues/masks.h"
#include "server/domain/cues/veto.h"
#include "store/base/assert.h"
#include "store/base/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

#define ARENA_BYTES ((size_t)256 << 20)
#define LEXICON_BYTES ((size_t)64 << 20)

/* Takes a text as the services let it through: bytes that are not UTF-8 become ASCII. */
static struct slice take_text(struct fuzz_input *input, struct arena *arena, size_t bytes_max)
{
    struct slice bytes = fuzz_take_bytes(input, bytes_max);
    uint8_t *copy = (uint8_t *)arena_alloc(arena, bytes.size + 1);
    bool is_text = text_is_utf8(bytes);

    ASSERT(copy != NULL);
    for (size_t i = 0; i < bytes.size; i++) {
        copy[i] = is_text || bytes.data[i] < 0x80 ? bytes.data[i] : bytes.data[i] & 0x7f;
    }
    return slice_of(copy, bytes.size);
}

static void check_hits(const struct reading *reading)
{
    for (size_t i = 0; i < reading->hits.count; i++) {
        const struct cue_hit *hit = &reading->hits.items[i];

        ASSERT(hit->class < CUE_CLASS_COUNT);
        ASSERT(hit->from < hit->to && hit->to <= reading->message.count);
        ASSERT(hit->pattern.size > 0);
    }
}

static void check_row(const struct detection *detection)
{
    static const enum detect_status statuses[] = {
        [DETECT_EXPLICIT] = DETECT_REJECTED,     [DETECT_REPHRASED] = DETECT_REJECTED,
        [DETECT_ABANDONMENT] = DETECT_REJECTED,  [DETECT_CONTINUATION] = DETECT_ACCEPTED,
        [DETECT_TOPIC_CHANGE] = DETECT_ACCEPTED, [DETECT_NOTHING] = DETECT_NEUTRAL,
    };

    ASSERT(detection->row >= DETECT_EXPLICIT && detection->row <= DETECT_NOTHING);
    ASSERT(detection->status == statuses[detection->row]);
    ASSERT(detection->confidence >= 0.5F && detection->confidence <= 1);
    ASSERT(detection->row != DETECT_REPHRASED || detection->similarity > DETECT_REPHRASED_WEAK);
}

static void check_veto(const struct detection *before, const struct detection *after,
                       const struct veto *veto)
{
    bool is_weak = before->row == DETECT_REPHRASED || before->row == DETECT_ABANDONMENT ||
                   (before->row == DETECT_EXPLICIT && before->is_unsure);

    ASSERT(veto->probability >= 0 && veto->probability <= 1);
    ASSERT(!veto->is_vetoed || (is_weak && after->row == DETECT_NOTHING));
    ASSERT(veto->is_vetoed || after->row == before->row);
}

static struct detection read_message(struct arena *arena, const struct cue_lexicon *lexicon,
                                     const struct reading_input *input,
                                     const struct detect_signals *signals)
{
    struct reading *reading = (struct reading *)arena_calloc(arena, 1, sizeof(*reading));
    struct detection before;
    struct detection after;
    struct veto veto;
    enum err err = reading == NULL ? ERR_MEMORY : reading_of(arena, lexicon, input, reading);

    ASSERT(err == OK);
    check_hits(reading);
    before = detect_feedback(reading, signals);
    check_row(&before);
    after = before;
    veto = veto_apply(reading, &after);
    check_row(&after);
    check_veto(&before, &after, &veto);
    return after;
}

static const struct cue_lexicon *lexicon_once(void)
{
    static struct arena arena;
    static const struct cue_lexicon *lexicon;

    if (lexicon == NULL) {
        enum err err = OK;

        arena_init(&arena, LEXICON_BYTES);
        err = cue_lexicon_new(&arena, &lexicon);
        ASSERT(err == OK);
    }
    return lexicon;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cue_lexicon *lexicon = lexicon_once();
    struct fuzz_input input = fuzz_input_of(data, size);
    struct detect_signals signals = {
        .has_similarity = fuzz_take_choice(&input, 4) != 0,
        .is_callers = fuzz_take_choice(&input, 2) == 0,
        .similarity = (float)fuzz_take_byte(&input) / 255,
        .intents = (enum detect_intents)fuzz_take_choice(&input, 3),
    };
    struct extra_cue extra = {.class = (enum cue_class)fuzz_take_choice(&input, CUE_CLASS_COUNT)};
    struct reading_input reading = {.extras = &extra, .extra_count = 1, .entity_count = 1};
    struct detection first;
    struct detection second;
    struct slice entity;
    struct slice span;
    struct arena arena;
    enum err err = OK;

    arena_init(&arena, ARENA_BYTES);
    extra.phrase = take_text(&input, &arena, fuzz_take_byte(&input) % 32);
    entity = take_text(&input, &arena, fuzz_take_byte(&input) % 32);
    span = take_text(&input, &arena, fuzz_take_byte(&input) % 8);
    reading.entities = &entity;
    reading.previous_query = take_text(&input, &arena, fuzz_take_byte(&input));
    reading.previous_response = take_text(&input, &arena, fuzz_take_byte(&input));
    err = masks_remove_spans(&arena, take_text(&input, &arena, input.rest.size), &span, 1,
                             &reading.message);
    ASSERT(err == OK);
    first = read_message(&arena, lexicon, &reading, &signals);
    second = read_message(&arena, lexicon, &reading, &signals);
    ASSERT(first.row == second.row && first.class == second.class);
    ASSERT(slice_equal(first.matched, second.matched));
    arena_deinit(&arena);
    return 0;
}
