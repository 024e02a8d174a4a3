# A fork server that follows commands in documents, built in the folder of the tests, which find it
# there.
add_executable(pdf_fake_worker ${CMAKE_CURRENT_LIST_DIR}/worker/fake_worker.c)
target_link_libraries(pdf_fake_worker PRIVATE warnings test_warnings defines)
errata_link(pdf_fake_worker "pdf_answer")

errata_test(pdf_jobs_tests DIR tests/unit/pdf_jobs USES pdf_jobs PARTS uv LABELS unit)
target_compile_definitions(pdf_jobs_tests PRIVATE FAKE_WORKER="$<TARGET_FILE:pdf_fake_worker>")
add_dependencies(pdf_jobs_tests pdf_fake_worker)
