# Target `record`: nanopb's code for the stored messages (proto/record/*.proto), into
# ${CMAKE_BINARY_DIR}/gen/record; included as <record.pb.h>. Generated code is built without our
# warnings and its headers are system headers.
find_program(PROTOC protoc REQUIRED)
find_program(PROTOC_GEN_NANOPB protoc-gen-nanopb REQUIRED)
set(record_gen ${CMAKE_BINARY_DIR}/gen/record)
set(record_proto ${CMAKE_SOURCE_DIR}/proto/record)
set(nanopb_proto /usr/lib/python3/dist-packages/proto)
file(MAKE_DIRECTORY ${record_gen})
add_custom_command(
    OUTPUT ${record_gen}/record.pb.c ${record_gen}/record.pb.h
    COMMAND ${PROTOC} --plugin=protoc-gen-nanopb=${PROTOC_GEN_NANOPB} -I${record_proto}
            -I${nanopb_proto} --nanopb_out=${record_gen} record.proto
    DEPENDS ${record_proto}/record.proto
    COMMENT "nanopb: record.proto" VERBATIM)
add_custom_target(record_generated DEPENDS ${record_gen}/record.pb.c ${record_gen}/record.pb.h)
add_library(record OBJECT ${record_gen}/record.pb.c)
target_link_libraries(record PRIVATE part_nanopb)
target_include_directories(record PRIVATE ${CMAKE_SOURCE_DIR} ${record_gen})
add_dependencies(record record_generated)
set_property(GLOBAL PROPERTY errata_includes_record ${record_gen})
set_property(GLOBAL PROPERTY errata_generator_record record_generated)
