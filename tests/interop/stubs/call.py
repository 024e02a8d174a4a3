#!/usr/bin/python3
"""call.py ADDRESS TOKEN MODULE...: imports the stubs of each module, and prints the names of the
organisations that AdminService lists. Run by ../stubs.py, with the stubs on the path."""
import importlib
import sys

import grpc

address, token, *modules = sys.argv[1:]
for name in modules:
    importlib.import_module(name + "_pb2")
    importlib.import_module(name + "_pb2_grpc")
admin = importlib.import_module("errata.v1.admin_service_pb2")
stubs = importlib.import_module("errata.v1.admin_service_pb2_grpc")
with grpc.insecure_channel(address, options=[("grpc.enable_http_proxy", 0)]) as channel:
    reply = stubs.AdminServiceStub(channel).ListOrganizations(
        admin.ListOrganizationsRequest(), metadata=[("authorization", f"Bearer {token}")], timeout=60)
print(*[organization.name for organization in reply.organizations])
