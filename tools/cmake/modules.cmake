# errata_module(NAME DIR dirs... [USES modules...] [HEADERS modules...] [PARTS parts...])
#     An OBJECT library of the C files directly in these folders, or of headers only. USES names the modules
#     whose headers it includes and whose functions it calls: their objects are linked wherever it is. HEADERS
#     names those of which it needs the headers only. PARTS names system libraries (parts.cmake). This is the only
#     table of who may use whom: tests/tidy/layers.py reads it.
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

# Apply this to tests after the other flags: a test may dereference an unchecked pointer, since a crash fails the test.
add_library(test_warnings INTERFACE)
target_compile_options(test_warnings INTERFACE -Wno-null-dereference)

add_library(defines INTERFACE)
target_include_directories(defines INTERFACE ${CMAKE_SOURCE_DIR}
                           ${CMAKE_SOURCE_DIR}/client/include)
target_compile_definitions(defines INTERFACE _GNU_SOURCE ERRATA_VERSION="${PROJECT_VERSION}")
option(ERRATA_ARENA_EMULATOR "each piece of an arena is a block of its own" OFF)
option(ERRATA_FAULTS "fault points can be made to fail (store/base/fault_point.h)" OFF)
option(ERRATA_FUZZ "build the fuzzers (clang)" OFF)
if(ERRATA_ARENA_EMULATOR)
    target_compile_definitions(defines INTERFACE ERRATA_ARENA_EMULATOR=1)
endif()
if(ERRATA_FAULTS)
    target_compile_definitions(defines INTERFACE ERRATA_FAULTS=1)
endif()

# Programs are optimised over all of their files when they are linked. Objects are compiled for both
# ways: tests, of which there are many, are linked the short one (tests/CMakeLists.txt). Where few tests
# are linked, objects without the second form take half of the time.
option(ERRATA_LINK_TIME_OPTIMIZATION "programs are optimised as wholes" OFF)
option(ERRATA_FAT_OBJECTS "objects can also be linked without being optimised as wholes" ON)

# The modules that `names` use, directly or not, themselves first: from the targets' links, of which those
# that are named part_... are libraries of the system.
function(errata_closure ret names)
    set(todo ${names})
    set(seen "")
    while(todo)
        list(POP_FRONT todo name)
        if(NOT name IN_LIST seen)
            list(APPEND seen ${name})
            get_target_property(links ${name} INTERFACE_LINK_LIBRARIES)
            if(links)
                list(FILTER links EXCLUDE REGEX "^part_|^.<")
                list(APPEND todo ${links})
            endif()
        endif()
    endwhile()
    set(${ret} ${seen} PARENT_SCOPE)
endfunction()

# Links the modules and all that they use into an executable. CMake takes only the objects of libraries that
# are named to it, so the closure is.
function(errata_link target names)
    errata_closure(closure "${names}")
    target_link_libraries(${target} PRIVATE ${closure})
endfunction()

function(errata_module name)
    cmake_parse_arguments(M "PROGRAM_ONLY" "" "DIR;USES;HEADERS;PARTS" ${ARGN})
    list(TRANSFORM M_PARTS PREPEND part_)
    list(TRANSFORM M_DIR PREPEND ${CMAKE_SOURCE_DIR}/)
    list(TRANSFORM M_DIR APPEND /*.c)
    file(GLOB files CONFIGURE_DEPENDS ${M_DIR})
    if(NOT files)
        add_library(${name} INTERFACE)
        target_link_libraries(${name} INTERFACE ${M_USES} ${M_PARTS})
        return()
    endif()
    add_library(${name} OBJECT ${files})
    target_link_libraries(${name} PUBLIC ${M_USES} ${M_PARTS} PRIVATE warnings defines)
    if(ERRATA_LINK_TIME_OPTIMIZATION)
        target_compile_options(${name} PRIVATE -flto $<IF:$<BOOL:${ERRATA_FAT_OBJECTS}>,-ffat-lto-objects,-fno-fat-lto-objects>)
    endif()
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
    list(TRANSFORM T_PARTS PREPEND part_)
    target_link_libraries(${name} PRIVATE ${T_PARTS})
    errata_link(${name} "${T_USES}")
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}" TIMEOUT 120)
endfunction()
