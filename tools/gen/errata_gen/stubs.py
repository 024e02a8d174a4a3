"""NAME.client.h and .c: typed client stubs, asynchronous and blocking, over client/typed; and
NAME.set.h, which they include (setters.py). The headers are installed, so they include public
only headers and state how the stubs are used."""
from errata_gen import setters
from errata_gen.model import Field, Refused
from errata_gen.text import (EDIT, call, comment, guard, literal, protobuf_c_descriptor,
                             protobuf_c_type, snake)

MARKS = "ERRATA_MUST_CHECK ERRATA_API enum errata_result\n"
RESULT = "enum errata_result "
UNARY, REPLIES, REQUESTS = "METHOD_UNARY", "METHOD_SERVER_STREAM", "METHOD_CLIENT_STREAM"

# The head of a header: what all stubs share, then each kind that the file has.
ABOUT = [
    "Messages are those of <{base}.pb-c.h>, by protobuf-c. Initialize a message by its macro ..__INIT, "
    "and set its members by the functions of <NAME.set.h>, which is included. Texts end with a NUL. "
    "Requests, options (NULL: the defaults) and handlers are borrowed until the function returns. A "
    "result other than ERRATA_OK means that nothing was started and no callback follows; results are "
    "those of errata_call_start, and ERRATA_INVALID for a missing callback.",
    "errata_X starts a call on a channel and returns. Callbacks are called on the loop's thread, never "
    "inside errata_X; their arguments are valid until they return. `ret_call`, which may be NULL, is "
    "for errata_call_cancel, _pause and _resume, until the last callback returns.",
    "errata_X_wait returns when the call has ended, with an answer that holds its status: free it by "
    "errata_answer_free. `*ret_reply` belongs to the answer; it is NULL unless the status is OK.",
    "A status comes from the server or from the library, which reports INTERNAL for a reply that does "
    "not decode, RESOURCE_EXHAUSTED for one that unpacks to more than 64 MiB, and the states of the "
    "channel that <errata/client.h> describes.",
]
ABOUT_KIND = {
    UNARY:
        "One request, one reply: `done` receives the end of the call and its reply, which is NULL "
        "unless the status is OK.",
    REPLIES:
        "One request, a stream of replies: `on_reply` receives each reply, then `on_end` the status. In "
        "the blocking form `take` receives each reply; false ends the call, with CANCELLED.",
    REQUESTS:
        "A stream of requests, one reply: `on_writable` (which may be NULL) reports that messages are "
        "accepted, soon after the start and after each ERRATA_BUSY of errata_X_send, which did not take "
        "its message; errata_X_half_close ends the stream; `on_done` receives the end of the call and "
        "its reply, which is NULL unless the status is OK. The server may answer before it has read all "
        "messages: then both return ERRATA_ENDED. In the blocking form `next` gives each message, which "
        "must stay valid until the next call of `next` or the end of the call.",
}


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


class Stub:
    """A method and the names of what is written for it. Bidirectional streams have none."""

    def __init__(self, method):
        self.method = method
        self.kind = method.stream
        self.name = method.prefix if method.open else snake(method.name)
        self.function = f"errata_{self.name}"
        self.request = protobuf_c_type(method.request)
        self.reply = protobuf_c_type(method.reply)
        self.path = method.path[1:]

    def functions(self):
        more = ["_send", "_half_close"] if self.kind == REQUESTS else []
        return [self.function + end for end in ["", "_wait", *more]]


def _stubs(service):
    return [Stub(method) for method in service.methods if method.stream != "METHOD_BIDI_STREAM"]


def _check_unique(model):
    """Stubs are named only by the method: a program calls few of them, and often."""
    seen = {}
    for service in model.services():
        for stub in _stubs(service):
            for function in stub.functions():
                other = seen.setdefault(function, stub)
                if other is not stub:
                    raise Refused(f"{stub.path} and {other.path} would both have a stub "
                                  f"{function}; rename one")


def _request_parameter(stub):
    return [] if stub.kind == REQUESTS else [f"const {stub.request} *request"]


def _start(stub, before):
    last = (f"{stub.function}_done_fn *done" if stub.kind == UNARY
            else f"const struct {stub.function}_handlers *handlers")
    return call(f"{before}{stub.function}",
                ["struct errata_channel *channel", *_request_parameter(stub),
                 "const struct errata_options *options", last, "void *user",
                 "struct errata_call **ret_call"], "")


def _send(stub, before):
    return call(f"{before}{stub.function}_send",
                ["struct errata_call *call", f"const {stub.request} *message"], "")


def _half_close(stub, before):
    return call(f"{before}{stub.function}_half_close",
                ["struct errata_call *call"], "")


