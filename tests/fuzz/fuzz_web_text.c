/*
 * fuzz_web_text.c: any characters as the text form of gRPC-Web. Decoding them in pieces of any size
 * gives the same bytes, or the same refusal, as decoding each group separately. The first byte
 * selects the size of the pieces.
 */
#include "server/grpc_web/grpc_web_text.h"
#include "store/base/assert.h"
#include "store/base/base64.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

/* Longer than a step of the decoder. */
#define PIECE_CHARACTERS_MAX 4096

struct reading {
    uint8_t *bytes;
    size_t size;
    bool refused;
    bool is_whole;
};

static void read_groups(struct slice text, struct reading *reading)
{
    while (text.size >= 4 && !reading->refused) {
        size_t size = 0;

        reading->refused = !base64_read(slice_of(text.data, 4), BASE64_STANDARD | BASE64_PADDED,
                                        reading->bytes + reading->size, &size);
        reading->size += reading->refused ? 0 : size;
        text = slice_after(text, 4);
    }
    reading->is_whole = text.size == 0;
}

static void read_pieces(struct slice text, size_t piece, struct reading *reading)
{
    struct grpc_web_text *state = calloc(1, sizeof(*state));

    ASSERT(state != NULL);
    while (text.size > 0 && !reading->refused) {
        size_t step = text.size < piece ? text.size : piece;
        size_t taken = 0;

        reading->refused = !grpc_web_text_decode(state, slice_of(text.data, step), &taken);
        if (!reading->refused) {
            ASSERT(taken > 0 && taken <= step);
            ASSERT(state->size <= GRPC_WEB_TEXT_BYTES);
            memcpy(reading->bytes + reading->size, state->bytes, state->size);
            reading->size += state->size;
            text = slice_after(text, taken);
        }
    }
    reading->is_whole = grpc_web_text_is_whole(state);
    free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading groups = {.bytes = malloc(size + 4)};
    struct reading pieces = {.bytes = malloc(size + 4)};

    ASSERT(groups.bytes != NULL && pieces.bytes != NULL);
    if (size > 0) {
        struct slice text = slice_of(data + 1, size - 1);

        read_groups(text, &groups);
        read_pieces(text, 1 + (size_t)data[0] * PIECE_CHARACTERS_MAX / 256, &pieces);
        ASSERT(groups.refused == pieces.refused);
        if (!groups.refused) {
            ASSERT(groups.is_whole == pieces.is_whole);
            ASSERT(slice_equal(slice_of(groups.bytes, groups.size),
                               slice_of(pieces.bytes, pieces.size)));
        }
    }
    free(pieces.bytes);
    free(groups.bytes);
    return 0;
}
