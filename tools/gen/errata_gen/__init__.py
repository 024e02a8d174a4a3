"""What protoc-gen-errata is made of: model.py reads the request, the other modules write C."""
