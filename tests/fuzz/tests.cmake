# errata_fuzz(NAME USES modules... [SOURCES files...] [PARTS parts...])
#     tests/fuzz/fuzz_NAME.c: by clang with ERRATA_FUZZ a libFuzzer program, else a test that replays
#     the corpus and damaged copies of it.
function(errata_fuzz name)
    cmake_parse_arguments(F "" "" "USES;SOURCES;PARTS" ${ARGN})
    set(program fuzz_${name})
    add_executable(${program} ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_${name}.c ${F_SOURCES})
    target_link_libraries(${program} PRIVATE warnings test_warnings defines)
    foreach(part ${F_PARTS})
        target_link_libraries(${program} PRIVATE part_${part})
    endforeach()
    errata_link(${program} "${F_USES}")
    if(ERRATA_FUZZ)
        target_link_options(${program} PRIVATE -fsanitize=fuzzer)
        return()
    endif()
    target_sources(${program} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
    add_test(NAME fuzz_replay_${name}
             COMMAND ${program} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name} 3000)
    set_tests_properties(fuzz_replay_${name} PROPERTIES LABELS fuzz-replay TIMEOUT 120)
endfunction()

file(GLOB errata_wire_world ${CMAKE_SOURCE_DIR}/tests/wire/wire_world.c
     ${CMAKE_SOURCE_DIR}/tests/wire/wire_client.c)
errata_fuzz(connection USES grpc net SOURCES ${errata_wire_world} PARTS uv nghttp2 cmocka)
errata_fuzz(upload USES grpc net SOURCES ${errata_wire_world} PARTS uv nghttp2 cmocka)
errata_fuzz(request USES codec)
errata_fuzz(json USES codec)
errata_fuzz(pdf_answer USES pdf_answer)
