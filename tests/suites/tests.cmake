include(${CMAKE_SOURCE_DIR}/tests/support/tests.cmake)

# The server that public protocol suites are run against (tools/suites), and Python's grpcio as the
# first of them.
errata_module(suite_server_parts DIR tests/suites USES codec connect grpc grpc_web http http1 net tls tls_stream PARTS uv)
errata_program(suite_server suite_server_parts)
# The codec finds the suites' messages besides those of the contract (conformance_tables.c).
target_link_options(suite_server PRIVATE LINKER:--wrap=contract_find_message)
errata_python_test(suite_grpcio FILE tests/suites/grpcio.py LABEL suite)
errata_python_test(suite_selftest FILE tests/suites/selftest.py LABEL suite)
