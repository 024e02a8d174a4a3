# Additional programs for tools/bench-peers, built only by the target `bench`.
add_custom_target(bench)

# Lookups without a server, beside the floor's and raw LMDB.
if(TARGET domain_corrections AND TARGET store_lmdb)
    add_executable(bench_store_lookup EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/store_lookup.c)
    target_link_libraries(bench_store_lookup PRIVATE warnings defines)
    target_include_directories(bench_store_lookup SYSTEM PRIVATE
                               ${CMAKE_SOURCE_DIR}/tests/bench/floor)
    errata_link(bench_store_lookup "domain_corrections;store_lmdb")
    add_dependencies(bench bench_store_lookup)
endif()

# Reads a stream of Redis and stores nothing, for a comparison with a server that stores it
# (tools/bench-redis).
add_executable(bench_redis_loop EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/redis_loop.c)
target_link_libraries(bench_redis_loop PRIVATE warnings defines part_hiredis)
add_dependencies(bench bench_redis_loop)

# Measures the journal's rows in memory.
if(TARGET store_journal)
    add_executable(bench_memtable EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/memtable.c)
    target_link_libraries(bench_memtable PRIVATE warnings defines)
    errata_link(bench_memtable "store_journal")
    add_dependencies(bench bench_memtable)
endif()

# Measures GetExamples without the network.
if(TARGET domain_corrections AND TARGET store_lmdb)
    add_executable(bench_examples_domain EXCLUDE_FROM_ALL
                   ${CMAKE_SOURCE_DIR}/tests/bench/examples_domain.c)
    target_link_libraries(bench_examples_domain PRIVATE warnings defines)
    errata_link(bench_examples_domain "domain_corrections;store_lmdb")
    add_dependencies(bench bench_examples_domain)
endif()

# Measures GetLearningAnalytics without the network.
if(TARGET domain_analytics AND TARGET store_lmdb)
    add_executable(bench_analytics_domain EXCLUDE_FROM_ALL
                   ${CMAKE_SOURCE_DIR}/tests/bench/analytics_domain.c)
    target_link_libraries(bench_analytics_domain PRIVATE warnings defines)
    errata_link(bench_analytics_domain "domain_analytics;store_lmdb")
    add_dependencies(bench bench_analytics_domain)
endif()

# Measures ScoreDocument without the network.
if(TARGET domain_scoring)
    add_executable(bench_score_domain EXCLUDE_FROM_ALL
                   ${CMAKE_SOURCE_DIR}/tests/bench/score_domain.c)
    target_link_libraries(bench_score_domain PRIVATE warnings defines)
    errata_link(bench_score_domain "domain_scoring;store_memory")
    add_dependencies(bench bench_score_domain)
endif()

# Fills a data folder with reviews, and measures ResolvePlaceholders and GetTriggers without the network.
if(TARGET domain_reviews AND TARGET store_lmdb)
    add_executable(bench_review_store EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/review_store.c)
    target_link_libraries(bench_review_store PRIVATE warnings defines)
    errata_link(bench_review_store "domain_reviews;store_lmdb")
    add_dependencies(bench bench_review_store)
endif()

# Measures proto JSON beside protobuf-c.
if(TARGET wire)
    add_executable(bench_proto_json EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/proto_json.c)
    target_link_libraries(bench_proto_json PRIVATE warnings defines part_protobuf_c)
    errata_link(bench_proto_json "codec;wire")
    add_dependencies(bench bench_proto_json)
endif()

