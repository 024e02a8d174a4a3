# Debian packages: cpack -G DEB in the build folder.
#
#   errata-server   erratad, the PDF worker, errata-mkmodel, the systemd unit, /etc/errata/erratad.conf
#   errata-client   errata and errata-bench, completions, manual pages
#   liberrata0      the shared client library
#   liberrata-dev   headers, the static library, pkg-config and CMake files, the published .proto files, examples
#
# `cmake --install` ignores this and installs everything.
if(NOT TARGET liberrata)
    return()
endif()
set(packaging ${CMAKE_SOURCE_DIR}/tools/packaging)
install(FILES ${packaging}/erratad.service DESTINATION lib/systemd/system COMPONENT server)
install(FILES ${packaging}/errata.sysusers DESTINATION lib/sysusers.d RENAME errata.conf COMPONENT server)
install(FILES ${packaging}/errata.tmpfiles DESTINATION lib/tmpfiles.d RENAME errata.conf COMPONENT server)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME errata)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR Errata)
set(CPACK_PACKAGE_CONTACT "Errata maintainers <maintainers@errata.invalid>")
set(CPACK_SET_DESTDIR ON) # for /etc/errata
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL server client library development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(summary "feedback and learning server: corrections become examples")
set(CPACK_DEBIAN_SERVER_PACKAGE_NAME errata-server)
set(CPACK_DEBIAN_SERVER_PACKAGE_SECTION database)
set(CPACK_DEBIAN_SERVER_DESCRIPTION
"${summary}
Stores the corrections that people make to the output of AI models, and
returns the relevant ones to the next prompt. This package has the server.")
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS "adduser, fonts-dejavu-core")
set(CPACK_DEBIAN_SERVER_PACKAGE_RECOMMENDS "poppler-data, errata-client")
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/packaging/conffiles
    ${CMAKE_BINARY_DIR}/packaging/postinst ${CMAKE_BINARY_DIR}/packaging/prerm
    ${CMAKE_BINARY_DIR}/packaging/postrm)
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_CLIENT_PACKAGE_NAME errata-client)
set(CPACK_DEBIAN_CLIENT_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_CLIENT_PACKAGE_SUGGESTS git)
set(CPACK_DEBIAN_CLIENT_DESCRIPTION
"command line and load harness of Errata
errata calls, shows and administers an Errata server, a feedback and learning
server for the output of AI models; errata-bench measures it.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME liberrata${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/packaging/triggers)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION
"client library of Errata
Calls an Errata server, a feedback and learning server for the output of AI
models, from C and C++ programs.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liberrata-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "liberrata${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}), libuv1-dev, libnghttp2-dev, libprotobuf-c-dev, zlib1g-dev, libssl-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
"development files of Errata's client library
Headers, the static library, the published .proto files and examples for
programs that call an Errata server.")

# Scripts of the server's package have fixed names.
foreach(script postinst prerm postrm)
    configure_file(${packaging}/errata-server.${script} ${CMAKE_BINARY_DIR}/packaging/${script} COPYONLY)
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/packaging/conffiles "/etc/errata/erratad.conf\n")
file(WRITE ${CMAKE_BINARY_DIR}/packaging/triggers "activate-noawait ldconfig\n")
# Outside the prefix; cmake --install to another prefix leaves it out.
install(FILES ${packaging}/erratad.conf DESTINATION /etc/errata COMPONENT server EXCLUDE_FROM_ALL)

# Debian's policy requires each package's licence, and a changelog, under its own name.
string(TIMESTAMP packages_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component server client library development)
    string(TOUPPER ${component} upper)
    set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    set(package_doc ${CMAKE_BINARY_DIR}/packaging/${package})
    file(WRITE ${package_doc}/changelog
"${package} (${PROJECT_VERSION}) unstable; urgency=medium

  * Release ${PROJECT_VERSION}; CHANGELOG.md of the source lists the changes.

 -- ${CPACK_PACKAGE_CONTACT}  ${packages_date}
")
    execute_process(COMMAND gzip -9nf ${package_doc}/changelog)
    file(READ ${CMAKE_SOURCE_DIR}/NOTICE notice)
    file(WRITE ${package_doc}/copyright
"Errata is under the Apache License, version 2.0: /usr/share/common-licenses/Apache-2.0.
The program errata-pdf-worker links Poppler and is under the GNU General Public
License, version 2 or later: /usr/share/common-licenses/GPL-2.

${notice}")
    install(FILES ${package_doc}/changelog.gz ${package_doc}/copyright DESTINATION share/doc/${package}
            COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
# A package has its manual pages compressed.
foreach(component server client)
    install(CODE [[
        if(DEFINED ENV{DESTDIR})
            file(GLOB pages $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share/man/man1/*.1)
            if(pages)
                execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
            endif()
        endif()]] COMPONENT ${component})
endforeach()
include(CPack)
