"""NAME.handlers.h: each method's struct, and the functions that a service's author writes; dispatch.c: the
table of them."""
from errata_gen.text import call, comment, guard, head, protobuf_c_descriptor, protobuf_c_type

# Members of a method's struct: declaration, and where struct method_call has the value. REQUEST is the
# typed request.
MEMBERS = {
    "service": ("struct service *", "method->service"),
    "ctx": ("struct ctx *", "method->service->ctx"),
    "org": ("struct org_id ", "method->service->principal->org"),
    "txn": ("struct store_txn *", "method->txn"),
    "request": ("const REQUEST *", "method->request"),
    "prepared": ("void *", "method->prepared"),
    "cost": ("enum read_cost ", "READ_IS_SHORT"),
    "result": ("struct work_result *", "method->result"),
    "body": ("struct buffer *", "method->body"),
    "stream": ("struct stream *", "method->stream"),
}
# What a function leaves in the struct for the pipeline.
RESULTS = {"receive": ["prepared"], "prepare": ["prepared"], "cost": ["prepared", "cost"]}


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


def members(method):
    """The members of a method's struct: those that one of its functions needs."""
    has = set(functions(method))
    needed = {
        "org": not method.open,
        "txn": method.transaction != "METHOD_NO_TRANSACTION",
        "prepared": has & set(RESULTS),
        "cost": "cost" in has,
        "result": "write" in has,
        "body": has & {"read", "answer"},
        "stream": "start" in has,
    }
    return [member for member in MEMBERS if needed.get(member, True)]


def _result(function):
    return "void" if function == "stopped" else "enum err"


def _struct(method):
    text = f"struct {method.prefix}_call {{\n"
    for member in members(method):
        before = MEMBERS[member][0].replace("REQUEST", protobuf_c_type(method.request))
        text += f"    {before}{member};\n"
    return text + "};\n"


def _handlers_header(file):
    path = f"{file.base}.handlers.h"
    text = head(path, f"what answers the methods of {file.name} (server/pipeline/service.h).")
    text += f"#ifndef {guard(path)}\n#define {guard(path)}\n\n"
    text += f'#include "server/pipeline/service.h"\n\n#include <{file.base}.pb-c.h>\n'
    for service in file.services:
        for method in service.methods:
            text += "\n" + comment([f"{method.path[1:]}: {method.comment}" if method.comment
                                    else f"{method.path[1:]}."])
            text += _struct(method)
            for function in functions(method):
                must_check = "" if function == "stopped" else "MUST_CHECK "
                name = f"{must_check}{_result(function)} {method.prefix}_{function}"
                text += call(name, [f"struct {method.prefix}_call *call"], ";\n")
    return path, text + "\n#endif\n"


def _make_struct(method):
    """The function that fills a method's struct."""
    name = f"{method.prefix}_call"
    text = f"static struct {name}\n{name}_of(const struct method_call *method)\n{{\n"
    text += f"    return (struct {name}){{\n"
    for member in members(method):
        text += f"        .{member} = {MEMBERS[member][1]},\n"
    return text + "    };\n}\n\n"


def _thunk(method, function):
    """A function of the table's shape around the typed one."""
    name = f"{method.prefix}_{function}"
    struct = f"{method.prefix}_call"
    text = f"static {_result(function)} call_{name}(struct method_call *method)\n{{\n"
    text += f"    struct {struct} call =\n        {struct}_of(method);\n"
    results = RESULTS.get(function, [])
    if not results:
        keyword = "" if function == "stopped" else "return "
        return text + f"\n    {keyword}{name}(&call);\n}}\n\n"
    text += f"    enum err err = {name}(&call);\n\n"
    for member in results:
        text += f"    method->{member} = call.{member};\n"
    return text + "    return err;\n}\n\n"


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
        text += _make_struct(method)
        table += f"    [{method.index}] = {{\n"
        table += f"        .request = &{protobuf_c_descriptor(method.request)},\n"
        for function in functions(method):
            text += _thunk(method, function)
            table += f"        .{function} = call_{method.prefix}_{function},\n"
        table += "    },\n"
    return path, text + table + "};\n"


def write(model):
    files = dict(_handlers_header(file) for file in model.files
                 if file.name in model.to_generate and file.services)
    return files | dict([_dispatch_source(model)])
