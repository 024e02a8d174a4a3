# The sentence encoder with small random models: tokens, model files, the forward pass.
errata_test(embed_tests DIR tests/unit/embed USES domain_embed mkmodel_pack LABELS unit PARTS m zlib)
