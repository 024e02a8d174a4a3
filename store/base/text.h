/*
 * text.h: functions over UTF-8 text. "Characters" are Unicode code points.
 */
#ifndef ERRATA_STORE_BASE_TEXT_H
#define ERRATA_STORE_BASE_TEXT_H

#include "store/base/slice.h"

/* Valid UTF-8 (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF). */
bool text_is_utf8(struct slice text);
/* Returns whether valid UTF-8 has a control character: C0 (including tab, line feed, carriage
 * return), DEL or C1. */
bool text_has_control(struct slice text);
/* The first `characters` code points of valid UTF-8. */
struct slice text_first_characters(struct slice text, size_t characters);
/* The longest prefix of at most `bytes` bytes that ends between code points of valid UTF-8. */
struct slice text_first_bytes(struct slice text, size_t bytes);
/* Bytes of the valid code point that `text` starts with, 1 to 4; 0 if there is none. */
size_t text_sequence_bytes(struct slice text);
/* Reads one code point of valid UTF-8 at `*at`, and moves it on. */
uint32_t text_next(struct slice text, size_t *at);
/* Writes one code point; returns the number of bytes, 1 to 4. */
size_t text_encode(uint32_t code_point, uint8_t bytes[4]);

#endif
