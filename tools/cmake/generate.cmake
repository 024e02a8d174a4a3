# Generated code, into ${CMAKE_BINARY_DIR}/gen; nothing of it is committed. proto/README.md says what
# is made from what. A change of any .proto, of an .options file or of a generator rebuilds it.
#
#   wire         messages by protobuf-c: <errata/v1/NAME.pb-c.h>, <google/rpc/status.pb-c.h> ...
#   wire_fields  field numbers and enums, only headers: <errata/v1/NAME.fields.h>
#   views        messages as flat structs over their bytes: <errata/v1/NAME.views.h>
#   event_kinds  kinds of events, what each capability applies: <event_kinds.h>, <event_apply.h>, <event_retract.h>
#   event_apply  the function that calls the capabilities of an event
#   event_retract  the function that calls the capability which takes back an event
#   published    the .proto files as callers get them
#   contract     the tables of server/codec/contract.h, <errata/contract_messages.h>
#   contract_routes  the aliases of methods in plain JSON, by google.api.http
#   openapi      those aliases as openapi.json
#   mcp_tools    the tools of agents, with the schemas of their arguments
#   dispatch     <errata/v1/NAME.handlers.h>, the table of server/pipeline/dispatch.h
#   stubs        <errata/v1/NAME.client.h>, <errata/v1/NAME.set.h>
#
# Stored records and the worker's answers: record.cmake.

set(errata_proto ${CMAKE_SOURCE_DIR}/proto)
set(errata_gen ${CMAKE_BINARY_DIR}/gen)
set(errata_tools ${CMAKE_SOURCE_DIR}/tools/gen)
find_program(PROTOC protoc REQUIRED)

# protoc runs in proto/ so that names on its command line are import paths.
set(errata_protoc ${PROTOC} -I${errata_proto} -I/usr/include)

