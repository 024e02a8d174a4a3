# The worker program: its sandbox, probed from a process inside it; its fork server, over a socket pair, with
# a fake measurement that sleeps, crashes or sends invalid answers on demand; and the real program on a real
# document.
#
# There is no sandbox under a sanitizer: the label `sandbox` names the tests that tools/check runs on the
# release build (ctest -L sandbox). Under a sanitizer pdf_sandbox_tests is skipped, and the others run
# without a sandbox.
if(TARGET pdf_sandbox)
    errata_test(pdf_sandbox_tests DIR tests/unit/pdf_worker/sandbox USES pdf_sandbox PARTS seccomp LABELS sandbox)
    set_tests_properties(pdf_sandbox_tests PROPERTIES SKIP_RETURN_CODE 77)
endif()

# The program with `measure` replaced.
if(TARGET pdf_worker)
    add_executable(pdf_worker_fake ${CMAKE_CURRENT_LIST_DIR}/fake/fake_measure.c
                   $<TARGET_OBJECTS:pdf_worker>)
    target_link_libraries(pdf_worker_fake PRIVATE warnings defines)
    errata_link(pdf_worker_fake "pdf_sandbox;pdf_answer")

    errata_test(pdf_worker_tests DIR tests/unit/pdf_worker/serve USES pdf_answer LABELS unit sandbox)
    target_sources(pdf_worker_tests PRIVATE ${CMAKE_CURRENT_LIST_DIR}/peer/worker_peer.c)
    add_dependencies(pdf_worker_tests pdf_worker_fake errata-pdf-worker)
    set_tests_properties(pdf_worker_tests PROPERTIES
        ENVIRONMENT "ERRATA_PDF_WORKER=$<TARGET_FILE:errata-pdf-worker>;ERRATA_PDF_WORKER_FAKE=$<TARGET_FILE:pdf_worker_fake>")

    # pdf_replay [--without-landlock] [--picture] PROGRAM FILES...: sends documents through the real
    # program, and prints a line for each; fails if the filter or a crash killed a child.
    add_executable(pdf_replay ${CMAKE_CURRENT_LIST_DIR}/replay/pdf_replay.c
                   ${CMAKE_CURRENT_LIST_DIR}/peer/worker_peer.c)
    target_link_libraries(pdf_replay PRIVATE warnings test_warnings defines)
    errata_link(pdf_replay pdf_answer)

    # The stored documents, except those that reach limits: under a sanitizer they test a child without its
    # sandbox, on the release build that the sandbox kills no harmless child. A sanitizer's allocator has
    # the sandbox's limit on the size of one allocation.
    file(GLOB replayed CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/data/pdf/*/*.pdf)
    list(FILTER replayed EXCLUDE REGEX "/hostile/|/function_based_shading")
    add_test(NAME pdf_replay_tests COMMAND pdf_replay $<TARGET_FILE:errata-pdf-worker> ${replayed})
    set_tests_properties(pdf_replay_tests PROPERTIES LABELS "unit;sandbox" TIMEOUT 300
        ENVIRONMENT "ASAN_OPTIONS=max_allocation_size_mb=512:allocator_may_return_null=1")
endif()
