/*
 * fuzz_page_token.c: page tokens. A valid token gives its position back, only to its organisation,
 * method and filter; any other text is refused: bytes, bytes in base64, or a token of ours with something
 * changed.
 */
#include "server/pipeline/env.h"
#include "server/pipeline/page_token.h"
#include "store/base/assert.h"
#include "store/base/base64.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

#define ARENA_BYTES ((size_t)4 << 20)
/* A little above the longest position. */
#define POSITION_BYTES_MAX (PAGE_POSITION_BYTES_MAX + 2)

/* A service with all that a token is bound to. */
struct bound {
    struct arena arena;
    struct fault fault;
    struct ctx ctx;
    struct service_env env;
    struct principal principal;
    struct service service;
    struct sha256_digest filter;
};

static void bound_init(struct bound *bound)
{
    memset(bound, 0, sizeof(*bound));
    arena_init(&bound->arena, ARENA_BYTES);
    fault_init(&bound->fault, &bound->arena);
    bound->ctx = (struct ctx){.arena = &bound->arena, .fault = &bound->fault};
    memset(bound->env.page_token_key, 'k', sizeof(bound->env.page_token_key));
    memset(bound->principal.org.uuid.bytes, 'o', UUID_BYTES);
    bound->filter = sha256(SLICE("filter"));
    bound->service = (struct service){.ctx = &bound->ctx,
                                      .principal = &bound->principal,
                                      .method = &contract_methods[0],
                                      .env = &bound->env};
}

static void expect_refused(struct bound *bound, struct slice text)
{
    struct slice position = SLICE("untouched");
    size_t faults = bound->fault.total_count;

    ASSERT(page_token_read(&bound->service, &bound->filter, text, &position) == ERR_INVALID);
    ASSERT(position.size == 0);
    ASSERT(bound->fault.total_count == faults + 1);
}

/* The same text elsewhere. */
static void check_binding(struct bound *bound, struct slice text)
{
    bound->principal.org.uuid.bytes[15] ^= 1;
    expect_refused(bound, text);
    bound->principal.org.uuid.bytes[15] ^= 1;
    bound->service.method = &contract_methods[1];
    expect_refused(bound, text);
    bound->service.method = &contract_methods[0];
    bound->filter.bytes[0] ^= 1;
    expect_refused(bound, text);
    bound->filter.bytes[0] ^= 1;
    bound->env.page_token_key[0] ^= 1;
    expect_refused(bound, text);
    bound->env.page_token_key[0] ^= 1;
}

/* Checks that an accepted text is what the encoder writes for its position, whichever that is. */
static void check_taken(struct bound *bound, struct slice text)
{
    struct slice position = {NULL, 0};
    struct slice again = {NULL, 0};

    if (page_token_read(&bound->service, &bound->filter, text, &position) == OK) {
        ASSERT(page_token_write(&bound->service, &bound->filter, position, &again) == OK);
        ASSERT(slice_equal(again, text));
    } else {
        expect_refused(bound, text);
    }
}

/* A part of the text replaced by bytes of the input. */
static void check_changed(struct bound *bound, struct slice text, struct fuzz_input *input)
{
    size_t at = fuzz_take_byte(input) % (text.size + 1);
    size_t gone = fuzz_take_byte(input) % (text.size - at + 1);
    struct buffer changed;

    buffer_init(&changed, &bound->arena, 0);
    buffer_append(&changed, slice_of(text.data, at));
    buffer_append(&changed, fuzz_take_text(input));
    buffer_append(&changed, slice_after(text, at + gone));
    ASSERT(buffer_ok(&changed));
    if (changed.size > 0) {
        check_taken(bound, buffer_slice(&changed));
    }
}

static void check_own(struct bound *bound, struct fuzz_input *input)
{
    struct slice position =
        fuzz_take_bytes(input, fuzz_take_byte(input) % (POSITION_BYTES_MAX + 1));
    struct slice text = {NULL, 0};
    struct slice again = {NULL, 0};

    if (position.size > PAGE_POSITION_BYTES_MAX) {
        ASSERT(page_token_write(&bound->service, &bound->filter, position, &text) == ERR_INTERNAL);
        return;
    }
    ASSERT(page_token_write(&bound->service, &bound->filter, position, &text) == OK);
    ASSERT(page_token_read(&bound->service, &bound->filter, text, &again) == OK);
    ASSERT(slice_equal(position, again));
    check_binding(bound, text);
    check_changed(bound, text, input);
}

/* Input that is not a valid token, as text and as the bytes after one. The key is one that no token was
 * ever made with: a fuzzer learns those of the other. */
static void check_foreign(struct bound *bound, struct slice bytes)
{
    uint8_t *text = arena_alloc(&bound->arena, BASE64_DIGITS(bytes.size) + 1);
    struct slice position = SLICE("untouched");

    memset(bound->env.page_token_key, 'f', sizeof(bound->env.page_token_key));
    ASSERT(text != NULL);
    if (bytes.size == 0) {
        ASSERT(page_token_read(&bound->service, &bound->filter, bytes, &position) == OK);
        ASSERT(position.size == 0);
        return;
    }
    expect_refused(bound, bytes);
    expect_refused(bound, slice_of(text, base64_write(bytes, BASE64_URL, text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    struct bound bound;

    bound_init(&bound);
    if ((fuzz_take_byte(&input) & 1) != 0) {
        check_own(&bound, &input);
    } else {
        check_foreign(&bound, input.rest);
    }
    arena_deinit(&bound.arena);
    return 0;
}
