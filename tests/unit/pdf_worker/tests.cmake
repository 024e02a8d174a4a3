# The worker program: its sandbox, probed from inside a process that is in it; its fork server, spoken to
# over a socket pair, with a measuring of the test's own in it that sleeps, crashes or lies on demand;
# and the real program on a real document.
#
# There is no sandbox under a sanitizer: the label `sandbox` names what tools/check runs on the release build
# (ctest -L sandbox). Under a sanitizer pdf_sandbox_tests is skipped, and the others run without a sandbox.
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

    # pdf_replay [--without-landlock] [--picture] PROGRAM FILES...: documents through the real program,
    # a line each; fails where a child was killed by the filter or by a fault of its own.
    add_executable(pdf_replay ${CMAKE_CURRENT_LIST_DIR}/replay/pdf_replay.c
                   ${CMAKE_CURRENT_LIST_DIR}/peer/worker_peer.c)
    target_link_libraries(pdf_replay PRIVATE warnings test_warnings defines)
    errata_link(pdf_replay pdf_answer)

    # The documents that are kept, but for those that are made to run into limits: under a sanitizer
    # the path of a child without its sandbox, on the release build the proof that the sandbox kills nothing
    # that is harmless. A sanitizer's allocator has the sandbox's limit on a single piece.
    file(GLOB replayed CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/data/pdf/*/*.pdf)
    list(FILTER replayed EXCLUDE REGEX "/hostile/|/function_based_shading")
    add_test(NAME pdf_replay_tests COMMAND pdf_replay $<TARGET_FILE:errata-pdf-worker> ${replayed})
    set_tests_properties(pdf_replay_tests PROPERTIES LABELS "unit;sandbox" TIMEOUT 300
        ENVIRONMENT "ASAN_OPTIONS=max_allocation_size_mb=512:allocator_may_return_null=1")
endif()
