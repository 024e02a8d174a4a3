/*
 * main.c: the tests of TLS, with certificates that the program makes once.
 */
#include "tests/unit/tls/pair.h"

int main(void)
{
    int failed = 0;

    test_certs_init(&pair_certs);
    failed = run_handshake_tests() + run_context_tests() + run_bytes_tests() + run_end_tests();
    test_certs_deinit(&pair_certs);
    return failed;
}
