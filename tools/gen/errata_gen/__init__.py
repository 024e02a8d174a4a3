"""The modules of protoc-gen-errata: model.py reads the request; the other modules write C."""
