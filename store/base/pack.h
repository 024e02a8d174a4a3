/*
 * pack.h: compresses repetitions. Packed bytes refer to earlier bytes of their own, or to a
 * dictionary that reader and writer both have, such as another field of the same record. Intended for
 * rows that contain a text twice; not a general compressor (no entropy coding). The same dictionary and
 * bytes always give the same packed bytes, on any machine and in any version of this format: tables are
 * compared byte by byte with their replay. Layout, after LZ4's block format (github.com/lz4/lz4,
 * doc/lz4_Block_format.md) but with varints: the size as a varint, then sequences until that size is
 * reached. A sequence is a byte with two counts of 4 bits, the number of literal bytes in the upper
 * half, and the number of copied bytes less 4 in the lower (15: a varint follows that is added); the
 * literal bytes; unless these were the last, the copy's distance back as a varint and the rest of its
 * count. The dictionary precedes the bytes; a copy that begins in the dictionary ends in it.
 */
#ifndef ERRATA_STORE_BASE_PACK_H
#define ERRATA_STORE_BASE_PACK_H

#include "store/base/arena.h"

/* Limit of both bytes and dictionary, and so of what packed bytes unpack to; longer ones are stored as they are. */
#define PACK_BYTES_MAX ((size_t)512 * 1024)

/* Packs `bytes` into the arena. ERR_INVALID if one of the two is too long, ERR_MEMORY. */
MUST_CHECK enum err pack_write(struct arena *arena, struct slice dictionary, struct slice bytes,
                               struct slice *ret_packed);
/* Returns how many bytes pack_read will write; false if the packed bytes do not begin with a valid
 * size. */
MUST_CHECK bool pack_read_size(struct slice packed, size_t *ret_size);
/* Unpacks into `out`, which must have room for the size that pack_read_size returned. False if the
 * bytes do not unpack to exactly that size, or refer to bytes outside of the dictionary; `out` is
 * undefined then. */
MUST_CHECK bool pack_read(struct slice dictionary, struct slice packed, uint8_t *out);

#endif
