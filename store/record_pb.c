/*
 * record_pb.c: nanopb's streams over one piece of memory, and the callback of all messages of
 * proto/record for their bytes fields.
 */
#include "store/record_pb.h"

#include "store/base/assert.h"

#include <pb_decode.h>
#include <pb_encode.h>
#include <record/store.pb.h>

/* Called by the generated descriptors. Decoding: records the position of the bytes, and skips
 * them. */
bool record_nanopb_callback(pb_istream_t *istream, pb_ostream_t *ostream, const pb_field_t *field)
{
    struct slice *slice = field->pData;

    if (istream != NULL) {
        *slice = slice_of(istream->state, istream->bytes_left);
        return pb_read(istream, NULL, istream->bytes_left);
    }
    if (slice->size == 0) {
        return true;
    }
    return pb_encode_tag_for_field(ostream, field) &&
           pb_encode_string(ostream, slice->data, slice->size);
}

enum err record_pb_decode(struct slice bytes, const pb_msgdesc_t *type, void *ret_message)
{
    pb_istream_t stream = pb_istream_from_buffer(bytes.data, bytes.size);

    return pb_decode_ex(&stream, type, ret_message, PB_DECODE_NOINIT) ? OK : ERR_CORRUPT;
}

enum err record_pb_encode(struct arena *arena, const pb_msgdesc_t *type, const void *message,
                          struct slice *ret_bytes)
{
    pb_ostream_t stream;
    uint8_t *bytes = NULL;
    size_t size = 0;

    if (UNEXPECTED(!pb_get_encoded_size(&size, type, message))) {
        return ERR_INTERNAL;
    }
    bytes = arena_alloc(arena, size > 0 ? size : 1);
    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    stream = pb_ostream_from_buffer(bytes, size);
    if (UNEXPECTED(!pb_encode(&stream, type, message))) {
        return ERR_INTERNAL;
    }
    ASSERT(stream.bytes_written == size);
    *ret_bytes = slice_of(bytes, size);
    return OK;
}

struct slice record_take(struct record_check *check, struct slice part)
{
    uintptr_t start = (uintptr_t)check->whole.data;
    uintptr_t at = (uintptr_t)part.data;

    if (part.size == 0) {
        return slice_of(NULL, 0);
    }
    if (at < start || at - start > check->whole.size ||
        part.size > check->whole.size - (at - start)) {
        check->failed = true;
        return slice_of(NULL, 0);
    }
    return part;
}

struct slice record_take_sized(struct record_check *check, struct slice part, size_t size)
{
    record_need(check, part.size == 0 || part.size == size);
    return record_take(check, part);
}

void record_need(struct record_check *check, bool fact)
{
    check->failed = check->failed || !fact;
}

bool record_is_zero(const uint8_t *bytes, size_t size)
{
    uint8_t any = 0;

    for (size_t i = 0; i < size; i++) {
        any |= bytes[i];
    }
    return any == 0;
}
