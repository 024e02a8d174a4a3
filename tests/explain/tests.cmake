# The fixture of tests/rpc; takes --exposures N and --seed N.
errata_test(explain_tests DIR tests/explain USES api domain_replay store_memory LABELS rpc)
foreach(shared fixture fake_documents extractions mappings prompts)
    target_sources(explain_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests/rpc/${shared}.c)
endforeach()
