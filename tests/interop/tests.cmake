include(${CMAKE_SOURCE_DIR}/tests/support/tests.cmake)

errata_python_test(interop_grpcio FILE tests/interop/grpcio.py LABEL interop)
errata_python_test(interop_curl FILE tests/interop/curl.py LABEL interop)
errata_python_test(interop_reflection FILE tests/interop/reflection.py LABEL interop)
errata_python_test(interop_grpc_js FILE tests/interop/grpc_js.py LABEL interop TIMEOUT 300)
