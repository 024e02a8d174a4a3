include(${CMAKE_SOURCE_DIR}/tests/support/tests.cmake)

# tools/check runs each of these once: with sanitizers, or those with the label `release` on the release build: they
# need it (the PDF worker's sandbox and its limits, the installed tree, figures), or a sanitizer finds nothing more
# (output on a terminal, a demonstration). Those with the label `both` run on both.

foreach(name connect protocols plain metrics rest mcp web corrections retractions mappings verdicts structured_reviews turns rule_files prompts extractions learning analytics reviews access configuration isolation nonsense lifecycle log overload secrecy
        administration copied_folder crowded one_server start_errors supervisor tls reload proxies journal)
    errata_python_test(e2e_${name} FILE tests/e2e/${name}.py LABEL e2e)
endforeach()
errata_python_test(e2e_strategies FILE tests/e2e/strategies.py LABEL e2e)
errata_python_test(e2e_strategy_exposures FILE tests/e2e/strategy_exposures.py LABEL e2e)
errata_python_test(e2e_decision_gate FILE tests/e2e/decision_gate.py LABEL e2e)
errata_python_test(e2e_redis_ingest FILE tests/e2e/redis_ingest.py LABEL e2e)
errata_python_test(e2e_redis_trouble FILE tests/e2e/redis_trouble.py LABEL e2e)
errata_python_test(e2e_whole_decisions FILE tests/e2e/whole_decisions.py LABEL e2e)
errata_python_test(e2e_full_requests FILE tests/e2e/full_requests.py LABEL e2e)
errata_python_test(e2e_mirror FILE tests/e2e/mirror.py LABEL e2e)
errata_python_test(e2e_mirror_trouble FILE tests/e2e/mirror_trouble.py LABEL e2e)
errata_python_test(e2e_decisions FILE tests/e2e/decisions.py LABEL e2e)
errata_python_test(e2e_retention FILE tests/e2e/retention.py LABEL e2e)
errata_python_test(e2e_quotas FILE tests/e2e/quotas.py LABEL e2e)
errata_python_test(e2e_erasure FILE tests/e2e/erasure.py LABEL e2e)
errata_python_test(e2e_organizations FILE tests/e2e/organizations.py LABEL e2e)
errata_python_test(e2e_organization_transfer FILE tests/e2e/organization_transfer.py LABEL e2e)
errata_python_test(e2e_guidelines FILE tests/e2e/guidelines.py LABEL e2e)
errata_python_test(e2e_prompt_exposures FILE tests/e2e/prompt_exposures.py LABEL e2e)
errata_python_test(e2e_effectiveness FILE tests/e2e/effectiveness.py LABEL e2e)
errata_python_test(e2e_retracted_decisions FILE tests/e2e/retracted_decisions.py LABEL e2e)
errata_python_test(e2e_demo_orders FILE tests/e2e/demo_orders.py LABEL e2e release)
errata_python_test(e2e_demo_verdicts FILE tests/e2e/demo_verdicts.py LABEL e2e release)
errata_python_test(e2e_demo_all FILE tests/e2e/demo_all.py LABEL e2e release)
errata_python_test(e2e_demo_reviews FILE tests/e2e/demo_reviews.py LABEL e2e release)
errata_python_test(e2e_demo_turns FILE tests/e2e/demo_turns.py LABEL e2e release)
errata_python_test(e2e_demo_decisions FILE tests/e2e/demo_decisions.py LABEL e2e release)
errata_python_test(e2e_review_failures FILE tests/e2e/review_failures.py LABEL e2e)
errata_python_test(e2e_measure_learning FILE tests/e2e/measure_learning.py LABEL e2e release TIMEOUT 240)
errata_python_test(e2e_cli FILE tests/e2e/cli.py LABEL e2e)
foreach(name context details failures fill_review ids import learning review tls)
    errata_python_test(e2e_cli_${name} FILE tests/e2e/cli_${name}.py LABEL e2e)
endforeach()
errata_python_test(e2e_cli_history FILE tests/e2e/cli_history.py LABEL e2e TIMEOUT 480)
foreach(name completion help lists terminal)
    errata_python_test(e2e_cli_${name} FILE tests/e2e/cli_${name}.py LABEL e2e release)
endforeach()

# Verify and rebuild, with a program that damages a row of a store.
add_executable(damage_row ${CMAKE_CURRENT_LIST_DIR}/damage_row.c)
target_link_libraries(damage_row PRIVATE warnings test_warnings defines)
errata_link(damage_row "store_lmdb")
errata_python_test(e2e_verify FILE tests/e2e/verify.py LABEL e2e TIMEOUT 240)

