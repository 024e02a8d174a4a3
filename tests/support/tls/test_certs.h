/*
 * test_certs.h: an authority, and certificates of it for a server and a client, as files in a temporary folder.
 */
#ifndef ERRATA_TESTS_SUPPORT_TLS_TEST_CERTS_H
#define ERRATA_TESTS_SUPPORT_TLS_TEST_CERTS_H

#include "tests/support/store/temp_folder.h"

#define TEST_CERTS_PATH_BYTES (TEMP_FOLDER_PATH_BYTES + 16)
/* Name in the server's certificates, besides the address 127.0.0.1. */
#define TEST_CERTS_HOST "errata.test"

struct test_certs {
    struct temp_folder folder;
    char ca[TEST_CERTS_PATH_BYTES]; /* the authority */
    char other_ca[TEST_CERTS_PATH_BYTES]; /* an authority that has signed nothing here */
    char cert[TEST_CERTS_PATH_BYTES]; /* certificate of the server: P-256 */
    char key[TEST_CERTS_PATH_BYTES];
    char expired[TEST_CERTS_PATH_BYTES]; /* certificate of the same key that expired yesterday */
    char client_cert[TEST_CERTS_PATH_BYTES];
    char client_key[TEST_CERTS_PATH_BYTES];
};

/* Makes all of them; aborts the program on failure. */
void test_certs_init(struct test_certs *certs);
void test_certs_deinit(struct test_certs *certs);

#endif
