# The parts that Errata is built on, as INTERFACE targets `part_<name>`. All are Debian packages.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

function(errata_part name package)
    pkg_check_modules(${name}_pc REQUIRED IMPORTED_TARGET ${package})
    add_library(part_${name} INTERFACE)
    target_link_libraries(part_${name} INTERFACE PkgConfig::${name}_pc)
endfunction()

errata_part(uv libuv)
errata_part(nghttp2 libnghttp2)
errata_part(protobuf_c libprotobuf-c)
errata_part(lmdb lmdb)
errata_part(crypto libcrypto)
errata_part(ssl libssl)
errata_part(zlib zlib)
errata_part(utf8proc libutf8proc)
errata_part(hiredis hiredis)
# Without its -D_FILE_OFFSET_BITS=64, which changes nothing on 64 bits but the names of calls: the shims of the fault
# tests replace `openat`, not `openat64`.
set_target_properties(PkgConfig::hiredis_pc PROPERTIES INTERFACE_COMPILE_OPTIONS "" INTERFACE_COMPILE_DEFINITIONS "")
errata_part(cmocka cmocka)
errata_part(poppler poppler-glib)
# Symbols that server/jobs/pdf/measure/profiles.c replaces.
target_link_options(part_poppler INTERFACE LINKER:--export-dynamic-symbol=cmsOpenProfileFromMem)
errata_part(cairo cairo)
errata_part(seccomp libseccomp)

add_library(part_m INTERFACE)
target_link_libraries(part_m INTERFACE m)

add_library(part_dl INTERFACE)
target_link_libraries(part_dl INTERFACE ${CMAKE_DL_LIBS})

add_library(part_threads INTERFACE)
target_link_libraries(part_threads INTERFACE Threads::Threads)

# The system's sockets, part of libc: named so that the table of modules shows who uses them.
add_library(part_sockets INTERFACE)
