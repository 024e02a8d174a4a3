include(${CMAKE_SOURCE_DIR}/tests/support/tests.cmake)

errata_python_test(interop_grpcio FILE tests/interop/grpcio.py LABEL interop)
errata_python_test(interop_curl FILE tests/interop/curl.py LABEL interop)
foreach(client mcp mcp_modern)
    errata_python_test(interop_${client} FILE tests/interop/mcp_sdk.py LABEL interop TIMEOUT 300 ARGUMENTS ${client})
endforeach()
errata_python_test(interop_openapi FILE tests/interop/openapi.py LABEL interop TIMEOUT 300)
errata_python_test(interop_reflection FILE tests/interop/reflection.py LABEL interop)
errata_python_test(interop_grpc_js FILE tests/interop/grpc_js.py LABEL interop TIMEOUT 300)

# The TypeScript package: made, installed and called.
errata_python_test(interop_typescript_client FILE tests/interop/typescript_client.py LABEL interop TIMEOUT 300)
errata_python_test(interop_grpc_web FILE tests/interop/grpc_web.py LABEL interop TIMEOUT 300)
errata_python_test(interop_connect FILE tests/interop/connect_clients.py LABEL interop TIMEOUT 300)

# Tests the output of other languages' generators for the published files, one test per language.
foreach(language Go Python TypeScript Cpp)
    string(TOLOWER ${language} name)
    errata_python_test(interop_stubs_${name} FILE tests/interop/stubs.py LABEL interop TIMEOUT 300
                       ARGUMENTS ${language})
endforeach()
