/*
 * main.c: the pipeline of calls, in process: the steps that every method goes through.
 */
#include "tests/rpc/fixture.h"

int main(void)
{
    int failed = 0;

    logger_configure(LOGGER_ERROR, LOGGER_TEXT);
    failed += run_access_tests();
    failed += run_retraction_tests();
    failed += run_refusal_tests();
    failed += run_admin_tests();
    failed += run_organization_tests();
    failed += run_write_tests();
    failed += run_feedback_tests();
    failed += run_stream_tests();
    failed += run_status_tests();
    failed += run_isolation_tests();
    failed += run_start_tests();
    failed += run_token_expiry_tests();
    failed += run_document_tests();
    failed += run_document_end_tests();
    failed += run_document_text_tests();
    failed += run_layout_tests();
    failed += run_family_tests();
    failed += run_family_example_tests();
    failed += run_mapping_tests();
    failed += run_match_tests();
    failed += run_turn_tests();
    failed += run_review_tests();
    failed += run_verify_tests();
    failed += run_erasure_tests();
    failed += run_backup_tests();
    failed += run_long_read_tests();
    failed += run_backtest_tests();
    failed += run_analytics_tests();
    failed += run_experiment_tests();
    failed += run_settings_tests();
    failed += run_quota_tests();
    failed += run_prompt_tests();
    failed += run_prompt_template_tests();
    failed += run_extraction_tests();
    failed += run_order_tests();
    failed += run_clock_tests();
    failed += run_feedback_list_tests();
    failed += run_mapping_list_tests();
    failed += run_mapping_batch_tests();
    failed += run_embedding_tests();
    return failed;
}