# Measures the accuracy of finding tables, on documents with known tables; a short run on generated pages is a test.
if(TARGET pdf_measure)
    add_executable(bench_pdf_tables ${CMAKE_SOURCE_DIR}/tests/bench/pdf_tables.c)
    target_link_libraries(bench_pdf_tables PRIVATE warnings defines m)
    errata_link(bench_pdf_tables "pdf_measure")
    add_dependencies(bench bench_pdf_tables)
    add_test(NAME pdf_table_pages
             COMMAND ${CMAKE_SOURCE_DIR}/tests/bench/table_pages/check $<TARGET_FILE:bench_pdf_tables>
             WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    # Leaks are checked by pdf_measure_tests, which knows those of fontconfig.
    set_tests_properties(pdf_table_pages PROPERTIES LABELS unit ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
endif()

# Measures the accuracy of recognising layout families, on documents with known layouts.
if(TARGET pdf_measure)
    add_executable(bench_layout_families EXCLUDE_FROM_ALL
                   ${CMAKE_SOURCE_DIR}/tests/bench/layout_families.c)
    target_link_libraries(bench_layout_families PRIVATE warnings defines m)
    errata_link(bench_layout_families "pdf_measure;domain_fingerprint")
    add_dependencies(bench bench_layout_families)
endif()

# Measures the search of a document's layout family among all sketches of an organisation.
if(TARGET domain_layouts AND TARGET store_lmdb)
    add_executable(bench_family_scan EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/family_scan.c)
    target_link_libraries(bench_family_scan PRIVATE warnings defines)
    errata_link(bench_family_scan "domain_layouts;store_lmdb")
    add_dependencies(bench bench_family_scan)
endif()

# The floor program with which Errata is compared.
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
target_compile_definitions(pin PRIVATE _GNU_SOURCE)
target_link_libraries(pin PRIVATE part_lmdb)
add_dependencies(bench floor_server lmdb_read pin)

# Measures only the transport, for the same comparison.
if(TARGET net)
    add_executable(bench_echo EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/grpc_echo_server.c)
    target_link_libraries(bench_echo PRIVATE warnings defines part_uv)
    errata_link(bench_echo "grpc;net")
    add_dependencies(bench bench_echo)
endif()

# Measures Backtest without the network.
if(TARGET domain_backtest AND TARGET store_lmdb)
    add_executable(bench_backtest_domain EXCLUDE_FROM_ALL
                   ${CMAKE_SOURCE_DIR}/tests/bench/backtest_domain.c)
    target_link_libraries(bench_backtest_domain PRIVATE warnings defines)
    errata_link(bench_backtest_domain "domain;domain_backtest;domain_settings;domain_verdicts;store_lmdb")
    add_dependencies(bench bench_backtest_domain)
endif()

# Measures the cost of a text's vector.
add_executable(bench_text_cost EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/text_cost.c)
target_link_libraries(bench_text_cost PRIVATE warnings defines m)
errata_link(bench_text_cost "domain_embed")
add_dependencies(bench bench_text_cost)

# Writes the vectors of texts, for tools/fit-calibration.
add_executable(bench_text_vectors EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/text_vectors.c)
target_link_libraries(bench_text_vectors PRIVATE warnings defines m)
errata_link(bench_text_vectors "domain_embed")
add_dependencies(bench bench_text_vectors)

# Measures BuildAgentPrompt below the services.
if(TARGET domain_learning)
    add_executable(bench_agent_prompt EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/agent_prompt.c)
    target_link_libraries(bench_agent_prompt PRIVATE warnings defines)
    errata_link(bench_agent_prompt "domain;domain_guidelines;domain_learning;domain_settings;store_memory")
    add_dependencies(bench bench_agent_prompt)
endif()

# Measures FindSimilar below the services, beside scans of the table.
if(TARGET domain_decisions)
    add_executable(bench_similar_decisions EXCLUDE_FROM_ALL
                   ${CMAKE_SOURCE_DIR}/tests/bench/similar_decisions.c)
    target_link_libraries(bench_similar_decisions PRIVATE warnings defines m)
    errata_link(bench_similar_decisions "domain;domain_decisions;domain_embed;event_apply;store_lmdb")
    add_dependencies(bench bench_similar_decisions)
endif()

# Measures the search of vectors by their sketches beside an exact scan.
add_executable(bench_vector_search EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/vector_search.c)
target_link_libraries(bench_vector_search PRIVATE warnings defines m)
errata_link(bench_vector_search "domain_embed;domain_vectors")
add_dependencies(bench bench_vector_search)

# Measures the evaluator of decisions and the detection of conflicts against people's labels.
add_executable(bench_evaluator_accuracy EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/evaluator_accuracy.c)
target_link_libraries(bench_evaluator_accuracy PRIVATE warnings defines m)
errata_link(bench_evaluator_accuracy "domain_embed;domain_evaluator;domain_conflicts")
add_dependencies(bench bench_evaluator_accuracy)

# Measures the accuracy of reading messages as feedback.
if(TARGET domain_cues AND TARGET domain_embed)
    add_executable(bench_feedback_detection EXCLUDE_FROM_ALL
                   ${CMAKE_SOURCE_DIR}/tests/bench/feedback_detection.c)
    target_link_libraries(bench_feedback_detection PRIVATE warnings defines)
    errata_link(bench_feedback_detection "domain_cues;domain_embed")
    add_dependencies(bench bench_feedback_detection)
endif()

# TLS connections, for tests/bench/tls.py.
add_executable(tls_connections EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/tls_connections.c)
target_link_libraries(tls_connections PRIVATE warnings test_warnings defines part_ssl part_crypto part_threads)
errata_link(tls_connections "base")
add_dependencies(bench tls_connections)
