# Installation: cmake --install BUILD --prefix PREFIX
#
#   bin/                  erratad, errata, errata-bench, errata-mkmodel; errata-pdf-worker, which erratad starts from
#                         its own folder
#   lib/                  liberrata.so.0, liberrata.a
#   include/liberrata/    <errata/*.h>, the stubs <errata/v1/NAME.client.h>, the messages
#                         <errata/v1/NAME.pb-c.h> and those of Google's that they name
#   lib/pkgconfig, lib/cmake/errata   for programs that build with it; both derive the prefix from their
#                         own place, so that an installed tree can be moved
#   share/                licence, notice, README; manual pages and completions of the command
#   share/errata/proto/   the published .proto files, and those that they import
#
# The library's objects are compiled a second time, position independent and with hidden symbols; the
# programs use the first ones. Both libraries export symbols that begin with errata_ only. Under a
# sanitizer nothing is installed.
if(CMAKE_C_FLAGS MATCHES "-fsanitize|--coverage|-fanalyzer" OR NOT TARGET client_captures)
    return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# --- the library ---

# Libraries for users are installed completely; of their dependencies only the required parts.
set(library_roots client_library client_captures client_easy client_typed stubs)
errata_closure(library_modules "${library_roots}")
# Messages that the stubs, and the details of errors, consist of.
set(library_messages "${errata_gen}/wire/(errata/v1|google/api|google/rpc|grpc/health/v1)/"
                     "${errata_gen}/wire/google/protobuf/(any|descriptor|duration|timestamp)\\.")
list(JOIN library_messages "|" library_messages)

# The C files of modules.
function(errata_sources ret modules)
    set(files "")
    foreach(name ${modules})
        if(TARGET ${name})
            get_target_property(module_files ${name} SOURCES)
            list(FILTER module_files INCLUDE REGEX "\\.c$")
            list(APPEND files ${module_files})
        endif()
    endforeach()
    set(${ret} ${files} PARENT_SCOPE)
endfunction()

# errata_library_part(NAME KIND visibility files...)
function(errata_library_part name kind visibility)
    add_library(${name} ${kind} ${ARGN})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON
                          C_VISIBILITY_PRESET ${visibility})
    target_link_libraries(${name} PRIVATE defines)
    target_compile_options(${name} PRIVATE -ffunction-sections -fdata-sections)
    # The headers of the modules, without their objects.
    foreach(module ${library_modules})
        target_include_directories(${name} SYSTEM PRIVATE
            $<TARGET_PROPERTY:${module},INTERFACE_INCLUDE_DIRECTORIES>)
        add_dependencies(${name} ${module})
    endforeach()
    target_link_libraries(${name} PRIVATE part_uv part_nghttp2 part_zlib part_protobuf_c part_threads part_ssl part_crypto)
endfunction()

errata_sources(library_all "${library_modules}")
errata_sources(library_surface "${library_roots}")
list(REMOVE_ITEM library_all ${library_surface})
set(library_generated ${library_all} ${library_surface})
list(FILTER library_generated INCLUDE REGEX "/gen/(wire|stubs)/")
list(REMOVE_ITEM library_all ${library_generated})
list(REMOVE_ITEM library_surface ${library_generated})
list(FILTER library_generated INCLUDE REGEX "${library_messages}|/gen/stubs/")
# Messages of Google's and gRPC's get symbols of the library's own: a program may link such messages
# itself. The headers that are installed map the names.
set(library_named ${CMAKE_BINARY_DIR}/lib/include)
set(library_foreign "")
foreach(source ${library_generated})
    if(source MATCHES "^${errata_gen}/wire/((google|grpc)/.*)\\.c$")
        list(APPEND library_foreign ${CMAKE_MATCH_1}.h)
    endif()
endforeach()
list(TRANSFORM library_foreign PREPEND ${errata_gen}/wire/ OUTPUT_VARIABLE library_foreign_from)
list(TRANSFORM library_foreign PREPEND ${library_named}/ OUTPUT_VARIABLE library_foreign_to)
add_custom_command(
    OUTPUT ${library_named}/errata/names.h ${library_foreign_to}
    COMMAND ${errata_tools}/prefix-symbols --from ${errata_gen}/wire --to ${library_named}
            ${library_foreign}
    DEPENDS ${errata_tools}/prefix-symbols ${library_foreign_from}
    COMMENT "Generating errata/names.h"
    VERBATIM)
add_custom_target(library_names DEPENDS ${library_named}/errata/names.h ${library_foreign_to})

# Generated code does not set a visibility.
errata_library_part(library_messages OBJECT default ${library_generated})
add_dependencies(library_messages library_names)
target_compile_options(library_messages PRIVATE "SHELL:-include ${library_named}/errata/names.h")
errata_library_part(library_surface OBJECT hidden ${library_surface})
errata_library_part(library_inside STATIC hidden ${library_all})

