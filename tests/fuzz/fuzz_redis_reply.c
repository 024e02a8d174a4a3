/*
 * fuzz_redis_reply.c: any bytes as the replies of a Redis server: read whole and in pieces they are the same, within the
 * limits; and the client of a stream that gets them neither crashes nor acknowledges an entry that was not stored.
 */
#include "server/redis/redis_consumer.h"
#include "server/redis/redis_reader.h"
#include "store/base/assert.h"
#include "store/base/sha256.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

/* Values of a reply that are compared. */
#define STACK_MAX 64
#define REPLIES_MAX 100

/* Adds a value, and those in it, to a hash. */
static void hash_value(struct sha256_state *state, const struct redis_value *top)
{
    const struct redis_value *stack[STACK_MAX] = {top};
    size_t depth = 1;

    while (depth > 0) {
        const struct redis_value *value = stack[--depth];
        uint64_t head[3] = {9, 0, 0};

        if (value != NULL) {
            ASSERT(value->capacity <= value->count && value->capacity <= REDIS_REPLY_VALUES_MAX);
            ASSERT(value->text.size <= REDIS_TEXT_BYTES_MAX);
            head[0] = (uint64_t)value->kind;
            head[1] = value->count;
            head[2] = (uint64_t)value->integer;
            sha256_add(state, value->text);
        }
        sha256_add(state, slice_of(head, sizeof(head)));
        for (uint32_t i = 0; value != NULL && i < value->capacity && depth < STACK_MAX; i++) {
            stack[depth++] = redis_item(value, i);
        }
    }
}

/* Reads all replies in pieces; returns a hash of them and of how it ends. */
static struct sha256_digest read_all(struct slice bytes, size_t piece)
{
    struct redis_reader *reader = NULL;
    struct sha256_state state;
    enum err err = redis_reader_new(&reader);

    ASSERT(err == OK);
    sha256_begin(&state);
    while (bytes.size > 0 && (err == OK || err == ERR_NOT_FOUND)) {
        size_t size = bytes.size < piece ? bytes.size : piece;
        struct slice input = slice_of(bytes.data, size);
        const struct redis_value *reply = NULL;

        err = redis_reader_feed(reader, &input, &reply);
        if (err == OK) {
            hash_value(&state, reply);
        }
        bytes = slice_after(bytes, size - input.size);
    }
    ASSERT(err != ERR_MEMORY);
    sha256_add(&state, slice_of(&err, sizeof(err)));
    redis_reader_free(reader);
    return sha256_read(&state);
}

/* Serves the client: stores a part of each batch. */
static void serve(struct redis_consumer *consumer, struct fuzz_input *input)
{
    bool is_stored[REDIS_BATCH_MAX] = {false};
    size_t count = 0;
    uint64_t acknowledged = redis_consumer_counts(consumer).acknowledged;
    uint64_t stored = 0;

    (void)redis_consumer_batch(consumer, &count);
    ASSERT(count > 0 && count <= REDIS_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        is_stored[i] = fuzz_take_choice(input, 2) == 0;
        stored += is_stored[i];
    }
    redis_consumer_settle(consumer, is_stored);
    ASSERT(redis_consumer_counts(consumer).acknowledged == acknowledged + stored);
}

static void run_consumer(struct fuzz_input *input)
{
    struct clock_manual clock;
    struct random_seeded random;
    struct redis_consumer *consumer = NULL;
    struct redis_consumer_config config = {.stream = SLICE("s"),
                                           .group = SLICE("g"),
                                           .consumer = SLICE("c"),
                                           .clock = &clock.clock,
                                           .random = &random.random};

    clock_manual_init(&clock, 1);
    random_seeded_init(&random, 1);
    ASSERT(redis_consumer_new(&config, &consumer) == OK);
    for (int i = 0; i < REPLIES_MAX && !fuzz_is_over(input); i++) {
        enum redis_want want = REDIS_WANTS_NOTHING;

        redis_consumer_tick(consumer);
        redis_consumer_feed(consumer, fuzz_take_text(input));
        ASSERT(redis_consumer_output(consumer).size <= (size_t)64 * 1024);
        redis_consumer_sent(consumer);
        want = redis_consumer_next(consumer);
        if (want == REDIS_WANTS_OPEN) {
            redis_consumer_opened(consumer);
        } else if (want == REDIS_WANTS_STORE) {
            serve(consumer, input);
        }
        clock_manual_advance(&clock, (int64_t)fuzz_take_byte(input) * 100000);
    }
    redis_consumer_free(consumer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    size_t piece = 1 + fuzz_take_byte(&input) % 16;
    struct sha256_digest whole = read_all(input.rest, SIZE_MAX);
    struct sha256_digest pieces = read_all(input.rest, piece);

    ASSERT(memcmp(&whole, &pieces, sizeof(whole)) == 0);
    run_consumer(&input);
    return 0;
}
