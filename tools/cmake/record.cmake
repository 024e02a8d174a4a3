# Targets `record` and `pdf_record`: nanopb's code for the stored messages (proto/record) and for what
# the PDF worker answers (proto/worker), into ${CMAKE_BINARY_DIR}/gen/TARGET; included as
# <record.pb.h> and <pdf_worker.pb.h>. Generated code is built without our warnings and its headers
# are system headers.
find_program(PROTOC protoc REQUIRED)
find_program(PROTOC_GEN_NANOPB protoc-gen-nanopb REQUIRED)
set(nanopb_proto /usr/lib/python3/dist-packages/proto)

# errata_nanopb(TARGET folder name): the module TARGET of folder/name.proto.
function(errata_nanopb target folder name)
    set(gen ${CMAKE_BINARY_DIR}/gen/${target})
    set(files ${gen}/${name}.pb.c ${gen}/${name}.pb.h)
    file(MAKE_DIRECTORY ${gen})
    add_custom_command(
        OUTPUT ${files}
        COMMAND ${PROTOC} --plugin=protoc-gen-nanopb=${PROTOC_GEN_NANOPB} -I${folder}
                -I${nanopb_proto} --nanopb_out=${gen} ${name}.proto
        DEPENDS ${folder}/${name}.proto
        COMMENT "nanopb: ${name}.proto" VERBATIM)
    add_custom_target(${target}_generated DEPENDS ${files})
    add_library(${target} OBJECT ${gen}/${name}.pb.c)
    target_link_libraries(${target} PUBLIC part_nanopb)
    target_include_directories(${target} SYSTEM PUBLIC ${gen})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
    add_dependencies(${target} ${target}_generated)
endfunction()

errata_nanopb(record ${CMAKE_SOURCE_DIR}/proto/record record)
errata_nanopb(pdf_record ${CMAKE_SOURCE_DIR}/proto/worker pdf_worker)
