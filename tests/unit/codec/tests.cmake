errata_test(codec_tests DIR tests/unit/codec USES codec LABELS unit)