file(GLOB errata_plugin_files CONFIGURE_DEPENDS ${errata_tools}/errata_gen/*.py)
list(APPEND errata_plugin_files ${errata_tools}/protoc-gen-errata)

# Files of the contract, as import paths: Errata's own files, and files used only by the server.
file(GLOB errata_own_protos RELATIVE ${errata_proto} CONFIGURE_DEPENDS ${errata_proto}/errata/v1/*.proto)
file(GLOB errata_private_protos RELATIVE ${errata_proto} CONFIGURE_DEPENDS
     ${errata_proto}/errata/options/*.proto ${errata_proto}/errata/payload/*.proto)
# ... the vendored ones ...
file(GLOB_RECURSE errata_vendored_protos RELATIVE ${errata_proto} CONFIGURE_DEPENDS
     ${errata_proto}/google/*.proto ${errata_proto}/grpc/*.proto)
# ... and the well-known types, so that JSON and Any can name each of them.
set(errata_known_protos any descriptor duration empty field_mask struct timestamp wrappers)
list(TRANSFORM errata_known_protos REPLACE "(.+)" "google/protobuf/\\1.proto")
set(errata_protos ${errata_own_protos} ${errata_vendored_protos} ${errata_known_protos})
set(errata_proto_files ${errata_own_protos} ${errata_private_protos} ${errata_vendored_protos})
list(TRANSFORM errata_proto_files PREPEND ${errata_proto}/)

# Packages whose methods need no token and carry no rules of the contract; packages that are not published.
set(errata_package_options grpc.health.v1 grpc.reflection.v1 grpc.reflection.v1alpha)
list(TRANSFORM errata_package_options PREPEND open=)
list(APPEND errata_package_options private=errata.options private=errata.payload)
# Messages of other projects, which the server reads and writes as views: their files, and their names.
set(errata_foreign_view_protos google/protobuf/any.proto google/protobuf/duration.proto
    google/rpc/error_details.proto google/rpc/status.proto grpc/health/v1/health.proto)
foreach(message google.protobuf.Any google.protobuf.Duration google.rpc.BadRequest
        google.rpc.BadRequest.FieldViolation google.rpc.ErrorInfo google.rpc.QuotaFailure
        google.rpc.QuotaFailure.Violation google.rpc.RetryInfo google.rpc.Status
        grpc.health.v1.HealthCheckResponse)
    list(APPEND errata_package_options view=${message})
endforeach()
list(JOIN errata_package_options "," errata_package_options)

# The published files. Messages in C and what reflection serves are made from them, so that neither can
# know more than callers do.
set(errata_published ${errata_gen}/published)
set(errata_published_protos ${errata_own_protos} ${errata_vendored_protos})
set(errata_published_files ${errata_published_protos})
list(TRANSFORM errata_published_files PREPEND ${errata_published}/)
add_custom_command(
    OUTPUT ${errata_published_files}
    COMMAND ${errata_tools}/publish --from ${errata_proto} --to ${errata_published}
            ${errata_published_protos}
    DEPENDS ${errata_proto_files} ${errata_tools}/publish
    COMMENT "Publishing the contract"
    VERBATIM)
add_custom_target(published ALL DEPENDS ${errata_published_files})
set(errata_protoc_published ${PROTOC} -I${errata_published} -I/usr/include)

# The files among `protos` with a line of the given form. Asked again when one changes.
function(errata_find_protos ret form protos)
    set(found "")
    foreach(proto ${protos})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${errata_proto}/${proto})
        file(STRINGS ${errata_proto}/${proto} lines REGEX ${form})
        if(lines)
            list(APPEND found ${proto})
        endif()
    endforeach()
    set(${ret} ${found} PARENT_SCOPE)
endfunction()
errata_find_protos(errata_service_protos "^service "
                   "${errata_own_protos};${errata_vendored_protos}")

# The paths that `protos` become under `folder` with each of the suffixes.
function(errata_outputs ret folder protos)
    set(paths "")
    foreach(proto ${protos})
        string(REGEX REPLACE "\\.proto$" "" base ${proto})
        foreach(suffix ${ARGN})
            list(APPEND paths ${errata_gen}/${folder}/${base}${suffix})
        endforeach()
    endforeach()
    set(${ret} ${paths} PARENT_SCOPE)
endfunction()

# errata_generated(NAME [PUBLISHED] OUTPUTS files... COMMAND command... DEPENDS files...
#                  [USES ...] [PARTS ...])
#     A module of generated code: the command writes OUTPUTS under gen/NAME. PUBLISHED: it runs on the
#     published files, which it depends on, not on the sources.
function(errata_generated name)
    cmake_parse_arguments(G "PUBLISHED" "" "OUTPUTS;COMMAND;DEPENDS;USES;PARTS" ${ARGN})
    # Remove files generated from earlier sources, such as a renamed .proto, so that no include or glob finds them.
    file(GLOB_RECURSE old ${errata_gen}/${name}/*)
    list(REMOVE_ITEM old ${G_OUTPUTS})
    if(old)
        file(REMOVE ${old})
    endif()
    list(TRANSFORM G_PARTS PREPEND part_)
    set(folder ${errata_proto})
    if(G_PUBLISHED)
        set(folder ${errata_published})
        list(APPEND G_DEPENDS ${errata_published_files} published)
    endif()
    add_custom_command(
        OUTPUT ${G_OUTPUTS}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${errata_gen}/${name}
        COMMAND ${G_COMMAND}
        DEPENDS ${G_DEPENDS}
        WORKING_DIRECTORY ${folder}
        COMMENT "Generating ${name}"
        VERBATIM)
    add_custom_target(generate_${name} DEPENDS ${G_OUTPUTS})
    set(sources ${G_OUTPUTS})
    list(FILTER sources INCLUDE REGEX "\\.c$")
    if(sources)
        add_library(${name} OBJECT ${sources})
        target_link_libraries(${name} PUBLIC ${G_USES} ${G_PARTS} PRIVATE defines)
        target_include_directories(${name} SYSTEM PUBLIC ${errata_gen}/${name})
        target_compile_options(${name} PRIVATE -Wall -Wextra)
    else()
        add_library(${name} INTERFACE)
        target_link_libraries(${name} INTERFACE ${G_USES} ${G_PARTS})
        target_include_directories(${name} SYSTEM INTERFACE ${errata_gen}/${name})
    endif()
    add_dependencies(${name} generate_${name})
endfunction()

# The published files within a program: `errata proto`.
errata_generated(published_protos PUBLISHED
    OUTPUTS ${errata_gen}/published_protos/published_protos.c
            ${errata_gen}/published_protos/published_protos.h
    COMMAND ${errata_tools}/embed-protos --from ${errata_published}
            --to ${errata_gen}/published_protos ${errata_published_protos}
    DEPENDS ${errata_plugin_files} ${errata_tools}/embed-protos)

# Runs protoc-gen-errata for one family of files.
function(errata_plugin_command ret name what)
    set(protoc ${errata_protoc})
    if(what STREQUAL files)
        set(protoc ${errata_protoc_published})
    endif()
    set(${ret}
        ${protoc} --plugin=protoc-gen-errata=${errata_tools}/protoc-gen-errata
        --errata_opt=what=${what},${errata_package_options} --errata_out=${errata_gen}/${name}
        PARENT_SCOPE)
endfunction()

errata_outputs(wire_outputs wire "${errata_protos}" .pb-c.c .pb-c.h)
errata_generated(wire PUBLISHED
    OUTPUTS ${wire_outputs}
    COMMAND ${errata_protoc_published}
            --plugin=protoc-gen-c-optional=${errata_tools}/protoc-gen-c-optional
            --c-optional_out=${errata_gen}/wire ${errata_protos}
    DEPENDS ${errata_tools}/protoc-gen-c-optional
    PARTS protobuf_c)

set(errata_field_protos ${errata_own_protos} ${errata_private_protos})
list(FILTER errata_field_protos EXCLUDE REGEX "^errata/options/")
set(errata_all_field_protos ${errata_field_protos} ${errata_foreign_view_protos})
errata_outputs(fields_outputs wire_fields "${errata_all_field_protos}" .fields.h)
errata_plugin_command(fields_command wire_fields fields)
errata_generated(wire_fields
    OUTPUTS ${fields_outputs}
    COMMAND ${fields_command} ${errata_all_field_protos}
    DEPENDS ${errata_proto_files} ${errata_plugin_files})

errata_find_protos(errata_view_protos "^  option .errata.options.message..view = true" "${errata_field_protos}")
list(APPEND errata_view_protos ${errata_foreign_view_protos})
errata_outputs(views_outputs views "${errata_view_protos}" .views.h .views.c)
errata_plugin_command(views_command views views)
errata_generated(views
    OUTPUTS ${views_outputs}
    COMMAND ${views_command} ${errata_view_protos}
    DEPENDS ${errata_proto_files} ${errata_plugin_files}
    USES base wire_fields)

# Kinds of events and what applies them: the headers, and apart from those the source, which calls every
# capability.
errata_find_protos(errata_event_protos "errata.options.event." "${errata_field_protos}")
errata_plugin_command(event_kinds_command event_kinds events)
errata_generated(event_kinds
    OUTPUTS ${errata_gen}/event_kinds/event_kinds.h ${errata_gen}/event_kinds/event_apply.h
            ${errata_gen}/event_kinds/event_retract.h
    COMMAND ${event_kinds_command} ${errata_event_protos}
    DEPENDS ${errata_proto_files} ${errata_plugin_files})
errata_plugin_command(event_apply_command event_apply apply)
errata_generated(event_apply
    OUTPUTS ${errata_gen}/event_apply/event_apply.c
    COMMAND ${event_apply_command} ${errata_event_protos}
    DEPENDS ${errata_proto_files} ${errata_plugin_files}
    USES store)
errata_plugin_command(event_retract_command event_retract retract)
errata_generated(event_retract
    OUTPUTS ${errata_gen}/event_retract/event_retract.c
    COMMAND ${event_retract_command} ${errata_event_protos}
    DEPENDS ${errata_proto_files} ${errata_plugin_files}
    USES store)

errata_plugin_command(contract_command contract contract)
errata_generated(contract
    OUTPUTS ${errata_gen}/contract/contract_messages.c ${errata_gen}/contract/contract_methods.c
            ${errata_gen}/contract/errata/contract_messages.h
            ${errata_gen}/contract/errata/contract_methods.h
    COMMAND ${contract_command} ${errata_protos}
    DEPENDS ${errata_proto_files} ${errata_plugin_files})

# The aliases of methods in plain JSON.
errata_plugin_command(contract_routes_command contract_routes routes)
errata_generated(contract_routes
    OUTPUTS ${errata_gen}/contract_routes/contract_routes.c
    COMMAND ${contract_routes_command} ${errata_protos}
    DEPENDS ${errata_proto_files} ${errata_plugin_files}
    USES contract)

errata_plugin_command(openapi_command openapi openapi)
errata_generated(openapi
    OUTPUTS ${errata_gen}/openapi/openapi.c ${errata_gen}/openapi/openapi.json
    COMMAND ${openapi_command} ${errata_protos}
    DEPENDS ${errata_proto_files} ${errata_plugin_files}
    USES base)

errata_plugin_command(mcp_tools_command mcp_tools tools)
errata_generated(mcp_tools
    OUTPUTS ${errata_gen}/mcp_tools/mcp_tools.c
    COMMAND ${mcp_tools_command} ${errata_protos}
    DEPENDS ${errata_proto_files} ${errata_plugin_files}
    USES contract)

errata_plugin_command(contract_files_command contract_files files)
errata_generated(contract_files PUBLISHED
    OUTPUTS ${errata_gen}/contract_files/contract_files.c
    COMMAND ${contract_files_command} ${errata_protos}
    DEPENDS ${errata_plugin_files})

errata_outputs(dispatch_outputs dispatch "${errata_service_protos}" .handlers.h)
errata_plugin_command(dispatch_command dispatch dispatch)
errata_generated(dispatch
    OUTPUTS ${errata_gen}/dispatch/dispatch.c ${dispatch_outputs}
    COMMAND ${dispatch_command} ${errata_protos}
    DEPENDS ${errata_proto_files} ${errata_plugin_files}
    USES wire wire_fields contract tables event_kinds PARTS protobuf_c)

# Bidirectional streams have no stub, and reflection is nothing else.
set(errata_stub_protos ${errata_service_protos})
list(FILTER errata_stub_protos EXCLUDE REGEX "^grpc/reflection/")
errata_outputs(stubs_outputs stubs "${errata_stub_protos}" .client.c .client.h)
# Files with messages that have a member.
errata_find_protos(errata_set_protos
                   "^ +((optional|repeated) )?[A-Za-z0-9_.]+ [a-z0-9_]+ = [0-9]+|^ +map<"
                   "${errata_own_protos}")
errata_outputs(setters_outputs stubs "${errata_set_protos}" .set.h)
errata_plugin_command(stubs_command stubs stubs)
errata_generated(stubs
    OUTPUTS ${stubs_outputs} ${setters_outputs}
    COMMAND ${stubs_command} ${errata_protos}
    DEPENDS ${errata_proto_files} ${errata_plugin_files}
    USES client_typed wire wire_fields contract PARTS protobuf_c)
