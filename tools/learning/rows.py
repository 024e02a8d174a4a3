"""Measures learning through the server's own interface: each row ingests documents one after the other, requests
examples before the correction of each document is stored, and then stores the correction.
"""
import json
import random

import grpc
from errata.v1 import match_mode_pb2 as match_mode

from erratad import feedback, prompt_service, roles

MODES = {name: value for name, value in match_mode.MatchMode.items() if value}  # match modes that this server supports
EXAMPLES_SHOWN = 3
RESAMPLES = 2000


def plain(text):
    """Returns the text that is compared: letters and digits, without case, since annotators differ in spaces and
    punctuation."""
    return "".join(character for character in text.casefold() if character.isalnum())


def mean(values):
    return sum(sum(one) for one in values) / max(1, sum(len(one) for one in values))


def interval(items, seed, measure=mean):
    """The 95% interval of a measure, by a bootstrap over the items, such as documents; those of the mean are lists of values."""
    moments = random.Random(seed)
    found = sorted(measure([items[moments.randrange(len(items))] for _ in items]) for _ in range(RESAMPLES))
    return found[int(0.025 * RESAMPLES)], found[int(0.975 * RESAMPLES)]


class Loop:
    """An organisation into which documents are ingested."""

    def __init__(self, server, admin, name, mode):
        org = admin.create_org(name)
        self.client = server.client(admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
        self.client.update_settings(match_mode=MODES[mode])
        self.refused = 0

    def ingest(self, name, content):
        """The stored document; None if the server refused it."""
        try:
            return self.client.ingest(name, content).document
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.INVALID_ARGUMENT:
                raise
            self.refused += 1
            return None

    def served(self, document, limit):
        """The outputs of the examples that a stored document's prompt would show."""
        if document is None or not document.layout_fingerprint:
            return []
        reply = self.client.prompts.GetExamples(prompt_service.GetExamplesRequest(
            document_id=document.document_id, layout_fingerprint=document.layout_fingerprint, max_examples=limit))
        return [json.loads(example.output) for example in reply.examples]

    def correct(self, name, output):
        self.client.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED, document_id=name,
                            before_json="{}", after_json=json.dumps(output), corrected_output_json=json.dumps(output))

    def close(self):
        self.client.close()


def receipts(server, admin, found, shuffles, seed, mode, progress):
    """{field: (with Errata, without, ceiling)}, each a list of hits by receipt."""
    hits = {field: ([[] for _ in found], [[] for _ in found], [[] for _ in found]) for field in ("company", "address")}
    for shuffle in range(shuffles):
        order = list(range(len(found)))
        random.Random(f"{seed}/{shuffle}").shuffle(order)
        loop = Loop(server, admin, f"{mode}: receipts {shuffle}", mode)
        seen, newest = {field: set() for field in hits}, []
        for step, number in enumerate(order):
            name, content, key = found[number]
            progress(f"receipts, order {shuffle + 1} of {shuffles}", step, len(order))
            shown = loop.served(loop.ingest(name, content), EXAMPLES_SHOWN)
            for field, (ours, without, ceiling) in hits.items():
                right = plain(key[field])
                ours[number].append(any(plain(output.get(field, "")) == right for output in shown))
                without[number].append(any(plain(output[field]) == right for output in newest[-EXAMPLES_SHOWN:]))
                ceiling[number].append(right in seen[field])
                seen[field].add(right)
            newest.append(key)
            loop.correct(name, key)
        loop.close()
    return hits


def judge(template, served):
    return "none" if served is None else "right" if served == template else "wrong"


def filings(server, admin, found, seed, mode, progress):
    """[(with Errata, by page size)] of each document whose template came before: right, wrong or none."""
    order = list(found)
    random.Random(f"{seed}/filings").shuffle(order)
    loop = Loop(server, admin, f"{mode}: registration forms", mode)
    by_size, seen, outcomes = {}, set(), []
    for step, (name, path, template) in enumerate(order):
        progress("registration forms", step, len(order))
        with open(path, "rb") as f:
            document = loop.ingest(name, f.read())
        if document is None:
            continue
        page = document.page_dimensions[0]
        size = (page.width, page.height)
        shown = loop.served(document, 1)
        if template in seen:
            outcomes.append((judge(template, shown[0]["template"] if shown else None),
                             judge(template, by_size.get(size))))
        seen.add(template)
        by_size[size] = template
        loop.correct(name, {"template": template})
    loop.close()
    return outcomes, loop.refused


def unseen(server, admin, found, mode, progress):
    """(served, asked) of test documents whose templates training had, and of those whose templates it had not."""
    counts = {"kno": [], "unk": []}
    for number, (kind, training, tests) in enumerate(found):
        loop = Loop(server, admin, f"{mode}: ad-buy forms {number}", mode)
        for step, path in enumerate(training + tests):
            progress(f"ad-buy forms, split {number + 1} of {len(found)}", step, len(training) + len(tests))
            with open(path, "rb") as f:
                document = loop.ingest(str(step), f.read())
            if document is None:
                continue
            if step < len(training):
                loop.correct(str(step), {"split": "training"})
            else:
                counts[kind].append([bool(loop.served(document, 1))])
        loop.close()
    return counts
