"""NAME.client.h and .c: typed asynchronous client stubs over client/typed/typed_call.h."""
from errata_gen.contract import method_constant
from errata_gen.model import Field, Refused
from errata_gen.text import call, comment, guard, head, protobuf_c_descriptor, protobuf_c_type


def _check_not_recursive(model, method):
    """protobuf-c unpacks without a limit of depth, so no reply may hold itself."""
    done = set()
    todo = [(method.reply, (method.reply,))]
    while todo:
        name, outer = todo.pop()
        for field in model.messages[name].proto.field:
            inner = field.type_name.lstrip(".")
            if field.type != Field.TYPE_MESSAGE or (name, inner) in done:
                continue
            if inner in outer:
                raise Refused(f"{method.path[1:]}: its reply holds {inner} within itself, which a "
                              "client could not unpack safely; bound the depth in the messages")
            if inner != "google.protobuf.Any":
                todo.append((inner, outer + (inner,)))
            done.add((name, inner))


def _methods(service):
    """Bidirectional streams have no stub."""
    return [method for method in service.methods if method.stream != "METHOD_BIDI_STREAM"]


def _is_upload(method):
    return method.stream == "METHOD_CLIENT_STREAM"


def _has_handlers(method):
    return method.stream != "METHOD_UNARY"


def _declaration(method, before):
    name = f"client_{method.prefix}"
    request = [] if _is_upload(method) else [f"const {protobuf_c_type(method.request)} *request"]
    last = (f"const struct {name}_handlers *handlers" if _has_handlers(method)
            else f"{name}_done_fn *done")
    return call(f"{before}enum err {name}",
                ["struct client_channel *channel", *request,
                 "const struct client_options *options", last, "void *user",
                 "struct client_call **ret_call"], "")


def _declaration_send(method, before):
    return call(f"{before}enum err client_{method.prefix}_send",
                ["struct client_channel *channel", "struct client_call *call",
                 f"const {protobuf_c_type(method.request)} *request"], "")


def _declaration_half_close(method, before):
    return call(f"{before}enum err client_{method.prefix}_half_close",
                ["struct client_channel *channel", "struct client_call *call"], "")


def _declare(method):
    reply = protobuf_c_type(method.reply)
    name = f"client_{method.prefix}"
    about = comment([f"{method.path[1:]}: {method.comment}" if method.comment
                     else f"{method.path[1:]}."])
    if _is_upload(method):
        types = (f"struct {name}_handlers {{\n"
                 "    /* There is room: send messages until one is refused with ERR_BUSY. */\n"
                 "    void (*on_writable)(void *user);\n"
                 "    /* The end, exactly once; typed_call.h says what it may report. */\n"
                 + call("    void (*on_done)", ["void *user", "const struct client_status *status",
                                                f"const {reply} *reply"], ";", "        ")
                 + "\n};\n")
    elif _has_handlers(method):
        types = (f"struct {name}_handlers {{\n"
                 "    /* One reply, borrowed for the length of the callback. */\n"
                 f"    void (*on_reply)(void *user, const {reply} *reply);\n"
                 "    /* The end, exactly once; typed_call.h says what it may report. */\n"
                 "    void (*on_end)(void *user, const struct client_status *status);\n};\n")
    else:
        types = call(f"typedef void {name}_done_fn",
                     ["void *user", "const struct client_status *status",
                      f"const {reply} *reply"], ";") + "\n"
    more = ""
    if _is_upload(method):
        more = (f"{_declaration_send(method, 'MUST_CHECK ')};\n"
                f"{_declaration_half_close(method, 'MUST_CHECK ')};\n")
    return f"\n{about}{types}{_declaration(method, 'MUST_CHECK ')};\n{more}"


def _header(file):
    path = f"{file.base}.client.h"
    text = head(path, f"client stubs of {file.name}; client/typed/typed_call.h says how they work.")
    text += f"#ifndef {guard(path)}\n#define {guard(path)}\n\n"
    text += f'#include "client/stub.h"\n\n#include <{file.base}.pb-c.h>\n'
    for service in file.services:
        text += "".join(_declare(method) for method in _methods(service))
    return path, text + "\n#endif\n"


