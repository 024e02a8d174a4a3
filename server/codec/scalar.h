/*
 * scalar.h: the wire type of each field type, and numbers from raw bits. The only code that handles
 * zigzag, sign extension and truncation to 32 bits.
 */
#ifndef ERRATA_SERVER_CODEC_SCALAR_H
#define ERRATA_SERVER_CODEC_SCALAR_H

#include "server/codec/contract.h"
#include "store/base/wire.h"

enum wire_type scalar_wire_type(enum field_type type);
/* Returns whether a repeated field of this type may be packed. */
bool scalar_is_packable(enum field_type type);
/* Returns whether the type is unsigned with 64 bits, which scalar_signed cannot hold. */
bool scalar_is_unsigned64(enum field_type type);
bool scalar_is_floating(enum field_type type);
/* Returns the number of an integer, bool or enum type, of at most 32 unsigned or 64 signed bits. */
int64_t scalar_signed(enum field_type type, uint64_t raw);
/* Returns the number of a FIELD_DOUBLE or FIELD_FLOAT. */
double scalar_double(enum field_type type, uint64_t raw);
/* Returns the raw bits of a number; for unsigned 64-bit types, the number itself. */
uint64_t scalar_raw(enum field_type type, int64_t number);
uint64_t scalar_raw_double(enum field_type type, double number);

#endif
