"""Simulates the processing of orders in a company, through calls to the server as a real pipeline makes them. Each day
has steps for all its orders: prompts, model, matching of article numbers, and record of the extraction. Then people
correct wrong fields and confirm or reject article numbers. Every write has the simulated time.
"""
import json
import random

from google.protobuf import timestamp_pb2

from erratad import (extraction, extraction_service, feedback, feedback_service, layout, mappings,
                     prompt_service, prompt_template, roles, sku_mapping)

from . import extractor

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
FIELD = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED
EXACT = mappings.MATCH_METHOD_EXACT_MAPPING
OVERLOOKED = 0.03  # share of the wrong fields that a person overlooks
MATCHER_IS_RIGHT = 0.75  # share of correct articles of the company's own matcher
SLIPS = 0.01  # share of confirmations of a wrong article
PEOPLE = ("ada", "bela", "carla", "dan")
BATCH = 64  # number of concurrent calls


def moment(at, seconds=0):
    stamp = timestamp_pb2.Timestamp()
    stamp.FromDatetime(at)
    stamp.seconds += seconds
    return stamp


def together(calls):
    """Makes calls, a number of them at once; their answers in the same order."""
    calls, answers = list(calls), []
    for start in range(0, len(calls), BATCH):
        answers += [future.result() for future in
                    [method.future(request) for method, request in calls[start:start + BATCH]]]
    return answers


class Work:
    """State of one order."""

    def __init__(self, order, seed):
        self.order = order
        self.draw = random.Random(f"{seed}/work/{order.number}")
        self.person = PEOPLE[order.number % len(PEOPLE)]
        self.second = 0
        self.output = self.prompt = self.matches = None
        self.wrong = {}  # line number, or None for the header -> wrong fields that a person noticed
        self.truly_wrong = False

    def time(self):
        """Each act a little later than the one before."""
        self.second += 20
        return moment(self.order.at, self.second)


