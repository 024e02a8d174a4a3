"""NAME.handlers.h: each method's struct, and the functions that a service's author writes; dispatch.c: the
table of them."""
from errata_gen.model import Refused
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
    "page": ("struct page *", "method->page"),
    "as_of": ("struct as_of ", "method->as_of"),
    "stream": ("struct stream *", "method->stream"),
}
# Results that a function leaves in the struct for the pipeline.
RESULTS = {"receive": ["prepared"], "prepare": ["prepared"], "cost": ["prepared", "cost"]}


def functions(method):
    """The functions that a method has, in the order in which they are called."""
    if method.stream == "METHOD_BIDI_STREAM":
        return ["start", "message", "stopped"]
    if method.stream == "METHOD_SERVER_STREAM":
        works = ["work"] if method.execution == "METHOD_ON_POOL" else []
        return ["start"] + works + ["writable", "stopped"]
    stages = ["receive"] if method.stream == "METHOD_CLIENT_STREAM" else []
    stages += ["prepare"] if method.stage != "METHOD_STRAIGHT" else []
    stages += ["cost"] if method.execution == "METHOD_BY_COST" else []
    return stages + (["write", "answer"] if method.transaction == "METHOD_WRITE" else ["read"])


def _fields(message):
    return {field.name: field.number for field in message.proto.field}


def list_field(model, method):
    """The number of next_page_token in the reply of a list; 0 for other methods."""
    request = _fields(model.messages[method.request])
    number = _fields(model.messages[method.reply]).get("next_page_token", 0)
    if (number > 0) != ("page_size" in request) or (number > 0) != ("page_token" in request):
        raise Refused(f"{method.path[1:]} is half a list: give it page_size, page_token and "
                      "next_page_token, or none of them")
    if number and functions(method)[-1] != "read":
        raise Refused(f"{method.path[1:]} is a list and no plain read; pages are made of reads")
    return number


def as_of_fields(model, method):
    """The numbers of as_of_seq and as_of_time in the request of a read, or None."""
    request = _fields(model.messages[method.request])
    names = ("as_of_seq", "as_of_time")
    if "read" not in functions(method) or not all(name in request for name in names):
        return None
    return tuple(request[name] for name in names)


def members(model, method):
    """The members of a method's struct: those that one of its functions needs."""
    has = set(functions(method))
    needed = {
        "org": not method.open,
        "txn": method.transaction != "METHOD_NO_TRANSACTION",
        "prepared": has & set(RESULTS),
        "cost": "cost" in has,
        "result": "write" in has,
        "body": has & {"read", "answer"},
        "page": list_field(model, method),
        "as_of": as_of_fields(model, method),
        "stream": "start" in has,
    }
    return [member for member in MEMBERS if needed.get(member, True)]


def _result(function):
    return "void" if function == "stopped" else "enum err"


def _struct(model, method):
    text = f"struct {method.prefix}_call {{\n"
    for member in members(model, method):
        before = MEMBERS[member][0].replace("REQUEST", protobuf_c_type(method.request))
        text += f"    {before}{member};\n"
    return text + "};\n"


def _handlers_header(model, file):
    path = f"{file.base}.handlers.h"
    text = head(path, f"what answers the methods of {file.name} (server/pipeline/service.h).")
    text += f"#ifndef {guard(path)}\n#define {guard(path)}\n\n"
    text += f'#include "server/pipeline/service.h"\n\n#include <{file.base}.pb-c.h>\n'
    for service in file.services:
        for method in service.methods:
            text += "\n" + comment([f"{method.path[1:]}: {method.comment}" if method.comment
                                    else f"{method.path[1:]}."])
            text += _struct(model, method)
            for function in functions(method):
                must_check = "" if function == "stopped" else "MUST_CHECK "
                name = f"{must_check}{_result(function)} {method.prefix}_{function}"
                text += call(name, [f"struct {method.prefix}_call *call"], ";") + "\n"
    return path, text + "\n#endif\n"


def _make_struct(model, method):
    """The function that fills a method's struct."""
    name = f"{method.prefix}_call"
    text = f"static struct {name}\n{name}_of(const struct method_call *method)\n{{\n"
    text += f"    return (struct {name}){{\n"
    for member in members(model, method):
        text += f"        .{member} = {MEMBERS[member][1]},\n"
    return text + "    };\n}\n\n"


def _thunk(method, function):
    """Returns a function with the table's signature that calls the typed one."""
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


def _offset(method, member):
    return f"offsetof({protobuf_c_type(method.request)}, {member})"


def _request_fields(model, method):
    """The members `list` and `as_of` of a method's row."""
    text = ""
    number = list_field(model, method)
    if number:
        text += (f"        .list = {{{_offset(method, 'page_size')},\n"
                 f"                 {_offset(method, 'page_token')}, {number}"
                 + (f",\n                 {_offset(method, 'org_id')}"
                    if "org_id" in _fields(model.messages[method.request]) else "") + "},\n")
    numbers = as_of_fields(model, method)
    if numbers:
        text += (f"        .as_of = {{{_offset(method, 'as_of_case')},\n"
                 f"                  {_offset(method, 'as_of_seq')},\n"
                 f"                  {_offset(method, 'as_of_time')}, {numbers[0]}, {numbers[1]}}},\n")
    return text


def _dispatch_source(model):
    path = "dispatch.c"
    methods = model.methods()
    text = head(path, "wraps the typed functions of each method in one signature.")
    text += '#include "server/pipeline/dispatch.h"\n\n#include <stddef.h>\n\n'
    names = sorted(file.base for file in model.files if file.name in model.to_generate
                   and file.services)
    text += "".join(f"#include <{name}.handlers.h>\n" for name in names) + "\n"
    table = "const struct method_handler dispatch_handlers[] = {\n"
    for method in methods:
        text += _make_struct(model, method)
        table += f"    [{method.index}] = {{\n"
        table += f"        .request = &{protobuf_c_descriptor(method.request)},\n"
        table += _request_fields(model, method)
        for function in functions(method):
            text += _thunk(method, function)
            table += f"        .{function} = call_{method.prefix}_{function},\n"
        table += "    },\n"
    return path, text + table + "};\n"


def write(model):
    files = dict(_handlers_header(model, file) for file in model.files
                 if file.name in model.to_generate and file.services)
    return files | dict([_dispatch_source(model)])
