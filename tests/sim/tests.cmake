# The simulator: a program of its own, not a cmocka one. Short runs here, long ones by tools/sim.
file(GLOB errata_sim CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/sim/*.c)
add_executable(sim_tests ${errata_sim} ${CMAKE_SOURCE_DIR}/tests/support/store/fault_store.c)
target_link_libraries(sim_tests PRIVATE warnings test_warnings defines)
errata_link(sim_tests "api;grpc;store_memory;domain_replay;client")

function(errata_sim_test name)
    add_test(NAME ${name} COMMAND sim_tests ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS sim TIMEOUT 300)
endfunction()

errata_sim_test(sim_seeds --seeds 1 1000 --steps 25)
errata_sim_test(sim_same_twice --seeds 2001 15 --twice)
