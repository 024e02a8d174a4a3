"""NAME.handlers.h: the functions that a service's author writes; dispatch.c: the table of them."""
from errata_gen.text import call, comment, guard, head, protobuf_c_descriptor, protobuf_c_type

# Parameters of each function after `struct service *service`, by struct method_handler's member;
# REQUEST means the typed request.
PARAMETERS = {
    "receive": ("struct service *service", "REQUEST", "void **state"),
    "prepare": ("struct service *service", "REQUEST", "void **ret_prepared"),
    "cost": ("struct service *service", "struct store_txn *txn", "REQUEST", "void **prepared",
             "enum read_cost *ret_cost"),
    "read": ("struct service *service", "struct store_txn *txn", "REQUEST", "void *prepared",
             "struct reply *reply"),
    "write": ("struct service *service", "struct store_txn *txn", "REQUEST", "void *prepared",
              "struct work_result *result"),
    "answer": ("struct service *service", "struct store_txn *txn", "REQUEST", "void *prepared",
               "const struct work_result *result", "struct reply *reply"),
    "start": ("struct service *service", "REQUEST", "struct stream *stream"),
    "writable": ("struct service *service", "struct store_txn *txn", "struct stream *stream"),
    "stopped": ("struct stream *stream",),
    "message": ("struct service *service", "REQUEST", "struct stream *stream"),
}


def functions(method):
    """The functions that a method has, in the order in which they are called."""
    if method.stream == "METHOD_BIDI_STREAM":
        return ["start", "message", "stopped"]
    if method.stream == "METHOD_SERVER_STREAM":
        return ["start", "writable", "stopped"]
    stages = ["receive"] if method.stream == "METHOD_CLIENT_STREAM" else []
    stages += ["prepare"] if method.stage != "METHOD_STRAIGHT" else []
    stages += ["cost"] if method.execution == "METHOD_BY_COST" else []
    return stages + (["write", "answer"] if method.transaction == "METHOD_WRITE" else ["read"])


def _signature(method, function, before, request):
    parts = [f"const {request} *request" if part == "REQUEST" else part
             for part in PARAMETERS[function]]
    result = "void" if function == "stopped" else "enum err"
    name = f"{method.prefix}_{function}"
    return call(before.format(result=result, name=name), parts, "")


def _handlers_header(file):
    path = f"{file.base}.handlers.h"
    text = head(path, f"what answers the methods of {file.name} (server/pipeline/service.h).")
    text += f"#ifndef {guard(path)}\n#define {guard(path)}\n\n"
    text += f'#include "server/pipeline/service.h"\n\n#include <{file.base}.pb-c.h>\n'
    for service in file.services:
        for method in service.methods:
            text += "\n" + comment([f"{method.path[1:]}: {method.comment}" if method.comment
                                    else f"{method.path[1:]}."])
            request = protobuf_c_type(method.request)
            for function in functions(method):
                must_check = "" if function == "stopped" else "MUST_CHECK "
                before = must_check + "{result} {name}"
                text += f"{_signature(method, function, before, request)};\n"
    return path, text + "\n#endif\n"


def _thunk(method, function):
    """A function of the table's shape around the typed one."""
    name = f"{method.prefix}_{function}"
    names = [part.split()[-1].lstrip("*") if part != "REQUEST" else "request"
             for part in PARAMETERS[function]]
    text = _signature(method, function, "static {result} call_{name}", "void") + "\n{\n"
    keyword = "" if function == "stopped" else "return "
    return text + call(f"    {keyword}{name}", names, ";", "        ") + "\n}\n\n"


def _dispatch_source(model):
    path = "dispatch.c"
    methods = model.methods()
    text = head(path, "the typed functions of each method behind one shape.")
    text += '#include "server/pipeline/dispatch.h"\n\n'
    names = sorted(file.base for file in model.files if file.name in model.to_generate
                   and file.services)
    text += "".join(f"#include <{name}.handlers.h>\n" for name in names) + "\n"
    table = "const struct method_handler dispatch_handlers[] = {\n"
    for method in methods:
        table += f"    [{method.index}] = {{\n"
        table += f"        .request = &{protobuf_c_descriptor(method.request)},\n"
        for function in functions(method):
            typed = PARAMETERS[function].count("REQUEST") > 0
            if typed:
                text += _thunk(method, function)
            name = f"{method.prefix}_{function}"
            table += f"        .{function} = {'call_' if typed else ''}{name},\n"
        table += "    },\n"
    return path, text + table + "};\n"


def write(model):
    files = dict(_handlers_header(file) for file in model.files
                 if file.name in model.to_generate and file.services)
    return files | dict([_dispatch_source(model)])
