# Generated code, into ${CMAKE_BINARY_DIR}/gen; nothing of it is committed.
