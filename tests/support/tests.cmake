include_guard()

# Python stubs of the contract for end-to-end and interop tests, and how such a test is declared. They
# are of the sources, since tests look at the rules of methods and at the server's part of payloads;
# tests/interop/stubs.py makes stubs as callers do, of the published files.
# grpc_python_plugin makes them: python3-grpc-tools' own protoc cannot parse proto3 `optional`.
find_program(GRPC_PYTHON_PLUGIN grpc_python_plugin)
set(errata_stubs ${CMAKE_BINARY_DIR}/gen/python)

if(GRPC_PYTHON_PLUGIN)
    add_custom_command(
        OUTPUT ${errata_stubs}/made
        COMMAND ${CMAKE_COMMAND} -E rm -rf ${errata_stubs} # with the stubs of a .proto that was removed
        COMMAND ${CMAKE_COMMAND} -E make_directory ${errata_stubs}
        COMMAND ${errata_protoc} --python_out=${errata_stubs} --grpc_python_out=${errata_stubs}
                --plugin=protoc-gen-grpc_python=${GRPC_PYTHON_PLUGIN}
                ${errata_own_protos} ${errata_private_protos} ${errata_vendored_protos}
        COMMAND ${CMAKE_COMMAND} -E touch ${errata_stubs}/made
        DEPENDS ${errata_proto_files}
        WORKING_DIRECTORY ${errata_proto}
        COMMENT "Generating Python stubs"
        VERBATIM)
    add_custom_target(python_stubs ALL DEPENDS ${errata_stubs}/made)
endif()

# errata_python_test(NAME FILE file LABEL label [TIMEOUT seconds] [ARGUMENTS ...]
#                    [ENVIRONMENT NAME=VALUE ...])
#     A Python test that drives the built programs. Exit code 77 means skipped, with its reason.
function(errata_python_test name)
    cmake_parse_arguments(P "" "FILE;TIMEOUT" "LABEL;ARGUMENTS;ENVIRONMENT" ${ARGN})
    if(NOT GRPC_PYTHON_PLUGIN OR NOT TARGET erratad)
        return()
    endif()
    if(NOT P_TIMEOUT)
        set(P_TIMEOUT 120)
    endif()
    if(NOT P_LABEL STREQUAL "fault")
        # Many servers on new folders: smaller segments are made faster.
        list(APPEND P_ENVIRONMENT ERRATA_JOURNAL_SEGMENT_SIZE=4MiB)
    endif()
    add_test(NAME ${name} COMMAND /usr/bin/python3 -B ${CMAKE_SOURCE_DIR}/${P_FILE} ${P_ARGUMENTS})
    set_tests_properties(${name} PROPERTIES
        LABELS "${P_LABEL}" TIMEOUT ${P_TIMEOUT} SKIP_RETURN_CODE 77
        ENVIRONMENT "ERRATA_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};ERRATA_STUBS=${errata_stubs};ERRATA_BUILD=${CMAKE_BINARY_DIR};PYTHONPATH=${CMAKE_SOURCE_DIR}/tests/support;${P_ENVIRONMENT}")
endfunction()
