/*
 * main.c: runs the groups of this folder.
 */
#include "tests/wire/wire.h"

int main(void)
{
    int failed = run_text_tests();

    failed += run_call_tests();
    failed += run_stream_tests();
    failed += run_upload_tests();
    failed += run_limit_tests();
    failed += run_pressure_tests();
    failed += run_inflate_tests();
    failed += run_order_tests();
    failed += run_refusal_tests();
    failed += run_deadline_tests();
    failed += run_socket_tests();
    failed += run_room_tests();
    failed += run_http_tests();
    return failed;
}
