"""event_kinds.h, event_apply.h, event_retract.h and their sources: kinds of events, which capabilities apply each,
and which one retracts it, from the values of the one enum that has the option (errata.options.event)."""
from errata_gen.model import Refused
from errata_gen.text import comment, guard, head

PARAMETERS = "struct ctx *ctx, struct store_txn *txn, const struct event *event"
BORROWED = "ctx, txn, event"
RETRACT_PARAMETERS = ["struct ctx *ctx, struct store_txn *txn, const struct event *retraction,",
                      "const struct event *event"]
CHECK_PARAMETERS = "struct ctx *ctx, const struct event *event"


class Kind:
    """A value of the enum: its number, its name in C, and the capabilities that apply it, in order."""

    def __init__(self, enum, name, number, rules):
        self.number = number
        self.name = "EVENT_" + enum.short_name(name)
        self.comment = enum.comments[name]
        self.appliers = list(rules.apply) if rules else []
        if not self.appliers:
            raise Refused(f"{enum.full_name}: no capability applies {name}; give it option "
                          "(errata.options.event) with `apply`")
        if len(set(self.appliers)) != len(self.appliers):
            raise Refused(f"{enum.full_name}: {name} is applied twice by one capability")
        self.retractor = rules.retract
        self.reversal = rules.reversal
        self.audited = rules.audited
        if self.retractor and (self.reversal or self.retractor not in self.appliers):
            raise Refused(f"{enum.full_name}: {name} has `retract` {self.retractor!r}; expected one of its "
                          "capabilities, and no `reversal`")


def _kinds(model):
    """All kinds, or none if no enum of the files has the option."""
    enums = [enum for file in model.files if file.name in model.to_generate for enum in file.enums
             if any(enum.rules.values())]
    if len(enums) > 1:
        raise Refused(f"{enums[0].full_name} and {enums[1].full_name} both list events; expected one")
    kinds = [Kind(enum, name, number, enum.rules[name]) for enum in enums
             for name, number in enum.values if number != 0]
    for enum in enums:
        _check_payloads(model, enum, kinds)
    return kinds


def _check_payloads(model, enum, kinds):
    """Payloads are a oneof of the message that is called like the enum without `Kind`, in the order of the
    kinds: so a kind's number gives its field."""
    event = model.messages.get(enum.full_name[:-len("Kind")])
    payloads = [field.number for field in event.proto.field
                if field.HasField("oneof_index") and not field.proto3_optional] if event else []
    first = min(payloads, default=0)
    if event and sorted(payloads) != [first + kind.number - 1 for kind in kinds]:
        raise Refused(f"{event.full_name}: expected one payload for each kind of event, numbered from "
                      f"{first} as the kinds are from 1")


def _kinds_header(kinds):
    path = "event_kinds.h"
    text = head(path, "kinds of events; the numbers are in stored events and never change.")
    text += f"#ifndef {guard(path)}\n#define {guard(path)}\n\n#include <stdbool.h>\n\nenum event_kind_number {{\n"
    for kind in kinds:
        text += comment([kind.comment], "    ") if kind.comment else ""
        text += f"    {kind.name} = {kind.number},\n"
    last = max(kinds, key=lambda kind: kind.number)
    text += "};\n\n/* The last of them: a stored event above it does not decode. */\n"
    text += f"#define EVENT_KIND_MAX {last.name}\n\n"
    text += "/* Whether the audit lists events of this kind: administrative and rule-changing acts. */\n"
    text += "static inline bool event_kind_is_audited(enum event_kind_number kind)\n{\n    switch (kind) {\n"
    text += "".join(f"    case {kind.name}:\n" for kind in kinds if kind.audited)
    text += "        return true;\n" if any(kind.audited for kind in kinds) else ""
    text += "".join(f"    case {kind.name}:\n" for kind in kinds if not kind.audited)
    text += "        break;\n" if any(not kind.audited for kind in kinds) else ""
    return path, text + "    }\n    return false;\n}\n\n#endif\n"


def _apply_header(kinds):
    path = "event_apply.h"
    text = head(path, "what makes rows of a stored event, by capability.")
    text += f'#ifndef {guard(path)}\n#define {guard(path)}\n\n#include "store/log.h"\n'
    for applier in sorted({applier for kind in kinds for applier in kind.appliers}):
        own = [kind.name for kind in kinds if applier in kind.appliers]
        text += f"\n/* Whether {applier}_apply takes events of this kind. */\n"
        text += f"static inline bool {applier}_applies(enum event_kind_number kind)\n{{\n"
        text += "    return " + " || ".join(f"kind == {name}" for name in own) + ";\n}\n"
        text += comment([f"Writes the rows of {applier}. Knows no clock, no randomness and no settings: a "
                         "replay of the log gives the same bytes. The event's slices are not the "
                         "transaction's, since this puts."])
        text += f"MUST_CHECK enum err {applier}_apply({PARAMETERS});\n"
    text += "\n" + comment(["Applies an event by all its capabilities, in their order. ERR_CORRUPT for a kind "
                            "that this version does not know."])
    return path, text + f"MUST_CHECK enum err domain_apply({PARAMETERS});\n\n#endif\n"