add_library(liberrata SHARED $<TARGET_OBJECTS:library_messages> $<TARGET_OBJECTS:library_surface>)
set(library_map ${CMAKE_SOURCE_DIR}/tools/cmake/liberrata.map)
set_target_properties(liberrata PROPERTIES
    OUTPUT_NAME errata VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LINKER_LANGUAGE C LINK_DEPENDS ${library_map})
target_link_libraries(liberrata PRIVATE library_inside part_uv part_nghttp2 part_zlib
                      part_protobuf_c part_threads part_ssl part_crypto)
target_link_options(liberrata PRIVATE LINKER:--version-script=${library_map} LINKER:--no-undefined
                    LINKER:--gc-sections LINKER:--as-needed LINKER:-z,relro,-z,now)

# The static library is one object, in which every symbol that the shared library hides is local: a
# program may have an arena_init of its own. The patterns are those of the map.
file(STRINGS ${library_map} library_public REGEX "^    [a-z_0-9]+\\*;$")
list(TRANSFORM library_public REPLACE "^ *(.*);$" "--keep-global-symbol=\\1")
set(library_object ${CMAKE_BINARY_DIR}/lib/errata.o)
set(library_archive ${CMAKE_BINARY_DIR}/lib/liberrata.a)
add_custom_command(
    OUTPUT ${library_archive}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/lib
    COMMAND ${CMAKE_LINKER} -r -o ${library_object} $<TARGET_OBJECTS:library_messages>
            $<TARGET_OBJECTS:library_surface> $<TARGET_FILE:library_inside>
    COMMAND ${CMAKE_OBJCOPY} --wildcard ${library_public} ${library_object}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${library_archive}
    COMMAND ${CMAKE_AR} rcs ${library_archive} ${library_object}
    DEPENDS library_messages library_surface library_inside ${library_map}
            $<TARGET_OBJECTS:library_messages> $<TARGET_OBJECTS:library_surface>
    COMMENT "Linking C static library lib/liberrata.a"
    COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(liberrata_static ALL DEPENDS ${library_archive})

# --- package files ---

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/errata)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pkgconfig_to_prefix /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" pkgconfig_to_prefix ${pkgconfig_to_prefix})
configure_file(${CMAKE_SOURCE_DIR}/tools/cmake/errata.pc.in ${CMAKE_BINARY_DIR}/errata.pc @ONLY)
configure_package_config_file(
    ${CMAKE_SOURCE_DIR}/tools/cmake/errataConfig.cmake.in ${CMAKE_BINARY_DIR}/errataConfig.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO
    PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
# Below 1.0 a minor version may break compatibility.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/errataConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)

# --- destinations ---

# Builds the installed files only.
add_custom_target(installable DEPENDS liberrata liberrata_static)
foreach(program erratad errata errata-bench errata-mkmodel errata-pdf-worker)
    if(TARGET ${program})
        set(component server)
        if(program MATCHES "^errata(-bench)?$")
            set(component client)
        endif()
        install(TARGETS ${program} RUNTIME COMPONENT ${component})
        add_dependencies(installable ${program})
    endif()
endforeach()
install(TARGETS liberrata LIBRARY COMPONENT library NAMELINK_COMPONENT development)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(FILES ${library_archive} TYPE LIB)
set(headers_dir ${CMAKE_INSTALL_INCLUDEDIR}/liberrata)
install(DIRECTORY client/include/errata DESTINATION ${headers_dir} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${errata_gen}/stubs/ DESTINATION ${headers_dir} FILES_MATCHING PATTERN "*.h")
foreach(source ${library_generated})
    if(source MATCHES "^${errata_gen}/wire/((.*)/[^/]*)\\.c$")
        set(header ${CMAKE_MATCH_1}.h)
        set(folder ${errata_gen}/wire)
        if(header IN_LIST library_foreign)
            set(folder ${library_named})
        endif()
        install(FILES ${folder}/${header} DESTINATION ${headers_dir}/${CMAKE_MATCH_2})
    endif()
endforeach()
install(FILES ${library_named}/errata/names.h DESTINATION ${headers_dir}/errata)
install(FILES ${setters_outputs} DESTINATION ${headers_dir}/errata/v1)
# Imports lead from this folder: protoc -I PREFIX/share/errata/proto.
foreach(proto ${errata_published_protos})
    get_filename_component(folder ${proto} DIRECTORY)
    install(FILES ${errata_published}/${proto}
            DESTINATION ${CMAKE_INSTALL_DATADIR}/errata/proto/${folder})
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/errata.pc DESTINATION ${pkgconfig_dir})
install(FILES ${CMAKE_BINARY_DIR}/errataConfig.cmake ${CMAKE_BINARY_DIR}/errataConfigVersion.cmake
        DESTINATION ${package_dir})
install(FILES LICENSE NOTICE README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/errata)
install(DIRECTORY client/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/errata)
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT client
        PATTERN erratad.1 EXCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/share/man/man1/erratad.1 DESTINATION ${CMAKE_INSTALL_DATADIR}/man/man1
        COMPONENT server)
add_dependencies(installable share published)
