# viewed.proto as views, and by protobuf-c, which checks them.
set(viewed_gen ${errata_gen}/viewed)
set(viewed_dir ${CMAKE_CURRENT_LIST_DIR})
set(viewed_wire ${viewed_gen}/viewed.pb-c.c ${viewed_gen}/viewed.pb-c.h)
set(viewed_views ${viewed_gen}/viewed.views.c ${viewed_gen}/viewed.views.h ${viewed_gen}/viewed.fields.h)
add_custom_command(
    OUTPUT ${viewed_wire} ${viewed_views}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${viewed_gen}
    COMMAND ${errata_tools}/publish --from ${viewed_dir} --to ${viewed_gen}/published viewed.proto
    COMMAND ${PROTOC} -I${viewed_gen}/published -I/usr/include
            --plugin=protoc-gen-c-optional=${errata_tools}/protoc-gen-c-optional
            --c-optional_out=${viewed_gen} viewed.proto
    COMMAND ${errata_protoc} -I${viewed_dir} -I${errata_proto}
            --plugin=protoc-gen-errata=${errata_tools}/protoc-gen-errata
            --errata_opt=what=views --errata_out=${viewed_gen} viewed.proto
    COMMAND ${errata_protoc} -I${viewed_dir} -I${errata_proto}
            --plugin=protoc-gen-errata=${errata_tools}/protoc-gen-errata
            --errata_opt=what=fields --errata_out=${viewed_gen} viewed.proto
    DEPENDS ${viewed_dir}/viewed.proto ${errata_proto}/errata/options/options.proto ${errata_plugin_files}
            ${errata_tools}/protoc-gen-c-optional ${errata_tools}/publish
    WORKING_DIRECTORY ${viewed_dir}
    COMMENT "Generating viewed"
    VERBATIM)
add_library(viewed OBJECT ${viewed_wire} ${viewed_views})
target_link_libraries(viewed PRIVATE defines)
target_include_directories(viewed SYSTEM PRIVATE ${viewed_gen})
target_link_libraries(viewed PRIVATE wire base)
errata_test(views_tests DIR tests/unit/views USES base wire LABELS unit PARTS protobuf_c)
target_sources(views_tests PRIVATE $<TARGET_OBJECTS:viewed>)
target_include_directories(views_tests SYSTEM PRIVATE ${viewed_gen})
add_dependencies(views_tests viewed)
