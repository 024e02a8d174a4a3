# Targets `record` and `pdf_record`: nanopb's code for the stored messages (proto/record) and for what
# the PDF worker answers (proto/worker), into ${CMAKE_BINARY_DIR}/gen/TARGET; included as
# <record/NAME.pb.h> and <pdf_worker.pb.h>. Generated code is built without our warnings and its headers
# are system headers.
find_program(PROTOC protoc REQUIRED)
find_program(PROTOC_GEN_NANOPB protoc-gen-nanopb REQUIRED)
set(nanopb_proto /usr/lib/python3/dist-packages/proto)

# errata_nanopb(TARGET root names...): the module TARGET of the files root/NAME.proto; a header is included as
# <NAME.pb.h>.
function(errata_nanopb target root)
    set(gen ${CMAKE_BINARY_DIR}/gen/${target})
    set(sources "")
    set(files "")
    foreach(name ${ARGN})
        get_filename_component(folder ${gen}/${name} DIRECTORY)
        file(MAKE_DIRECTORY ${folder})
        list(APPEND sources ${gen}/${name}.pb.c)
        list(APPEND files ${gen}/${name}.pb.c ${gen}/${name}.pb.h)
        add_custom_command(
            OUTPUT ${gen}/${name}.pb.c ${gen}/${name}.pb.h
            COMMAND ${PROTOC} --plugin=protoc-gen-nanopb=${PROTOC_GEN_NANOPB} -I${root}
                    -I${nanopb_proto} --nanopb_out=${gen} ${name}.proto
            DEPENDS ${root}/${name}.proto
            COMMENT "nanopb: ${name}.proto" VERBATIM)
    endforeach()
    add_custom_target(${target}_generated DEPENDS ${files})
    add_library(${target} OBJECT ${sources})
    target_link_libraries(${target} PUBLIC part_nanopb)
    target_include_directories(${target} SYSTEM PUBLIC ${gen})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
    add_dependencies(${target} ${target}_generated)
endfunction()

file(GLOB record_names CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/proto
     ${CMAKE_SOURCE_DIR}/proto/record/*.proto)
list(TRANSFORM record_names REPLACE "\\.proto$" "")
errata_nanopb(record ${CMAKE_SOURCE_DIR}/proto ${record_names})
errata_nanopb(pdf_record ${CMAKE_SOURCE_DIR}/proto/worker pdf_worker)
