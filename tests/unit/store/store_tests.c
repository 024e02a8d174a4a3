/*
 * store_tests.c: runs the groups of tests of store/; fails when any of them does.
 */
#include "tests/unit/store/store_tests.h"

int main(void)
{
    int failed = 0;

    failed += run_id_prefix_tests();
    failed += run_page_tests();
    failed += run_scan_tests();
    failed += run_log_tests();
    failed += run_idempotency_tests();
    failed += run_queue_tests();
    failed += run_writer_tests();
    failed += run_writer_cost_tests();
    failed += run_writer_slow_tests();
    failed += run_writer_failure_tests();
    failed += run_lmdb_tests();
    failed += run_damage_tests();
    failed += run_folder_tests();
    failed += run_backup_tests();
    failed += run_hold_tests();
    return failed == 0 ? 0 : 1;
}
