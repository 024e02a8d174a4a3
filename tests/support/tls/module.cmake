# Certificates for tests of TLS, made when a test starts.
errata_module(tls_support DIR tests/support/tls USES base store_support PARTS crypto)