def _wait(stub, before):
    callback = {UNARY: [], REPLIES: [f"{stub.function}_take_fn *take", "void *user"],
                REQUESTS: [f"{stub.function}_next_fn *next", "void *user"]}[stub.kind]
    reply = [] if stub.kind == REPLIES else [f"const {stub.reply} **ret_reply"]
    return call(f"{before}{stub.function}_wait",
                ["struct errata_blocking *blocking", *_request_parameter(stub),
                 "const struct errata_options *options", *callback,
                 "struct errata_answer **ret_answer", *reply], "")


def _callback_types(stub):
    """Returns the types before the function that starts the call."""
    end = ["void *user", "const struct errata_status *status", f"const {stub.reply} *reply"]
    if stub.kind == UNARY:
        return call(f"typedef void {stub.function}_done_fn", end, ";") + "\n"
    if stub.kind == REPLIES:
        return (f"struct {stub.function}_handlers {{\n"
                f"    void (*on_reply)(void *user, const {stub.reply} *reply);\n"
                "    void (*on_end)(void *user, const struct errata_status *status);\n};\n")
    return (f"struct {stub.function}_handlers {{\n"
            "    void (*on_writable)(void *user);\n"
            + call("    void (*on_done)", end, ";", "        ") + "\n};\n")


def _wait_types(stub):
    """Returns the types before the blocking function."""
    if stub.kind == REPLIES:
        return call(f"typedef bool {stub.function}_take_fn",
                    ["void *user", f"const {stub.reply} *reply"], ";") + "\n"
    if stub.kind == REQUESTS:
        return call(f"typedef enum errata_upload_step {stub.function}_next_fn",
                    ["void *user", f"const {stub.request} **ret_message"], ";") + "\n"
    return ""


def _declare(stub):
    about = stub.method.comment
    more = ""
    if stub.kind == REQUESTS:
        more = f"{MARKS}{_send(stub, '')};\n{MARKS}{_half_close(stub, '')};\n"
    return ("\n" + comment([f"{stub.path}: {about}" if about else f"{stub.path}."])
            + f"{_callback_types(stub)}{MARKS}{_start(stub, '')};\n{more}"
            + f"{_wait_types(stub)}{MARKS}{_wait(stub, '')};\n")


def _head(path, file, stubs):
    lines = [f"{path}: client stubs of {file.name}.", EDIT]
    for about in ABOUT + [ABOUT_KIND[kind] for kind in ABOUT_KIND
                          if any(stub.kind == kind for stub in stubs)]:
        lines += ["", about.format(base=file.base)]
    return comment(lines)


def _header(model, file, stubs):
    path = f"{file.base}.client.h"
    text = _head(path, file, stubs)
    text += f"#ifndef {guard(path)}\n#define {guard(path)}\n\n"
    for header in ("errata/blocking.h", "errata/client.h", f"{file.base}.pb-c.h",
                   *setters.headers_for(model, file)):
        text += f"#include <{header}>\n"
    text += '\n#ifdef __cplusplus\nextern "C" {\n#endif\n'
    text += "".join(_declare(stub) for stub in stubs)
    return path, text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"


def _thunk(before, name, parameters, lines):
    """A function that casts the types of client/typed to the caller's own types."""
    body = "".join(f"    {line}\n" if line else "\n" for line in lines)
    return call(f"static {before}{name}", ["const struct typed_user *to", *parameters],
                "") + "\n{\n" + body + "}\n\n"


def _let(pointer, source, name=None):
    """Lines that declare a typed callback, from what client/typed keeps; `pointer` holds NAME where
    the name goes."""
    declared = pointer.replace("NAME", name or source)
    cast = f"({pointer.replace('NAME', '')})"
    for pieces in ([f"{declared} = {cast}to->{source};"],
                   [f"{declared} =", f"    {cast}to->{source};"],
                   [f"{declared} =", f"    {cast}", f"        to->{source};"]):
        if max(map(len, pieces)) <= 95:
            break
    return pieces


def _finish(stub):
    end = ["const struct errata_status *status", "const ProtobufCMessage *reply"]
    status = "const struct errata_status *"
    if stub.kind == REPLIES:
        return _thunk("void ", f"finish_{stub.name}", end,
                      _let(f"void (*NAME)(void *, {status})", "on_end")
                      + ["", "(void)reply;", "on_end(to->user, status);"])
    if stub.kind == UNARY:
        lines = _let(f"{stub.function}_done_fn *NAME", "on_end")
    else:
        lines = _let(f"void (*NAME)(void *, {status}, const {stub.reply} *)", "on_end")
    return _thunk("void ", f"finish_{stub.name}", end,
                  lines + ["", f"on_end(to->user, status, (const {stub.reply} *)reply);"])


