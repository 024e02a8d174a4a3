/*
 * compat.h: how the conformance suite's runner starts a server (connectrpc/conformance/v1/server_compat.proto):
 * what it wants comes on standard input, and where the server listens goes to standard output.
 */
#ifndef ERRATA_TESTS_SUITES_COMPAT_H
#define ERRATA_TESTS_SUITES_COMPAT_H

#include "store/base/slice.h"

/* Limit of the request: some numbers and three PEM texts. */
#define COMPAT_BYTES_MAX (64u * 1024)

/* The runner's request. Slices are in `bytes`. */
struct compat {
    size_t message_bytes_max; /* 0: the default */
    bool use_tls;
    struct slice cert; /* PEM texts for TLS; the last is empty unless clients need certificates */
    struct slice key;
    struct slice client_ca;
    uint8_t bytes[COMPAT_BYTES_MAX];
};

/* Reads the request; false if it cannot be satisfied. */
bool compat_read(struct compat *ret_compat);
/* Writes the server's address. */
void compat_write(const struct compat *compat, uint32_t port);
/* Makes a file of memory with a PEM text, which lives as long as the process, and returns its path in `ret_path`: TLS
 * reads its certificates from files. False if it cannot be made. */
bool compat_file(struct slice text, char *ret_path, size_t path_bytes);

#endif
