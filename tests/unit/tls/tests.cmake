if(ERRATA_FAULTS)
    errata_test(tls_tests DIR tests/unit/tls USES tls tls_stream tls_support LABELS unit)
endif()
