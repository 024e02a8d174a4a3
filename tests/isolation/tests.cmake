# The fixture of tests/rpc, asked by two organisations at a time.
errata_test(isolation_tests DIR tests/isolation USES api domain_replay store_memory LABELS isolation)
target_sources(isolation_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests/rpc/fixture.c
               ${CMAKE_SOURCE_DIR}/tests/rpc/fake_documents.c)
# Calls every method of the contract twenty times in two fixtures.
set_tests_properties(isolation_tests PROPERTIES TIMEOUT 400)
