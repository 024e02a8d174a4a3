# errata_module(NAME DIR dir [USES modules...] [PARTS parts...])
#     An OBJECT library of the C files that stand directly in `dir`. USES names the modules that it
#     may call; their objects come along wherever it is linked. A folder without C files is fine.
# errata_program(NAME module)
#     bin/NAME, of the module and all that it uses.
# errata_test(NAME DIR dir USES modules... [LABELS labels...] [PARTS parts...])
#     A cmocka executable of the C files in `dir` and of the modules, and a ctest of the same name.

add_library(warnings INTERFACE)
target_compile_options(warnings INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Wformat=2 -Wundef -Wstrict-prototypes
    -Wmissing-prototypes -Wold-style-definition -Wcast-align -Wwrite-strings -Wvla
    -Wimplicit-fallthrough -Wswitch -Wnull-dereference -Werror
    "SHELL:-include ${CMAKE_SOURCE_DIR}/store/base/banned.h")

# Behind the others: a test may follow what it unpacked, since a NULL ends it as it should.
add_library(test_warnings INTERFACE)
target_compile_options(test_warnings INTERFACE -Wno-null-dereference)

add_library(defines INTERFACE)
target_include_directories(defines INTERFACE ${CMAKE_SOURCE_DIR}
                           ${CMAKE_SOURCE_DIR}/client/include)
target_compile_definitions(defines INTERFACE _GNU_SOURCE ERRATA_VERSION="${PROJECT_VERSION}")
option(ERRATA_ARENA_EMULATOR "each piece of an arena is a block of its own" OFF)
option(ERRATA_FAULTS "places can be told to fail (store/base/fault_point.h)" OFF)
option(ERRATA_FUZZ "build the fuzzers (clang)" OFF)
if(ERRATA_ARENA_EMULATOR)
    target_compile_definitions(defines INTERFACE ERRATA_ARENA_EMULATOR=1)
endif()
if(ERRATA_FAULTS)
    target_compile_definitions(defines INTERFACE ERRATA_FAULTS=1)
endif()

# Programs are optimised over all of their files when they are linked. Objects are compiled for both
# ways: tests, of which there are many, are linked the short one (tests/CMakeLists.txt).
option(ERRATA_LINK_TIME_OPTIMIZATION "programs are optimised as wholes" OFF)

# Notes what a module brings along: its own objects, and the parts it links.
function(errata_note_module name)
    cmake_parse_arguments(M "" "" "USES;PARTS" ${ARGN})
    set_property(GLOBAL PROPERTY errata_uses_${name} ${M_USES})
    set_property(GLOBAL PROPERTY errata_parts_${name} ${M_PARTS})
endfunction()

# All modules that `names` bring along, themselves first.
function(errata_closure ret names)
    set(todo ${names})
    set(seen "")
    while(todo)
        list(POP_FRONT todo name)
        if(NOT name IN_LIST seen)
            list(APPEND seen ${name})
            get_property(uses GLOBAL PROPERTY errata_uses_${name})
            list(APPEND todo ${uses})
        endif()
    endwhile()
    set(${ret} ${seen} PARENT_SCOPE)
endfunction()

# Include folders, generated headers and parts of a module's closure, onto a target.
function(errata_use target names)
    errata_closure(closure "${names}")
    foreach(name ${closure})
        get_property(parts GLOBAL PROPERTY errata_parts_${name})
        foreach(part ${parts})
            target_link_libraries(${target} PRIVATE part_${part})
        endforeach()
        get_property(includes GLOBAL PROPERTY errata_includes_${name})
        if(includes)
            target_include_directories(${target} SYSTEM PRIVATE ${includes})
        endif()
        get_property(generator GLOBAL PROPERTY errata_generator_${name})
        if(generator)
            add_dependencies(${target} ${generator})
        endif()
    endforeach()
endfunction()

# Objects of a closure, onto an executable.
function(errata_link target names)
    errata_closure(closure "${names}")
    foreach(name ${closure})
        if(TARGET ${name})
            get_target_property(kind ${name} TYPE)
            if(kind STREQUAL "OBJECT_LIBRARY")
                target_sources(${target} PRIVATE $<TARGET_OBJECTS:${name}>)
            endif()
        endif()
    endforeach()
    errata_use(${target} "${names}")
endfunction()

function(errata_module name)
    cmake_parse_arguments(M "PROGRAM_ONLY" "DIR" "USES;PARTS" ${ARGN})
    errata_note_module(${name} USES ${M_USES} PARTS ${M_PARTS})
    file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${M_DIR}/*.c)
    if(NOT files)
        return()
    endif()
    add_library(${name} OBJECT ${files})
    target_link_libraries(${name} PRIVATE warnings defines)
    if(ERRATA_LINK_TIME_OPTIMIZATION)
        target_compile_options(${name} PRIVATE -flto -ffat-lto-objects)
    endif()
    errata_use(${name} ${name})
endfunction()

function(errata_program name module)
    if(NOT TARGET ${module})
        return()
    endif()
    file(GLOB main CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/cmake/empty.c)
    add_executable(${name} ${main})
    target_link_libraries(${name} PRIVATE defines)
    errata_link(${name} ${module})
    if(ERRATA_LINK_TIME_OPTIMIZATION)
        target_link_options(${name} PRIVATE -flto=auto)
    endif()
endfunction()

function(errata_test name)
    cmake_parse_arguments(T "" "DIR" "USES;PARTS;LABELS" ${ARGN})
    file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${T_DIR}/*.c)
    if(NOT files)
        return()
    endif()
    add_executable(${name} ${files})
    target_link_libraries(${name} PRIVATE warnings test_warnings defines part_cmocka)
    foreach(part ${T_PARTS})
        target_link_libraries(${name} PRIVATE part_${part})
    endforeach()
    errata_link(${name} "${T_USES}")
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}" TIMEOUT 120)
endfunction()