def _unary(method):
    reply = protobuf_c_type(method.reply)
    name = f"client_{method.prefix}"
    return (f"static void finish_{method.prefix}(const struct typed_call_user *to,\n"
            "    const struct client_status *status, const ProtobufCMessage *reply)\n{\n"
            f"    {name}_done_fn *done =\n        ({name}_done_fn *)to->functions[0];\n\n"
            f"    done(to->user, status, (const {reply} *)reply);\n}}\n\n",
            ".functions = {(typed_call_fn *)done}", f".on_end = finish_{method.prefix}")


def _stream(method):
    reply = protobuf_c_type(method.reply)
    return (f"static void reply_{method.prefix}(const struct typed_call_user *to,\n"
            "    const ProtobufCMessage *reply)\n{\n"
            f"    void (*on_reply)(void *, const {reply} *) =\n"
            f"        (void (*)(void *, const {reply} *))to->functions[0];\n\n"
            f"    on_reply(to->user, (const {reply} *)reply);\n}}\n\n"
            f"static void finish_{method.prefix}(const struct typed_call_user *to,\n"
            "    const struct client_status *status, const ProtobufCMessage *reply)\n{\n"
            "    void (*on_end)(void *, const struct client_status *) =\n"
            "        (void (*)(void *, const struct client_status *))to->functions[1];\n\n"
            "    (void)reply;\n    on_end(to->user, status);\n}\n\n",
            ".functions = {(typed_call_fn *)handlers->on_reply,\n"
            + 44 * " " + "(typed_call_fn *)handlers->on_end}",
            f".on_reply = reply_{method.prefix},\n        .on_end = finish_{method.prefix}")


def _upload(method):
    reply = protobuf_c_type(method.reply)
    done = f"void (*)(void *, const struct client_status *, const {reply} *)"
    return (f"static void room_{method.prefix}(const struct typed_call_user *to)\n{{\n"
            "    void (*on_writable)(void *) = (void (*)(void *))to->functions[0];\n\n"
            "    on_writable(to->user);\n}\n\n"
            f"static void finish_{method.prefix}(const struct typed_call_user *to,\n"
            "    const struct client_status *status, const ProtobufCMessage *reply)\n{\n"
            "    void (*on_done)(void *, const struct client_status *,\n"
            f"        const {reply} *) =\n"
            f"        ({done})\n            to->functions[1];\n\n"
            f"    on_done(to->user, status, (const {reply} *)reply);\n}}\n\n",
            ".functions = {(typed_call_fn *)handlers->on_writable,\n"
            + 44 * " " + "(typed_call_fn *)handlers->on_done}",
            f".on_end = finish_{method.prefix},\n        .on_writable = room_{method.prefix}")


def _define_messages(method):
    """The two functions of a client stream beside the one that starts it."""
    return (f"\n{_declaration_send(method, '')}\n{{\n"
            "    return typed_call_send(channel, call, &request->base);\n}\n"
            f"\n{_declaration_half_close(method, '')}\n{{\n"
            "    return channel->ops->half_close(channel, call);\n}\n")


def _define(model, method):
    _check_not_recursive(model, method)
    kinds = {"METHOD_UNARY": _unary, "METHOD_SERVER_STREAM": _stream,
             "METHOD_CLIENT_STREAM": _upload}
    thunks, user, callbacks = kinds[method.stream](method)
    request = "NULL" if _is_upload(method) else "&request->base"
    more = _define_messages(method) if _is_upload(method) else ""
    return (f"{thunks}{_declaration(method, '')}\n{{\n"
            "    static const struct typed_call_kind kind = {\n"
            f"        .method = &contract_methods[{method_constant(method)}],\n"
            f"        .reply = &{protobuf_c_descriptor(method.reply)},\n"
            f"        {callbacks}}};\n"
            f"    struct typed_call_user to = {{.user = user,\n"
            f"                                 {user}}};\n\n"
            f"    return typed_call_start(channel, &kind, {request}, options, &to, ret_call);\n"
            f"}}\n{more}")


def _source(model, file):
    path = f"{file.base}.client.c"
    text = head(path, f"client stubs of {file.name}.")
    text += f"#include <{file.base}.client.h>\n\n"
    text += '#include "client/typed/typed_call.h"\n\n#include <errata/contract_methods.h>\n'
    for service in file.services:
        text += "".join("\n" + _define(model, method) for method in _methods(service))
    return path, text


def write(model):
    files = {}
    model.methods()
    for file in model.files:
        if file.name not in model.to_generate:
            continue
        if any(_methods(service) for service in file.services):
            files |= dict([_header(file), _source(model, file)])
    return files
