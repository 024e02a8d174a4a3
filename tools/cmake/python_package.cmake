# The Python package: client/python with what the contract generates, in ${CMAKE_BINARY_DIR}/python. The target
# python_package makes that folder, which a program can use as it is; python_dist makes the wheel and the source
# distribution of it, in python/dist.
set(python_package ${CMAKE_BINARY_DIR}/python)
file(GLOB_RECURSE python_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/client/python/*.py)
list(APPEND python_sources ${CMAKE_SOURCE_DIR}/client/python/pyproject.toml ${CMAKE_SOURCE_DIR}/client/python/README.md)
list(FILTER python_sources EXCLUDE REGEX "/__pycache__/")

add_custom_command(
    OUTPUT ${python_package}/made
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${python_package}
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/client/python ${python_package}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/LICENSE ${python_package}
    COMMAND ${errata_protoc_published} --plugin=protoc-gen-errata=${errata_tools}/protoc-gen-errata
            --errata_opt=what=python,${errata_package_options} --errata_out=${python_package} ${errata_protos}
    COMMAND sed -i "s/^__version__ = .*/__version__ = \"${PROJECT_VERSION}\"/" ${python_package}/errata/_version.py
    COMMAND ${CMAKE_COMMAND} -E touch ${python_package}/made
    DEPENDS ${python_sources} ${errata_published_files} published ${errata_plugin_files}
    WORKING_DIRECTORY ${errata_published}
    COMMENT "Making the Python package"
    VERBATIM)
add_custom_target(python_package ALL DEPENDS ${python_package}/made)

add_custom_command(
    OUTPUT ${python_package}/dist/made
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${python_package}/dist
    COMMAND /usr/bin/python3 -c
            "import setuptools.build_meta as build; build.build_sdist('dist'); build.build_wheel('dist')"
    COMMAND ${CMAKE_COMMAND} -E touch ${python_package}/dist/made
    DEPENDS ${python_package}/made
    WORKING_DIRECTORY ${python_package}
    COMMENT "Making the wheel and the source distribution"
    VERBATIM)
add_custom_target(python_dist DEPENDS ${python_package}/dist/made)
