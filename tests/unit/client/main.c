/*
 * main.c: unit tests of the client library.
 */
#include "tests/unit/client/client_tests.h"

int main(void)
{
    int failed = 0;

    failed += run_header_tests();
    failed += run_message_tests();
    failed += run_details_tests();
    failed += run_session_tests();
    failed += run_unseen_tests();
    failed += run_keepalive_tests();
    failed += run_upload_tests();
    failed += run_connection_tests();
    failed += run_channel_loop_tests();
    failed += run_blocking_tests();
    return failed == 0 ? 0 : 1;
}
