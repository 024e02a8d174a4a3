/*
 * scalar.h: what the wire says of a field of each type: its wire type, and the number behind the raw
 * bits. The one place that knows zigzag, sign extension and the cut to 32 bits.
 */
#ifndef ERRATA_SERVER_CODEC_SCALAR_H
#define ERRATA_SERVER_CODEC_SCALAR_H

#include "server/codec/contract.h"
#include "store/base/wire.h"

enum wire_type scalar_wire_type(enum field_type type);
/* A repeated field of this type may be packed. */
bool scalar_is_packable(enum field_type type);
/* Unsigned 64-bit types do not fit scalar_signed. */
bool scalar_is_unsigned64(enum field_type type);
bool scalar_is_floating(enum field_type type);
/* The number of an integer, bool or enum type, of at most 32 unsigned or 64 signed bits. */
int64_t scalar_signed(enum field_type type, uint64_t raw);
/* The number of a FIELD_DOUBLE or FIELD_FLOAT. */
double scalar_double(enum field_type type, uint64_t raw);
/* Raw bits of a number; for unsigned 64-bit types the number's own. */
uint64_t scalar_raw(enum field_type type, int64_t number);
uint64_t scalar_raw_double(enum field_type type, double number);

#endif
