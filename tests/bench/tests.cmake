# What tests/bench/run needs: the load generator (over liberrata), and, built by `bench_floor` alone,
# the floor program that Errata is measured beside.
if(TARGET client)
    add_executable(bench_load ${CMAKE_SOURCE_DIR}/tests/bench/load.c)
    target_link_libraries(bench_load PRIVATE warnings defines part_uv)
    errata_link(bench_load client)
endif()

set(floor ${CMAKE_SOURCE_DIR}/tests/bench/floor)
set(floor_gen ${CMAKE_BINARY_DIR}/gen/floor)
add_custom_command(
    OUTPUT ${floor_gen}/anchor.pb-c.c ${floor_gen}/anchor.pb-c.h
    COMMAND ${CMAKE_COMMAND} -E make_directory ${floor_gen}
    COMMAND ${PROTOC} -I${floor} --c_out=${floor_gen} ${floor}/anchor.proto
    DEPENDS ${floor}/anchor.proto
    VERBATIM)
foreach(program floor_server lmdb_read)
    add_executable(${program} EXCLUDE_FROM_ALL ${floor}/${program}.c ${floor_gen}/anchor.pb-c.c)
    target_include_directories(${program} PRIVATE ${floor_gen} ${floor})
    target_compile_definitions(${program} PRIVATE _GNU_SOURCE)
    target_compile_options(${program} PRIVATE -O3 -march=native)
    target_link_libraries(${program} PRIVATE part_uv part_nghttp2 part_protobuf_c part_lmdb)
endforeach()
add_executable(pin EXCLUDE_FROM_ALL ${floor}/pin.c)
add_custom_target(bench_floor DEPENDS floor_server lmdb_read pin)

# The transport alone, for the same comparison.
if(TARGET net)
    add_executable(bench_echo EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/grpc_echo_server.c)
    target_link_libraries(bench_echo PRIVATE warnings defines part_uv)
    errata_link(bench_echo "grpc;net")
    add_dependencies(bench_floor bench_echo)
endif()
