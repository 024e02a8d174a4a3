# The generator's output, and the tables of the real contract.
add_test(NAME golden_plugin
         COMMAND /usr/bin/python3 -B ${CMAKE_SOURCE_DIR}/tests/golden/golden_plugin.py
         WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(golden_plugin PROPERTIES LABELS golden TIMEOUT 120)

# protoc's own descriptors of the published files, to compare the embedded ones with.
set(golden_descriptors ${errata_gen}/contract.binpb)
add_custom_command(
    OUTPUT ${golden_descriptors}
    COMMAND ${errata_protoc_published} --include_imports --descriptor_set_out=${golden_descriptors}
            ${errata_protos}
    DEPENDS ${errata_published_files} published
    WORKING_DIRECTORY ${errata_published}
    COMMENT "protoc's descriptors of the contract"
    VERBATIM)
add_custom_target(golden_descriptors DEPENDS ${golden_descriptors})
errata_test(golden_contract DIR tests/golden USES codec wire_fields base LABELS golden)
add_dependencies(golden_contract golden_descriptors)
set_tests_properties(golden_contract PROPERTIES
                     ENVIRONMENT ERRATA_TEST_DESCRIPTORS=${golden_descriptors})

# The published files beside their sources.
add_test(NAME golden_published
         COMMAND /usr/bin/python3 -B ${CMAKE_SOURCE_DIR}/tests/golden/published.py
         WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(golden_published PROPERTIES LABELS golden TIMEOUT 60)