class Office:
    def __init__(self, server, company, seed, follows_share):
        self.company, self.seed, self.follows_share = company, seed, follows_share
        self.admin = server.client()
        made = self.admin.create_token(roles.ROLE_SERVICE)
        self.pipeline, self.pipeline_key = server.client(made.secret), made.token.key_id
        self.importer = server.client(self.admin.create_token(roles.ROLE_INTEGRATOR).secret)
        self.lines = {}  # month -> (all lines, lines filled from a known mapping)
        self.sides = {}  # (month, held out) -> (orders, corrected orders)
        self.truth = {}  # held out -> (orders, orders with errors)
        self.wrong_applied = 0

    def open(self):
        """The template, the share that is held out, and the layouts' fingerprints."""
        self.admin.prompts.PutPromptTemplate(prompt_service.PutPromptTemplateRequest(
            prompt_template=prompt_template.PromptTemplate(name="order", text=extractor.TEMPLATE)))
        self.admin.update_settings(holdout_percent=self.company.holdout_percent)
        for customer in self.company.customers:
            for _, form in customer.forms:
                form.fingerprint = self.pipeline.layouts.ComputeFingerprint(layout.ComputeFingerprintRequest(
                    metadata_json=json.dumps(form.metadata))).layout_fingerprint

    def close(self):
        for client in (self.admin, self.pipeline, self.importer):
            client.close()

    def work(self, orders):
        """All orders of a day."""
        works = [Work(order, self.seed) for order in orders]
        self.extract(works)
        self.match(works)
        self.record(works)
        self.correct(works)
        self.settle(works)

    def extract(self, works):
        replies = together((self.pipeline.prompts.PreparePrompt, prompt_service.PreparePromptRequest(
            template_name="order", layout_fingerprint=work.order.form.fingerprint,
            document_id=work.order.document_id, context={"document_text": work.order.text}))
            for work in works)
        for work, reply in zip(works, replies):
            wanted = extraction.EXPERIMENT_ARM_CONTROL if work.order.held_out else (
                extraction.EXPERIMENT_ARM_TREATMENT if self.company.holdout_percent
                else extraction.EXPERIMENT_ARM_NONE)
            if reply.arm != wanted:
                raise RuntimeError(f"{work.order.document_id} is on side {reply.arm}, not {wanted}")
            work.prompt = reply
            work.output, work.confidence, work.fields = extractor.extract(
                reply.prompt, work.draw, self.follows_share)

    def match(self, works):
        replies = together((self.pipeline.mappings.MatchLines, mappings.MatchLinesRequest(lines=[
            mappings.DraftLine(customer_id=work.order.customer.id, customer_sku=line["customer_sku"] or "?",
                               description=article.goods)
            for line, article in zip(work.output["lines"], work.order.articles)]))
            for work in works)
        for work, reply in zip(works, replies):
            work.matches = reply
            total, filled = self.lines.get(work.order.at.strftime("%Y-%m"), (0, 0))
            self.lines[work.order.at.strftime("%Y-%m")] = (
                total + len(reply.lines), filled + sum(line.match_method == EXACT for line in reply.lines))

    def record(self, works):
        together((self.importer.extractions.RecordExtraction, extraction_service.RecordExtractionRequest(
            extraction=extraction.Extraction(
                document_id=work.order.document_id, draft_order_id=work.order.draft_id,
                layout_fingerprint=work.order.form.fingerprint, confidence=work.confidence,
                model="simulated", field_count=work.fields, created_at=work.time(),
                exposure_refs=[work.prompt.exposure_ref, work.matches.exposure_ref])))
            for work in works)

    # --- people ---

    def look(self, work):
        """Returns the wrong fields of a result that a person notices."""
        truth = work.order.truth
        pairs = [(None, truth, work.output), *((n, *pair) for n, pair in
                                               enumerate(zip(truth["lines"], work.output["lines"])))]
        for number, right, reported in pairs:
            for field, value in right.items():
                if field != "lines" and reported.get(field) != value:
                    work.truly_wrong = True
                    if work.draw.random() >= OVERLOOKED:
                        work.wrong.setdefault(number, []).append(field)
        count, wrong = self.truth.get(work.order.held_out, (0, 0))
        self.truth[work.order.held_out] = (count + 1, wrong + work.truly_wrong)
        side = work.order.at.strftime("%Y-%m"), work.order.held_out
        count, corrected = self.sides.get(side, (0, 0))
        self.sides[side] = (count + 1, corrected + bool(work.wrong))

    def correct(self, works):
        calls = []
        for work in works:
            self.look(work)
            if work.order.ambiguous:
                calls.append(self.customer_chosen(work))
            calls += [self.correction(work, number, fields) for number, fields in work.wrong.items()]
        together((self.importer.feedback.CaptureFeedbackEvent, feedback_service.CaptureFeedbackEventRequest(event=event))
                 for event in calls)

    def event(self, work, **fields):
        return feedback.FeedbackEvent(
            actor_user_id=work.person, document_id=work.order.document_id,
            draft_order_id=work.order.draft_id, layout_fingerprint=work.order.form.fingerprint,
            created_at=work.time(), **fields)

    def customer_chosen(self, work):
        other = work.draw.choice(self.company.customers).id
        return self.event(work, event_type=feedback.FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED,
                          before_json=json.dumps({"candidates": [other, work.order.customer.id]}),
                          after_json=json.dumps({"customer_id": work.order.customer.id}))

    def correction(self, work, number, fields):
        order = work.order
        reported = work.output if number is None else work.output["lines"][number]
        right = order.truth if number is None else order.truth["lines"][number]
        return self.event(
            work, event_type=FIELD if number is None else LINE,
            entity_type="draft_order" if number is None else "draft_order_line",
            entity_id=order.draft_id if number is None else f"{order.draft_id}-{number + 1}",
            before_json=json.dumps({field: reported.get(field) for field in fields}),
            after_json=json.dumps({field: right[field] for field in fields}),
            corrected_output_json=json.dumps(order.truth),
            meta_json=json.dumps({"input_snippet": order.text}))

    def settle(self, works):
        """Article numbers: those that no mapping was known for are settled by a person; the lines whose
        number was corrected are matched again first."""
        suggestions, confirmations, rejections, again = [], [], [], []
        for work in works:
            corrected = [n for n, fields in work.wrong.items() if "customer_sku" in fields]
            if corrected:
                again.append((work, corrected))
            for number, line in enumerate(work.matches.lines):
                if number not in corrected:
                    self.judge(work, number, line, suggestions, confirmations, rejections)
        replies = together((self.pipeline.mappings.MatchLines, mappings.MatchLinesRequest(lines=[
            mappings.DraftLine(customer_id=work.order.customer.id,
                               customer_sku=work.order.truth["lines"][n]["customer_sku"]) for n in numbers]))
            for work, numbers in again)
        closing = []
        for (work, numbers), reply in zip(again, replies):
            closing.append(mappings.RecordMatchesRequest(
                exposure_ref=reply.exposure_ref, draft_order_id=work.order.draft_id,
                actor_user_id=work.person, created_at=work.time()))
            for number, line in zip(numbers, reply.lines):
                self.judge(work, number, line, suggestions, confirmations, rejections)
        stub = self.importer.mappings
        together((stub.RecordMatches, request) for request in closing)
        together((stub.SuggestMapping, request) for request in suggestions)
        together((stub.RejectMapping, request) for request in rejections)
        for request in confirmations:  # in order, since the last confirmation of a day counts
            stub.ConfirmMapping(request)

    def judge(self, work, number, line, suggestions, confirmations, rejections):
        """Judges the article number of one line, as a person does."""
        article, customer = work.order.articles[number], work.order.customer
        if line.match_method == EXACT and line.internal_sku == article.internal_sku:
            return
        sku = work.order.truth["lines"][number]["customer_sku"]
        pair = {"customer_id": customer.id, "customer_sku": sku}
        people = {"draft_order_id": work.order.draft_id, "document_id": work.order.document_id,
                  "actor_user_id": work.person}
        other = work.draw.choice([a for a in customer.articles if a is not article]).internal_sku
        if line.match_method == EXACT:  # a mapping that was confirmed by mistake was applied
            self.wrong_applied += 1
        else:
            right = work.draw.random() < MATCHER_IS_RIGHT
            proposed = article.internal_sku if right else other
            suggestions.append(mappings.SuggestMappingRequest(mapping=sku_mapping.SkuMapping(
                **pair, internal_sku=proposed, confidence=round(work.draw.uniform(0.5, 0.95), 2),
                created_at=work.time())))
            if not right:
                rejections.append(mappings.RejectMappingRequest(
                    **pair, **people, internal_sku=other, created_at=work.time()))
        chosen = other if work.draw.random() < SLIPS else article.internal_sku
        confirmations.append(mappings.ConfirmMappingRequest(
            **pair, **people, internal_sku=chosen, created_at=work.time()))

