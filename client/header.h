/*
 * header.h: encodings of HTTP/2 header fields in gRPC (PROTOCOL-HTTP2.md): percent-encoded
 * messages, base64 of binary values, timeouts, status codes. Pure functions over bytes.
 */
#ifndef ERRATA_CLIENT_HEADER_H
#define ERRATA_CLIENT_HEADER_H

#include "client/stub.h"

/* gRPC's status codes. */
enum client_code {
#define STATUS(name, number) CLIENT_CODE_##name = (number),
#include "store/base/status_codes.def"
#undef STATUS
};

/* Room for a timeout's text with its NUL: eight digits and a unit. */
#define CLIENT_TIMEOUT_BYTES 10

/* Decodes percent-encoding into `bytes`, which has room for text.size; returns the size. A `%`
 * without two hex digits is kept, so that a malformed message is still shown. */
size_t client_percent_decode(struct slice text, uint8_t *bytes);

/* Decodes base64 into `bytes`, which has room for text.size. Padding is ignored, complete or not,
 * to accept as much as possible of what servers send. */
MUST_CHECK bool client_base64_decode(struct slice text, uint8_t *bytes, size_t *ret_size);

/* Writes a positive timeout in the form of `grpc-timeout`: at most eight digits; rounded up to a
 * larger unit if milliseconds do not fit. */
void client_timeout_write(int64_t timeout_ms, char text[CLIENT_TIMEOUT_BYTES]);

/* Reads `grpc-status`. A code that gRPC does not know becomes UNKNOWN; false for anything but a number. */
MUST_CHECK bool client_code_read(struct slice text, uint32_t *ret_code);
/* Returns the code for an HTTP status other than 200 without a grpc-status
 * (http-grpc-status-mapping.md). */
uint32_t client_code_of_http(int http_status);
/* Returns the code for a stream that the server reset, by its HTTP/2 error code
 * (PROTOCOL-HTTP2.md). */
uint32_t client_code_of_reset(uint32_t http2_error);
/* Returns the code's name, such as "NOT_FOUND"; "UNKNOWN" for numbers that gRPC does not know. */
const char *client_code_name(uint32_t code);

/* Returns whether a caller may send this key and value: the key in lower case, not reserved (`:`,
 * `grpc-`, keys that the channel sets), and the value of printable ASCII unless the key ends in
 * `-bin`. */
bool client_metadata_valid(const struct client_metadata *metadata);
/* Returns whether the key's values are binary. */
bool client_key_is_binary(struct slice key);

#endif