def _retract_function(start):
    """The head of a function that retracts, on two lines."""
    return start + ("\n" + " " * len(start)).join(RETRACT_PARAMETERS) + ")"


def _retract_header(kinds):
    path = "event_retract.h"
    text = head(path, "what takes back a stored event, by capability.")
    text += f'#ifndef {guard(path)}\n#define {guard(path)}\n\n#include "store/log.h"\n'
    for retractor in sorted({kind.retractor for kind in kinds if kind.retractor}):
        text += "\n" + comment([f"Checks whether an event of {retractor} can be retracted. ERR_PRECONDITION, with the "
                                "reversal that exists, if not."])
        text += f"MUST_CHECK enum err {retractor}_check_retract({CHECK_PARAMETERS});\n"
        text += comment([f"Changes the rows of {retractor} to what they would be without the event, of which "
                         "`retraction` is the retraction. Knows no clock, no randomness and no settings. The "
                         "slices of both events are not the transaction's, since this puts."])
        text += _retract_function(f"MUST_CHECK enum err {retractor}_retract(") + ";\n"
    text += "\n" + comment(["Checks whether an event can be retracted. ERR_PRECONDITION, with the reversal that exists, "
                            "if not; ERR_CORRUPT for a kind that this version does not know."])
    text += f"MUST_CHECK enum err domain_check_retract({CHECK_PARAMETERS});\n"
    text += comment(["Takes back what an event did. ERR_CORRUPT for a kind that cannot be retracted."])
    return path, text + _retract_function("MUST_CHECK enum err domain_retract(") + ";\n\n#endif\n"


def _refusal(kind):
    name = kind.name.removeprefix("EVENT_")
    expected = f"expected {kind.reversal}" if kind.reversal else "expected a correction or a customer selection"
    text = f"event_id: an event of kind {name} cannot be retracted; {expected}"
    return f'        return fault_say(ctx->fault, ERR_PRECONDITION,\n                         "{text}");\n'


def write_retract(model):
    kinds = _kinds(model)
    path = "event_retract.c"
    text = head(path, "which capability retracts an event.")
    text += f"#include <event_retract.h>\n\nenum err domain_check_retract({CHECK_PARAMETERS})\n{{\n"
    text += "    switch (event->kind) {\n"
    for kind in kinds:
        text += f"    case {kind.name}:\n"
        text += f"        return {kind.retractor}_check_retract(ctx, event);\n" if kind.retractor else _refusal(kind)
    text += "    }\n    return ERR_CORRUPT;\n}\n\n"
    text += _retract_function("enum err domain_retract(") + "\n{\n    switch (event->kind) {\n"
    for kind in [kind for kind in kinds if kind.retractor]:
        text += f"    case {kind.name}:\n        return {kind.retractor}_retract(ctx, txn, retraction, event);\n"
    for kind in [kind for kind in kinds if not kind.retractor]:
        text += f"    case {kind.name}:\n"
    if any(not kind.retractor for kind in kinds):
        text += "        break;\n"
    return {path: text + "    }\n    return ERR_CORRUPT;\n}\n"} if kinds else {}


def write(model):
    kinds = _kinds(model)
    return dict([_kinds_header(kinds), _apply_header(kinds), _retract_header(kinds)]) if kinds else {}


def write_dispatch(model):
    kinds = _kinds(model)
    path = "event_apply.c"
    text = head(path, "which capabilities apply an event.")
    text += f"#include <event_apply.h>\n\nenum err domain_apply({PARAMETERS})\n{{\n"
    text += "    enum err err = OK;\n\n    switch (event->kind) {\n"
    for kind in kinds:
        first, *others = kind.appliers
        text += f"    case {kind.name}:\n"
        if not others:
            text += f"        return {first}_apply({BORROWED});\n"
            continue
        text += f"        err = {first}_apply({BORROWED});\n"
        for other in others:
            text += f"        if (err == OK) {{\n            err = {other}_apply({BORROWED});\n        }}\n"
        text += "        return err;\n"
    return {path: text + "    }\n    return ERR_CORRUPT;\n}\n"} if kinds else {}