def _more(stub):
    """The thunks of the other callback: asynchronous, then blocking."""
    if stub.kind == REPLIES:
        reply = ["const ProtobufCMessage *reply"]
        return (_thunk("void ", f"reply_{stub.name}", reply,
                       _let(f"void (*NAME)(void *, const {stub.reply} *)", "on_more")
                       + ["", f"on_more(to->user, (const {stub.reply} *)reply);"])
                + _thunk("bool ", f"take_{stub.name}", reply,
                         _let(f"{stub.function}_take_fn *NAME", "on_more", "take")
                         + ["", f"return take(to->user, (const {stub.reply} *)reply);"]))
    if stub.kind == REQUESTS:
        return (_thunk("void ", f"room_{stub.name}", [],
                       _let("void (*NAME)(void *)", "on_more") + ["", "on_more(to->user);"])
                + _thunk("enum errata_upload_step ", f"next_{stub.name}",
                         ["const ProtobufCMessage **ret_message"],
                         _let(f"{stub.function}_next_fn *NAME", "on_more", "next")
                         + [f"const {stub.request} *message = NULL;",
                          "enum errata_upload_step step = next(to->user, &message);", "",
                          "*ret_message = (const ProtobufCMessage *)message;",
                          "return step;"]))
    return ""


def _kind(stub):
    """The table of what differs from method to method."""
    members = [f".method = {literal(stub.path)}",
               f".reply = &{protobuf_c_descriptor(stub.method.reply)}",
               f".on_end = finish_{stub.name}"]
    more = {UNARY: [], REPLIES: [f".on_reply = reply_{stub.name}", f".take = take_{stub.name}"],
            REQUESTS: [f".on_writable = room_{stub.name}", f".next = next_{stub.name}"]}
    members += more[stub.kind]
    return (f"static const struct typed_kind kind_{stub.name} = {{\n    "
            + ",\n    ".join(members) + "};\n\n")


def _define_start(stub):
    functions = {UNARY: "(typed_fn *)done, NULL",
                 REPLIES: "(typed_fn *)handlers->on_end,\n"
                          "                                  (typed_fn *)handlers->on_reply",
                 REQUESTS: "(typed_fn *)handlers->on_done,\n"
                           "                                  (typed_fn *)handlers->on_writable"}
    request = "NULL" if stub.kind == REQUESTS else "&request->base"
    return (f"{_start(stub, RESULT)}\n{{\n"
            f"    const struct typed_user to = {{user, {functions[stub.kind]}}};\n\n"
            + call("    return typed_call_start",
                   ["channel", f"&kind_{stub.name}", request, "options", "&to", "ret_call"], ";",
                   "        ") + "\n}\n\n")


def _define_messages(stub):
    """The two functions of a stream of requests beside the one that starts it."""
    return (f"{_send(stub, RESULT)}\n{{\n    return typed_call_send(call, &message->base);\n}}\n\n"
            f"{_half_close(stub, RESULT)}\n{{\n    return errata_call_half_close(call);\n}}\n\n")


def _define_wait(stub):
    arguments = ["blocking", f"&kind_{stub.name}"]
    if stub.kind != REQUESTS:
        arguments.append("&request->base")
    arguments.append("options")
    text = f"{_wait(stub, RESULT)}\n{{\n"
    if stub.kind != UNARY:
        callback = "take" if stub.kind == REPLIES else "next"
        text += f"    const struct typed_user to = {{user, NULL, (typed_fn *){callback}}};\n"
        arguments.append("&to")
    arguments.append("ret_answer")
    if stub.kind == REPLIES:
        return (text + "\n" + call("    return typed_wait_stream", arguments, ";", "        ")
                + "\n}\n")
    function = "typed_wait_call" if stub.kind == UNARY else "typed_wait_upload"
    return (text + "    const ProtobufCMessage *reply = NULL;\n"
            + call(f"    enum errata_result result = {function}", [*arguments, "&reply"], ";",
                   "        ")
            + "\n\n    if (result == ERRATA_OK) {\n"
            f"        *ret_reply = (const {stub.reply} *)reply;\n    }}\n"
            "    return result;\n}\n")


def _define(model, stub):
    _check_not_recursive(model, stub.method)
    return ("\n" + _finish(stub) + _more(stub) + _kind(stub) + _define_start(stub)
            + (_define_messages(stub) if stub.kind == REQUESTS else "") + _define_wait(stub))


def _source(model, file, stubs):
    path = f"{file.base}.client.c"
    text = comment([f"{path}: client stubs of {file.name}.", EDIT])
    text += f'#include <{file.base}.client.h>\n\n#include "client/typed/typed_wait.h"\n'
    return path, text + "".join(_define(model, stub) for stub in stubs)


def write(model):
    files = setters.write(model)
    model.methods()
    _check_unique(model)
    for file in model.files:
        stubs = [stub for service in file.services for stub in _stubs(service)]
        if file.name in model.to_generate and stubs:
            files |= dict([_header(model, file, stubs), _source(model, file, stubs)])
    return files
