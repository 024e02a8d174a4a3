/*
 * header.h: how gRPC writes things into HTTP/2 header fields (PROTOCOL-HTTP2.md): percent-encoded
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

/* Undoes percent-encoding into `bytes`, which has room for text.size; gives the size. What is no
 * `%` with two hex digits stays as it is: a broken message is still a message. */
size_t client_percent_decode(struct slice text, uint8_t *bytes);

/* Undoes base64 into `bytes`, which has room for text.size. Padding counts for nothing, whole or not:
 * what a server sent is read where it can be. */
MUST_CHECK bool client_base64_decode(struct slice text, uint8_t *bytes, size_t *ret_size);

/* Writes a positive timeout as `grpc-timeout` has it: at most eight digits, rounded up to the unit
 * where milliseconds do not fit. */
void client_timeout_write(int64_t timeout_ms, char text[CLIENT_TIMEOUT_BYTES]);

/* Reads `grpc-status`. A code that gRPC does not know becomes UNKNOWN; false for anything but a number. */
MUST_CHECK bool client_code_read(struct slice text, uint32_t *ret_code);
/* The code for an HTTP status other than 200 without a grpc-status (http-grpc-status-mapping.md). */
uint32_t client_code_of_http(int http_status);
/* The code for a stream that the server reset, by its HTTP/2 error code (PROTOCOL-HTTP2.md). */
uint32_t client_code_of_reset(uint32_t http2_error);
/* The code's name, such as "NOT_FOUND"; "UNKNOWN" for numbers that gRPC does not know. */
const char *client_code_name(uint32_t code);

/* A key and value that a caller may send: lower case, not reserved (`:`, `grpc-`, what the channel
 * sets itself), and a value of printable ASCII unless the key ends in `-bin`. */
bool client_metadata_valid(const struct client_metadata *metadata);
/* The key's values are binary. */
bool client_key_is_binary(struct slice key);

#endif
