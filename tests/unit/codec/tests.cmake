errata_test(codec_tests DIR tests/unit/codec USES codec wire_fields LABELS unit)

# Compares our proto JSON with Python's through a small program that answers line by line. Its
# tables are those of peer/codec_peer.proto, which has types that the contract lacks.
set(codec_peer_gen ${errata_gen}/codec_peer)
set(codec_peer_dir ${CMAKE_CURRENT_LIST_DIR}/peer)
set(codec_peer_tables ${codec_peer_gen}/contract_messages.c ${codec_peer_gen}/contract_methods.c
    ${codec_peer_gen}/contract_files.c)
add_custom_command(
    OUTPUT ${codec_peer_tables} ${codec_peer_gen}/codec_peer_pb2.py
    COMMAND ${CMAKE_COMMAND} -E make_directory ${codec_peer_gen}
    COMMAND ${errata_protoc} -I${codec_peer_dir} --python_out=${codec_peer_gen} codec_peer.proto
    COMMAND ${errata_protoc} -I${codec_peer_dir}
            --plugin=protoc-gen-errata=${errata_tools}/protoc-gen-errata
            --errata_opt=what=contract --errata_out=${codec_peer_gen}
            codec_peer.proto ${errata_known_protos}
    COMMAND ${errata_protoc} -I${codec_peer_dir}
            --plugin=protoc-gen-errata=${errata_tools}/protoc-gen-errata
            --errata_opt=what=files --errata_out=${codec_peer_gen}
            codec_peer.proto ${errata_known_protos}
    DEPENDS ${codec_peer_dir}/codec_peer.proto ${errata_plugin_files}
    WORKING_DIRECTORY ${codec_peer_dir}
    COMMENT "Generating codec_peer"
    VERBATIM)
add_executable(codec_peer ${codec_peer_dir}/codec_peer.c ${codec_peer_tables}
               $<TARGET_OBJECTS:codec>)
set_source_files_properties(${codec_peer_tables} PROPERTIES COMPILE_OPTIONS -Wno-error)
target_link_libraries(codec_peer PRIVATE warnings defines)
errata_link(codec_peer base)
add_test(NAME codec_peer_tests
         COMMAND /usr/bin/python3 ${codec_peer_dir}/compare_with_python.py
                 $<TARGET_FILE:codec_peer> ${codec_peer_gen})
set_tests_properties(codec_peer_tests PROPERTIES LABELS unit TIMEOUT 120)

# Does the same with every request and reply of the contract, by the contract's own tables.
add_executable(contract_peer ${codec_peer_dir}/codec_peer.c)
target_link_libraries(contract_peer PRIVATE warnings defines)
errata_link(contract_peer codec)
add_dependencies(contract_peer golden_descriptors)
add_test(NAME codec_contract_peer_tests
         COMMAND /usr/bin/python3 ${codec_peer_dir}/compare_contract.py
                 $<TARGET_FILE:contract_peer> ${errata_gen}/contract.binpb)
set_tests_properties(codec_contract_peer_tests PROPERTIES LABELS unit TIMEOUT 120)