# Backup and restore; one test waits 30 s for a client that does not read.
errata_python_test(e2e_backup FILE tests/e2e/backup.py LABEL e2e TIMEOUT 600)
errata_python_test(e2e_backup_increments FILE tests/e2e/backup_increments.py LABEL e2e TIMEOUT 240)

errata_python_test(e2e_upgrade FILE tests/e2e/upgrade.py LABEL e2e TIMEOUT 240)

if(TARGET errata-pdf-worker)
    errata_python_test(e2e_readme FILE tests/e2e/readme.py LABEL e2e release)
    errata_python_test(e2e_quickstart FILE tests/e2e/quickstart.py LABEL e2e release TIMEOUT 240)
endif()

if(TARGET errata-bench)
    errata_python_test(e2e_bench FILE tests/e2e/bench.py LABEL e2e release)
    errata_python_test(e2e_documented_commands FILE tests/e2e/documented_commands.py LABEL e2e TIMEOUT 300)
endif()

# Tests of the C client library, by a program that makes the calls that a test requests.
if(TARGET client)
    add_executable(client_driver ${CMAKE_CURRENT_LIST_DIR}/client_driver.c)
    target_link_libraries(client_driver PRIVATE warnings test_warnings defines)
    errata_link(client_driver "client")
    add_executable(client_easy_driver ${CMAKE_CURRENT_LIST_DIR}/client_easy_driver.c)
    target_link_libraries(client_easy_driver PRIVATE warnings test_warnings defines)
    errata_link(client_easy_driver "client_easy")
    add_executable(client_reviews_driver ${CMAKE_CURRENT_LIST_DIR}/client_reviews_driver.c)
    target_link_libraries(client_reviews_driver PRIVATE warnings test_warnings defines)
    errata_link(client_reviews_driver "client_captures")
    errata_python_test(e2e_client_reviews FILE tests/e2e/client_reviews.py LABEL e2e)
    errata_python_test(e2e_client_tls FILE tests/e2e/client_tls.py LABEL e2e)
    errata_python_test(e2e_client_easy FILE tests/e2e/client_easy.py LABEL e2e)
    errata_python_test(e2e_client_restart FILE tests/e2e/client_restart.py LABEL e2e TIMEOUT 240)
    errata_python_test(e2e_client_trouble FILE tests/e2e/client_trouble.py LABEL e2e)
endif()

# The Python package: as the build makes it, and as it is installed.
errata_python_test(e2e_python_client FILE tests/e2e/python_client.py LABEL e2e)
errata_python_test(e2e_python_package FILE tests/e2e/python_package.py LABEL e2e release)

# Documents are measured while the machine is idle, so these tests run exclusively.
if(TARGET errata-pdf-worker)
    errata_python_test(e2e_pdf_ingest FILE tests/e2e/pdf_ingest.py LABEL e2e release)
    errata_python_test(e2e_pdf_corpus FILE tests/e2e/pdf_corpus.py LABEL e2e release TIMEOUT 240)
    errata_python_test(e2e_pdf_text FILE tests/e2e/pdf_text.py LABEL e2e release)
    errata_python_test(e2e_pdf_flow FILE tests/e2e/pdf_flow.py LABEL e2e both)
    errata_python_test(e2e_pdf_hostile FILE tests/e2e/pdf_hostile.py LABEL e2e release TIMEOUT 240)
    foreach(name ingest text corpus flow hostile)
        if(TEST e2e_pdf_${name}) # none without gRPC for Python
            set_tests_properties(e2e_pdf_${name} PROPERTIES RUN_SERIAL TRUE)
        endif()
    endforeach()
endif()

# Programs that use only the installed tree; there is none under a sanitizer.
if(TARGET installable)
    errata_python_test(e2e_installed_library FILE tests/e2e/installed_library.py LABEL e2e release TIMEOUT 240)
endif()

# Similarity of texts, with the model that tests/unit/embed_parity makes.
errata_python_test(e2e_text FILE tests/e2e/text.py LABEL e2e)
if(TEST e2e_text)
    set_property(TEST e2e_text APPEND PROPERTY FIXTURES_REQUIRED model)
    set_property(TEST e2e_text APPEND PROPERTY ENVIRONMENT ERRATA_TEST_MODEL=${CMAKE_BINARY_DIR}/model/errata.model)
endif()
