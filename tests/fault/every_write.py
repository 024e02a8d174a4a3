"""Writes of every kind to a server that may die at any moment, and checks of the stored data afterwards.

`Load` calls every method that writes, each write under a key, and repeats writes without an answer;
`Log` reads the organisations' logs; the checks compare the two. A method that writes and has no driver
here is named by `undriven`.
"""
import json
import random
import threading
import time
import uuid
import zlib

import grpc

import recount
from erratad import (CHANNEL_OPTIONS, Client, admin, admin_grpc, artifact, decision, decision_service, event_log, event_service,
                     extraction, extraction_service, feedback, feedback_service, fragment_set, guideline, guideline_service,
                     is_client_stream, learning, layout, event_service_grpc, mappings, measured_weight, methods, options, organization, organization_settings, prompt_service,
                     prompt_template, organization_transfer, quota, review, review_prompts, review_service, review_triggers, roles, run_item, sku_mapping, turn, turn_service, verdict_service, verdicts)

WRITES = (("capture", 36), ("batch", 10), ("extraction", 16), ("suggest", 6), ("confirm", 10), ("reject", 4), ("judge", 6),
          ("matches", 6), ("template", 3), ("settings", 1), ("token", 6), ("rotate", 2), ("quota", 2), ("document", 6), ("upload", 2),
          ("merge", 2), ("split", 2),
          ("organization", 2), ("suspend", 1), ("delete", 1), ("move", 1), ("verdict", 8), ("rule", 3), ("propose", 2), ("state", 3), ("import_rules", 2),
          ("weights", 1), ("find", 1),
          ("review", 8), ("thresholds", 2), ("item", 4), ("fragments", 2), ("approve_fragments", 2),
          ("decision", 6), ("evaluation", 2), ("generate", 1), ("override", 2), ("retry_dead_letter", 1), ("guideline", 3), ("vote", 4), ("votes", 1), ("reject_guideline", 1), ("retract_vote", 1), ("retire_guideline", 1),
          ("turn", 8), ("detect", 6), ("judge_turn", 3),
          ("retract", 4))
# Corrections of one layout, which are retracted as often as they are made, and extractions that
# count them.
RETRACTIONS = (("capture", 10), ("retract", 10), ("extraction", 3))
SUBJECTS = 12  # documents and drafts shared by the writes
SKUS = 12  # SKUs of a customer shared by the writes
CUSTOMERS = 3
SERVED_MAX = 50  # references that an organisation keeps for another citation
REPEATS = 60  # number of writes of each kind that a check repeats
CALL_SECONDS = 20
ORGS_MAX = 40
LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
FIELD = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED
RETRY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED,
         grpc.StatusCode.CANCELLED, grpc.StatusCode.RESOURCE_EXHAUSTED)
PATHS = {"capture": "/errata.v1.FeedbackService/CaptureFeedbackEvent",
         "batch": "/errata.v1.FeedbackService/BatchCaptureFeedbackEvents",
         "extraction": "/errata.v1.ExtractionService/RecordExtraction",
         "template": "/errata.v1.PromptService/PutPromptTemplate",
         "suggest": "/errata.v1.MappingService/SuggestMapping",
         "confirm": "/errata.v1.MappingService/ConfirmMapping",
         "reject": "/errata.v1.MappingService/RejectMapping",
         "judge": "/errata.v1.MappingService/BatchJudgeMappings",
         "matches": "/errata.v1.MappingService/RecordMatches",
         "settings": "/errata.v1.AdminService/UpdateSettings",
         "document": "/errata.v1.LayoutService/IngestDocument",
         "upload": "/errata.v1.LayoutService/IngestDocumentStream",
         "merge": "/errata.v1.LayoutService/MergeFamilies",
         "split": "/errata.v1.LayoutService/SplitFamily",
         "token": "/errata.v1.AdminService/CreateToken",
         "revoke": "/errata.v1.AdminService/RevokeToken",
         "quota": "/errata.v1.AdminService/SetQuota",
         "rotate": "/errata.v1.AdminService/RotateToken",
         "verdict": "/errata.v1.VerdictService/SubmitVerdict",
         "rule": "/errata.v1.VerdictService/SetLearnedRuleEnabled",
         "propose": "/errata.v1.LearningService/ProposeArtifact",
         "state": "/errata.v1.LearningService/SetArtifactState",
         "import_rules": "/errata.v1.VerdictService/ImportLearnedRules",
         "weights": "/errata.v1.VerdictService/ApplySuggestedWeights",
         "find": "/errata.v1.VerdictService/ProposeRules",
         "retract": "/errata.v1.EventService/RetractEvent",
         "review": "/errata.v1.ReviewService/SubmitReview",
         "thresholds": "/errata.v1.ReviewService/SetTriggerThresholds",
         "item": "/errata.v1.ReviewService/PutItem",
         "fragments": "/errata.v1.ReviewService/PutFragmentSet",
         "approve_fragments": "/errata.v1.ReviewService/ApproveFragmentSet",
         "decision": "/errata.v1.DecisionService/RecordDecision",
         "generate": "/errata.v1.GuidelineService/GenerateProposal",
         "evaluation": "/errata.v1.DecisionService/SubmitEvaluation",
         "override": "/errata.v1.DecisionService/OverrideEvaluation",
         "retry_dead_letter": "/errata.v1.DecisionService/RetryDeadLetter",
         "guideline": "/errata.v1.GuidelineService/ProposeGuideline",
         "vote": "/errata.v1.GuidelineService/ApproveProposal",
         "votes": "/errata.v1.GuidelineService/ApproveProposals",
         "reject_guideline": "/errata.v1.GuidelineService/RejectProposal",
         "retract_vote": "/errata.v1.GuidelineService/RetractVote",
         "retire_guideline": "/errata.v1.GuidelineService/RetireGuideline",
         "turn": "/errata.v1.TurnService/RecordTurn",
         "detect": "/errata.v1.TurnService/DetectFeedback",
         "judge_turn": "/errata.v1.TurnService/SetFeedback",
         "organization": "/errata.v1.AdminService/CreateOrganization",
         "suspend": "/errata.v1.AdminService/SuspendOrganization",
         "resume": "/errata.v1.AdminService/ResumeOrganization",
         "delete": "/errata.v1.AdminService/DeleteOrganization",
         "move": "/errata.v1.AdminService/ImportOrganization"}
READS = {"examples": "/errata.v1.PromptService/GetExamples",
         "prompt": "/errata.v1.PromptService/PreparePrompt",
         "match": "/errata.v1.MappingService/MatchLines",
         "score": "/errata.v1.VerdictService/ScoreDocument",
         "resolve": "/errata.v1.ReviewService/ResolvePlaceholders",
         "search": "/errata.v1.TurnService/SearchStrategies",
         "agent_prompt": "/errata.v1.GuidelineService/BuildAgentPrompt"}
REQUESTS = {"confirm": mappings.ConfirmMappingRequest, "reject": mappings.RejectMappingRequest}
REPLIES = {"capture": feedback_service.CaptureFeedbackEventResponse, "batch": feedback_service.BatchCaptureFeedbackEventsResponse,
           "extraction": extraction_service.RecordExtractionResponse,
           "template": prompt_service.PutPromptTemplateResponse, "suggest": mappings.SuggestMappingResponse,
           "confirm": mappings.ConfirmMappingResponse, "reject": mappings.RejectMappingResponse,
           "judge": mappings.BatchJudgeMappingsResponse,
           "matches": mappings.RecordMatchesResponse, "settings": admin.UpdateSettingsResponse, "quota": admin.SetQuotaResponse,
           "merge": layout.MergeFamiliesResponse, "split": layout.SplitFamilyResponse,
           "verdict": verdict_service.SubmitVerdictResponse,
           "rule": verdict_service.SetLearnedRuleEnabledResponse,
           "propose": learning.ProposeArtifactResponse, "state": learning.SetArtifactStateResponse,
           "import_rules": verdict_service.ImportLearnedRulesResponse,
           "weights": verdict_service.ApplySuggestedWeightsResponse,
           "find": verdict_service.ProposeRulesResponse,
           "retract": event_service.RetractEventResponse,
           "review": review_service.SubmitReviewResponse,
           "thresholds": review_triggers.SetTriggerThresholdsResponse,
           "item": review_service.PutItemResponse,
           "fragments": review_service.PutFragmentSetResponse,
           "approve_fragments": review_service.ApproveFragmentSetResponse,
           "decision": decision_service.RecordDecisionResponse,
           "generate": guideline_service.GenerateProposalResponse,
           "evaluation": decision_service.SubmitEvaluationResponse,
           "override": decision_service.OverrideEvaluationResponse,
           "retry_dead_letter": decision_service.RetryDeadLetterResponse,
           "guideline": guideline_service.ProposeGuidelineResponse, "vote": guideline_service.ApproveProposalResponse,
           "votes": guideline_service.ApproveProposalsResponse,
           "reject_guideline": guideline_service.RejectProposalResponse,
           "retract_vote": guideline_service.RetractVoteResponse,
           "retire_guideline": guideline_service.RetireGuidelineResponse,
           "turn": turn_service.RecordTurnResponse, "detect": turn_service.DetectFeedbackResponse,
           "judge_turn": turn_service.SetFeedbackResponse}


def draw(moments, table):
    return moments.choices([name for name, _ in table], [weight for _, weight in table])[0]


def undriven():
    """Methods that write and have no driver here."""
    return [path for path, _, rules in methods()
            if rules.transaction == options.TRANSACTION_WRITE and path not in PATHS.values()]


class Ack:
    """An acknowledged write: its request and its reply."""

    __slots__ = ("kind", "org", "key", "body", "reply", "ids")

    def __init__(self, kind, org, key, body, reply, ids):
        self.kind, self.org, self.key, self.body, self.reply = kind, org, key, body, reply
        self.ids = ids


class Load:
    """Writes of every kind, until stopped, and the acknowledged ones."""

    def __init__(self, pdfs, writes=WRITES):
        self.pdfs = pdfs  # empty without a worker
        self.writes = writes
        self.up = threading.Event()
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.acks = []
        self.orgs = []  # (id, an administrator's token)
        self.suggested = {}  # org -> ids of mappings
        self.families = {}  # org -> ids of layout families
        self.pages = {}  # org -> (id of a document, its layout family when it was ingested)
        self.rules = {}  # org -> ids of learned rules
        self.proposals = {}  # org -> ids of proposals
        self.decisions = {}  # org -> ids of decisions
        self.retractable = {}  # org -> ids of captures, verdicts and reviews that no write retracts
        self.turns = {}  # org -> (session, turn)
        self.served = {}  # (kind, org) -> [(request, id of what it stored), or the reference of prompts]
        self.suspended = 0
        self.deleted = 0
        self.moved = 0
        self.exported = None  # lines of the export that is imported under several names
        self.repeats = 0
        self.problems = []
        self.channel = None
        self.calls = {}

    def connect(self, address):
        if self.channel is not None:
            self.channel.close()
        self.channel = grpc.insecure_channel(address, options=CHANNEL_OPTIONS)
        self.calls = {path: (self.channel.stream_unary if is_client_stream(path) else self.channel.unary_unary)(path)
                      for path in (*PATHS.values(), *READS.values())}
        self.up.set()

    def run(self, name, seed):
        moments = random.Random(seed)
        number = 0
        try:
            while not self.stop.is_set():
                number += 1
                getattr(self, draw(moments, self.writes))(f"{name}-{number}", *moments.choice(self.orgs))
        except Exception as e:  # an unnoticed end of a thread would hide a failure
            self.problems.append(f"{name}: {type(e).__name__}: {e}")

    def call(self, what, key, token, body, accept=(), accept_first=False):
        """Repeats the call until it is answered; returns the reply's bytes, or the error if it is accepted,
        on the first attempt too or only on a repeat."""
        tries = 0
        path = PATHS.get(what) or READS[what]
        metadata = [("authorization", f"Bearer {token}")] + ([("idempotency-key", key)] if key else [])
        end = None
        while True:
            self.up.wait(CALL_SECONDS)
            tries += 1
            try:
                reply = self.calls[path](iter(body) if isinstance(body, list) else body, timeout=CALL_SECONDS,
                                         metadata=metadata)
                break
            except ValueError:
                continue  # the channel was closed during the call
            except grpc.RpcError as e:
                if e.code() in accept and (tries > 1 or accept_first):
                    return e
                if e.code() not in RETRY:
                    raise RuntimeError(f"{what} {key}: {e.code()} {e.details()}") from None
                end = end or time.monotonic() + 120
                if time.monotonic() > end:
                    raise RuntimeError(f"{what} {key}: no answer: {e.code()} {e.details()}") from None
                time.sleep(0.005)
        with self.lock:
            self.repeats += tries > 1
        return reply

    def keep(self, *ack):
        with self.lock:
            self.acks.append(Ack(*ack))

    def count(self):
        with self.lock:
            return len(self.acks)

    def write(self, kind, key, org, token, request, ids):
        """Makes a write of one message and records it; `ids` names the stored ids in its reply."""
        body = request.SerializeToString()
        reply = self.call(kind, key, token, body)
        reported = REPLIES[kind].FromString(reply)
        self.keep(kind, org, key, body, reply, ids(reported))
        return reported

    def read(self, what, token, request, reply_type):
        return reply_type.FromString(self.call(what, None, token, request.SerializeToString()))

    def capture(self, key, org, token):
        """A correction, in one of three cases of an ingested document, whose layout family gets an example."""
        event = event_of(key)
        with self.lock:
            pages = list(self.pages.get(org, ()))
        if pages and number_of(key + "f", 3) == 0:
            event.document_id = pages[number_of(key, len(pages))][0]
        reported = self.write("capture", key, org, token,
                              feedback_service.CaptureFeedbackEventRequest(event=event),
                              lambda reported: [reported.event.id])
        with self.lock:
            self.retractable.setdefault(org, []).append(reported.event.id)

    def batch(self, key, org, token):
        events = [event_of(f"{key}/{n}") for n in range(3)]
        self.write("batch", key, org, token, feedback_service.BatchCaptureFeedbackEventsRequest(events=events),
                   lambda reported: [e.id for e in reported.events])

    def pdf(self, key):
        return self.pdfs[number_of(key, len(self.pdfs))]

    def document(self, key, org, token):
        if self.pdfs:
            body = layout.IngestDocumentRequest(document_id=key, content=self.pdf(key)).SerializeToString()
            self.ingested(org, key, layout.IngestDocumentResponse, self.call("document", key, token, body))

    def upload(self, key, org, token):
        if self.pdfs:
            bodies = [layout.IngestDocumentStreamRequest(document_id=key).SerializeToString(),
                      layout.IngestDocumentStreamRequest(content=self.pdf(key)).SerializeToString()]
            self.ingested(org, key, layout.IngestDocumentStreamResponse, self.call("upload", key, token, bodies))

    def ingested(self, org, key, reply_type, reply):
        document = reply_type.FromString(reply).document
        self.keep("document", org, key, b"", reply, [document.id])
        if document.layout_family_id:
            with self.lock:
                self.families.setdefault(org, set()).add(document.layout_family_id)
                self.pages.setdefault(org, []).append((document.document_id, document.layout_family_id))

    def merge(self, key, org, token):
        """Two families of an organisation, which other writes may have merged already."""
        with self.lock:
            families = sorted(self.families.get(org, ()))
        if len(families) < 2:
            return
        at = number_of(key, len(families))
        self.change_families("merge", key, org, token, layout.MergeFamiliesRequest(
            from_layout_family_id=families[at], into_layout_family_id=families[at - 1]))

    def split(self, key, org, token):
        """A family that may be an alias, or documents that other writes may have moved already."""
        with self.lock:
            families = sorted(self.families.get(org, ()))
            pages = list(self.pages.get(org, ()))
        if pages and number_of(key, 2) == 0:
            document_id, family = pages[number_of(key, len(pages))]
            self.change_families("split", key, org, token, layout.SplitFamilyRequest(
                layout_family_id=family, document_ids=[document_id]))
        elif families:
            self.change_families("split", key, org, token, layout.SplitFamilyRequest(
                layout_family_id=families[number_of(key, len(families))]))

    def change_families(self, kind, key, org, token, request):
        body = request.SerializeToString()
        reply = self.call(kind, key, token, body, (grpc.StatusCode.FAILED_PRECONDITION,), True)
        if not isinstance(reply, grpc.RpcError):
            changed = REPLIES[kind].FromString(reply)
            self.keep(kind, org, key, body, reply, [changed.event_id])
            with self.lock:
                self.families[org].add(changed.family.id)

    def suggest(self, key, org, token):
        """Suggests a mapping of a unique SKU, so that it is always stored and can be judged."""
        made = self.write("suggest", key, org, token, mappings.SuggestMappingRequest(
            mapping=sku_mapping.SkuMapping(customer_id=customer_of(key), customer_sku=f"SKU-{key}",
                                           internal_sku=f"INT-{key}", confidence=0.1 + number_of(key, 9) / 10)),
            lambda reported: [reported.mapping.id]).mapping
        with self.lock:
            self.suggested.setdefault(org, []).append(made.id)

    def judgement_of(self, kind, key, org):
        """Returns a judgement of a shared SKU, or of a suggested mapping."""
        request = REQUESTS[kind](actor_user_id=key, document_id=subject_of("doc", key))
        with self.lock:
            ids = self.suggested.get(org, [])
            if ids and number_of(key, 3) == 0:
                request.id = ids[number_of(key, len(ids))]
        if not request.id:
            request.customer_id, request.customer_sku = customer_of(key), f"sku-{number_of(key, SKUS)}"
            request.internal_sku = f"INT-{number_of(key + 'i', 3)}"
        return request

    def confirm(self, key, org, token):
        self.write("confirm", key, org, token, self.judgement_of("confirm", key, org),
                   lambda reported: [reported.event_id])

    def reject(self, key, org, token):
        self.write("reject", key, org, token, self.judgement_of("reject", key, org),
                   lambda reported: [reported.event_id])

    def judge(self, key, org, token):
        """A confirmation and a rejection, and between them a suggestion for a SKU of its own, so that it is stored."""
        self.write("judge", key, org, token, mappings.BatchJudgeMappingsRequest(judgements=[
            mappings.MappingJudgement(confirm=self.judgement_of("confirm", f"{key}/0", org)),
            mappings.MappingJudgement(suggest=sku_mapping.SkuMapping(
                customer_id=customer_of(key), customer_sku=f"SKU-{key}/1", internal_sku="INT-1", confidence=0.5)),
            mappings.MappingJudgement(reject=self.judgement_of("reject", f"{key}/2", org))]),
            lambda reported: [one.event_id for one in reported.judged])

    def matched(self, key, token):
        """A reference of MatchLines."""
        lines = [mappings.DraftLine(customer_id=customer_of(key), customer_sku=f"SKU-{number_of(key + str(n), SKUS)}")
                 for n in range(4)]
        return self.read("match", token, mappings.MatchLinesRequest(lines=lines),
                         mappings.MatchLinesResponse).exposure_ref

    def again(self, kind, org, key):
        """Sometimes returns an earlier citation, with its response."""
        with self.lock:
            served = self.served.setdefault((kind, org), [])
            return served[number_of(key, len(served))] if served and number_of(key, 5) == 0 else None

    def was_served(self, kind, org, served_before):
        with self.lock:
            served = self.served.setdefault((kind, org), [])
            served.append(served_before)
            del served[:-SERVED_MAX]

    def cite(self, kind, key, org, token, request, id_of):
        """A write that cites a reference. An earlier citation for the same subject has the same response,
        and makes no event."""
        before = self.again(kind, org, key)
        if before is not None:
            reply = self.call(kind, key, token, before[0])
            if id_of(REPLIES[kind].FromString(reply)) != before[1]:
                self.problems.append(f"{kind} {key}: another answer to what {before[1]} cited")
            return
        reported = self.write(kind, key, org, token, request, lambda reply: [id_of(reply)])
        self.was_served(kind, org, (request.SerializeToString(), id_of(reported)))

    def matches(self, key, org, token):
        self.cite("matches", key, org, token, mappings.RecordMatchesRequest(
            exposure_ref=self.matched(key, token), draft_order_id=f"matched-{key}", actor_user_id=key),
            lambda reported: reported.event_id)

    def extraction(self, key, org, token):
        name, document = layout_of(key), subject_of("doc", key)
        one = extraction.Extraction(
            document_id=document, layout_fingerprint=name, confidence=number_of(key, 1000) / 1000,
            model="m", actor_user_id=key, field_count=None if number_of(key, 4) == 0 else 10)
        if number_of(key, 2):
            one.draft_order_id = subject_of("draft", key)
        which = number_of(key + "r", 8)
        if which & 1:
            one.exposure_refs.append(self.read("examples", token, prompt_service.GetExamplesRequest(
                layout_fingerprint=name, document_id=document), prompt_service.GetExamplesResponse).exposure_ref)
        if which & 2:
            one.exposure_refs.append(self.read("prompt", token, prompt_service.PreparePromptRequest(
                template_name="pdf_extract_text_v1", layout_fingerprint=name, document_id=document),
                prompt_service.PreparePromptResponse).exposure_ref)
        if which & 4:
            one.exposure_refs.append(self.matched(key, token))
        request = extraction_service.RecordExtractionRequest(extraction=one)
        before = self.again("extraction", org, key)
        if before is not None:  # the same extraction again: it replaces the one before
            request = extraction_service.RecordExtractionRequest.FromString(before[0])
            request.extraction.actor_user_id = key
        self.write("extraction", key, org, token, request, lambda reported: [reported.extraction.id])
        self.was_served("extraction", org, (request.SerializeToString(), None))

    def template(self, key, org, token):
        self.write("template", key, org, token, prompt_service.PutPromptTemplateRequest(
            prompt_template=prompt_template.PromptTemplate(name=f"template-{number_of(key, 4)}",
                                                      text="{{A}} {{hint_examples}} " + key, comment=key)),
            lambda reported: [reported.prompt_template.id])

    def verdict(self, key, org, token):
        """A verdict with one indicator, of few that all share, in one of the lists."""
        one = verdicts.VerdictSubmission(
            receipt_id=key, original_verdict=1 + number_of(key + "o", 3), correct_verdict=1 + number_of(key + "c", 3),
            original_score=number_of(key, 101) / 100, actor_user_id=key)
        lists = one.confirmed_indicators, one.rejected_indicators, one.missed_indicators
        lists[number_of(key + "l", 3)].append(f"indicator-{number_of(key + 'i', 6)}")
        reported = self.write("verdict", key, org, token, verdict_service.SubmitVerdictRequest(submission=one),
                              lambda reply: [reply.submission.id])
        with self.lock:
            self.rules.setdefault(org, []).extend(change.rule.id for change in reported.submission.rule_changes)
            self.retractable.setdefault(org, []).append(reported.submission.id)

    def review(self, key, org, token):
        """A review of one of few runs, in one of few subcategories; every other one cites prompts of the run, some of
        them those that an earlier review cited."""
        one = review.Review(run_id=f"run-{number_of(key + 'r', 30)}", subcategory=f"subcategory-{number_of(key + 's', 3)}",
                            item_id=key, decision=1 + number_of(key + "d", 3), reviewed_by=f"user-{number_of(key + 'u', 3)}",
                            missing_spec=[f"field-{number_of(key + 'f', 4)}"], bad_format=bool(number_of(key + "b", 2)),
                            notes=key)
        if number_of(key + "x", 2):
            one.exposure_refs.append(self.again("review", org, key) or self.resolved(key, token, one))
            self.was_served("review", org, one.exposure_refs[0])
        reported = self.write("review", key, org, token, review_service.SubmitReviewRequest(review=one),
                              lambda reply: [reply.review.id])
        with self.lock:
            self.retractable.setdefault(org, []).append(reported.review.id)

    def resolved(self, key, token, one):
        """A reference of ResolvePlaceholders, for the run of a review."""
        return self.read("resolve", token, review_prompts.ResolvePlaceholdersRequest(
            subcategory=one.subcategory, run_id=one.run_id, prompts={"p": "{{EXTRACTION_REVIEW}}{{EXAMPLE_ITEM}}"},
            current_review=review_prompts.CurrentReview(bad_format=bool(number_of(key + "c", 2)))),
            review_prompts.ResolvePlaceholdersResponse).exposure_ref

    def item(self, key, org, token):
        self.write("item", key, org, token, review_service.PutItemRequest(item=run_item.RunItem(
            run_id=f"run-{number_of(key + 'r', 30)}", item_id=key, item_json='{"name": "X1"}')),
            lambda reported: [reported.item.id])

    def turn(self, key, org, token):
        """A turn of its own, in one of a few sessions."""
        session = f"session-{number_of(key + 's', 6)}"
        self.write("turn", key, org, token, turn_service.RecordTurnRequest(
            exposure_refs=self.searched(key, org, token, session), turn=turn.Turn(
                session_id=session, turn_id=key, query=f"laptops under {number_of(key + 'q', 9)}00 dollars",
                validation_outcome=turn.VALIDATION_OUTCOME_APPROVE, quality_score=0.8,
                strategy=turn.TurnStrategy(tool="shop", text=key))), lambda reported: [reported.turn.id])
        with self.lock:
            self.turns.setdefault(org, []).append((session, key))

    def detect(self, key, org, token):
        """A message of a separate turn, which may reject, accept or be neutral."""
        words = ("that's wrong", "thanks!", "hmm", "never mind")[number_of(key + "w", 4)]
        session = f"session-{number_of(key + 's', 6)}"
        self.write("detect", key, org, token, turn_service.DetectFeedbackRequest(
            session_id=session, turn_id=key, message=words, exposure_refs=self.searched(key, org, token, session)),
            lambda reported: [reported.id])

    def searched(self, key, org, token, session):
        """Every other call cites a search for its session, now and then one that was cited before."""
        if number_of(key + "x", 2):
            return []
        reference = self.again("search", org, key) or self.read("search", token, turn_service.SearchStrategiesRequest(
            query=f"laptops under {number_of(key + 'q', 9)}00 dollars", session_id=session, limit=3),
            turn_service.SearchStrategiesResponse).exposure_ref
        self.was_served("search", org, reference)
        return [reference]

    def judge_turn(self, key, org, token):
        """A person's judgement of a turn that was acknowledged."""
        with self.lock:
            turns = list(self.turns.get(org, ()))
        if turns:
            session, name = turns[number_of(key, len(turns))]
            self.write("judge_turn", key, org, token, turn_service.SetFeedbackRequest(
                session_id=session, turn_id=name, status=1 + number_of(key + "j", 3), reason=key,
                actor_user_id="anna"), lambda reported: [])

    def thresholds(self, key, org, token):
        self.write("thresholds", key, org, token, review_triggers.SetTriggerThresholdsRequest(
            subcategory=f"subcategory-{number_of(key + 's', 3)}", thresholds=review_triggers.ReviewThresholds(
                bad_format=1 + number_of(key + "b", 10))), lambda reported: [])

    def fragments(self, key, org, token):
        self.write("fragments", key, org, token, review_service.PutFragmentSetRequest(fragment_set=fragment_set.FragmentSet(
            comment=key, fragments=[fragment_set.PromptFragment(
                signal=review_prompts.REVIEW_SIGNAL_NOTES, placeholder=review_prompts.REVIEW_PLACEHOLDER_EXTRACTION_REVIEW,
                text=key)])), lambda reported: [reported.fragment_set.id])

    def approve_fragments(self, key, org, token):
        """The first version or that which ships with the server; one of them may be in use, or not exist."""
        request = review_service.ApproveFragmentSetRequest(version=number_of(key, 2))
        body = request.SerializeToString()
        reply = self.call("approve_fragments", key, token, body, (grpc.StatusCode.FAILED_PRECONDITION,
                                                                  grpc.StatusCode.NOT_FOUND), True)
        if not isinstance(reply, grpc.RpcError):
            self.keep("approve_fragments", org, key, body, reply, [])

    def decision(self, key, org, token):
        """A decision about one of few agents, with one of few comments, so that clusters grow; every second one cites
        a prompt of the agent, sometimes one that was cited before."""
        comment = ("Set a timeout on each remote call.", "Sort the imports of each module, please.",
                   "Nice work!", "why?")[number_of(key + "c", 4)]
        agent = f"agent-{number_of(key + 'a', 2)}"
        cited = []
        if number_of(key + "x", 2):
            cited.append(self.again("agent_prompt", org, key) or self.read(
                "agent_prompt", token, guideline_service.BuildAgentPromptRequest(agent_name=agent, subject_id=key),
                guideline_service.BuildAgentPromptResponse).exposure_ref)
            self.was_served("agent_prompt", org, cited[0])
        reported = self.write("decision", key, org, token, decision_service.RecordDecisionRequest(
            exposure_refs=cited, decision=decision.Decision(
                decision_id=key, gate_id="HITL-1", epic_id=f"epic-{number_of(key + 'e', 3)}", task_id=key, agent_name=agent,
                decision=1 + number_of(key + "d", 3), reviewer_comment=comment)), lambda reply: [reply.feedback_id])
        with self.lock:
            self.decisions.setdefault(org, []).append(reported.feedback_id)
            if number_of(key + "y", 3) == 0:
                self.retractable.setdefault(org, []).append(reported.feedback_id)

    def about_decision(self, name, key, org, token, request_of):
        """A write about a decision that exists."""
        with self.lock:
            ids = self.decisions.get(org, [])
            one = ids[number_of(key, len(ids))] if ids else None
        if one:
            body = request_of(one).SerializeToString()
            reply = self.call(name, key, token, body, (grpc.StatusCode.FAILED_PRECONDITION,), True)
            if not isinstance(reply, grpc.RpcError):
                self.keep(name, org, key, body, reply, [None])

    def generate(self, key, org, token):
        """Runs the batch; its proposals have no key."""
        self.write("generate", key, org, token, guideline_service.GenerateProposalRequest(),
                   lambda reply: [one.id for one in reply.proposals])

    def evaluation(self, key, org, token):
        self.about_decision("evaluation", key, org, token, lambda one: decision_service.SubmitEvaluationRequest(
            feedback_id=one, evaluation=decision.Evaluation(
                evaluator_id=f"judge-{number_of(key + 'j', 3)}", classification=1 + number_of(key, 5), rationale=key)))

    def override(self, key, org, token):
        self.about_decision("override", key, org, token, lambda one: decision_service.OverrideEvaluationRequest(
            feedback_id=one, classification=1 + number_of(key, 5), reason=key))

    def retry_dead_letter(self, key, org, token):
        """Retries one of the entries that the server read from a stream of decisions. A server without one refuses any id;
        tools/redis-kills has one with dead letters."""
        body = decision_service.RetryDeadLetterRequest(dead_letter_id=str(uuid.UUID(int=number_of(key, 1 << 32)))).SerializeToString()
        reply = self.call("retry_dead_letter", key, token, body, (grpc.StatusCode.NOT_FOUND,), True)
        if not isinstance(reply, grpc.RpcError):
            raise RuntimeError(f"retry_dead_letter {key}: an unknown id was retried")

    def guideline(self, key, org, token):
        """A rule for one of few agents."""
        reported = self.write("guideline", key, org, token, guideline_service.ProposeGuidelineRequest(
            proposal=guideline.Proposal(rule_type=1 + number_of(key, 4), rule_content=f"Topic {key} needs a remedy.",
                                        affected_agents=[f"agent-{number_of(key + 'a', 2)}"])),
            lambda reply: [reply.proposal.id])
        with self.lock:
            self.proposals.setdefault(org, []).append(reported.proposal.id)

    def about_proposal(self, name, key, org, token, request_of):
        """A write about a proposal that exists; it may have been decided, or the token's user may be its proposer."""
        with self.lock:
            ids = self.proposals.get(org, [])
            one = ids[number_of(key, len(ids))] if ids else None
        if not one:
            return
        body = request_of(one).SerializeToString()
        reply = self.call(name, key, token, body, (grpc.StatusCode.FAILED_PRECONDITION,
                                                   grpc.StatusCode.PERMISSION_DENIED), True)
        if not isinstance(reply, grpc.RpcError):
            self.keep(name, org, key, body, reply, [])

    def vote(self, key, org, token):
        self.about_proposal("vote", key, org, token, lambda one: guideline_service.ApproveProposalRequest(proposal_id=one))

    def votes(self, key, org, token):
        self.about_proposal("votes", key, org, token, lambda one: guideline_service.ApproveProposalsRequest(
            approvals=[guideline_service.ApproveProposalRequest(proposal_id=one)]))

    def reject_guideline(self, key, org, token):
        self.about_proposal("reject_guideline", key, org, token, lambda one: guideline_service.RejectProposalRequest(
            proposal_id=one, reason=key))

    def retract_vote(self, key, org, token):
        self.about_proposal("retract_vote", key, org, token, lambda one: guideline_service.RetractVoteRequest(
            proposal_id=one))

    def retire_guideline(self, key, org, token):
        self.about_proposal("retire_guideline", key, org, token, lambda one: guideline_service.RetireGuidelineRequest(
            guideline_id=one, reason=key))

    def retract(self, key, org, token):
        """Retracts a capture, a verdict, a review or a decision, each once."""
        with self.lock:
            ids = self.retractable.get(org, [])
            one = ids.pop(number_of(key, len(ids))) if ids else None
        if one:
            self.write("retract", key, org, token, event_service.RetractEventRequest(event_id=one, reason=key),
                       lambda reported: [reported.retraction.id])

    def rule(self, key, org, token):
        """Enables or disables a rule that a submission reported."""
        with self.lock:
            ids = self.rules.get(org, [])
            one = ids[number_of(key, len(ids))] if ids else None
        if one:
            self.write("rule", key, org, token, verdict_service.SetLearnedRuleEnabledRequest(
                id=one, enabled=bool(number_of(key, 2))), lambda reported: [])

    def propose(self, key, org, token):
        """Proposes a rule with a pattern of its own, which is counted like those of submissions."""
        def keep_rule(reported):
            with self.lock:
                self.rules.setdefault(org, []).append(reported.learned_rule.id)
            return [reported.learned_rule.id]
        self.write("propose", key, org, token, learning.ProposeArtifactRequest(
            learned_rule=learning.ProposedRule(rule_type=1 + number_of(key, 3), pattern=f"proposed-{key}"),
            reason=key), keep_rule)

    def state(self, key, org, token):
        """Sets the state of a rule that was learned or proposed."""
        with self.lock:
            ids = self.rules.get(org, [])
            one = ids[number_of(key, len(ids))] if ids else None
        states = artifact.ARTIFACT_STATE_SHADOW, artifact.ARTIFACT_STATE_ACTIVE, artifact.ARTIFACT_STATE_RETIRED
        if one:
            self.write("state", key, org, token, learning.SetArtifactStateRequest(
                artifact_id=one, state=states[number_of(key, 3)], reason=key), lambda reported: [reported.event_id])

    def import_rules(self, key, org, token):
        """Imports two rules: one with a pattern of its own, one of an indicator that all share."""
        document = {"schema_version": 1, "rules": [
            {"rule_type": "missed_indicator", "pattern": f"imported-{key}", "confidence_adjustment": 0.1},
            {"rule_type": "missed_indicator", "pattern": f"indicator-{number_of(key, 6)}",
             "confidence_adjustment": number_of(key + "a", 100) / 100}]}
        self.write("import_rules", key, org, token, verdict_service.ImportLearnedRulesRequest(
            document_json=json.dumps(document)), lambda reported: [reported.changes[0].rule.id])

    def weights(self, key, org, token):
        """Measures a rule of its own by verdicts that cite a score, and gives it the suggested weight."""
        pattern = f"weighed-{key}"
        rule = self.write("propose", f"{key}-p", org, token, learning.ProposeArtifactRequest(
            learned_rule=learning.ProposedRule(rule_type=1, pattern=pattern), reason=f"{key}-p"),
            lambda reported: [reported.learned_rule.id]).learned_rule.id
        self.write("state", f"{key}-s", org, token, learning.SetArtifactStateRequest(
            artifact_id=rule, state=artifact.ARTIFACT_STATE_SHADOW, reason=f"{key}-s"), lambda reported: [reported.event_id])
        reference = self.read("score", token, verdict_service.ScoreDocumentRequest(
            score=0.5, indicators=[pattern]), verdict_service.ScoreDocumentResponse).exposure_ref
        for number in range(5):
            self.write("verdict", f"{key}-{number}", org, token, verdict_service.SubmitVerdictRequest(
                submission=verdicts.VerdictSubmission(
                    receipt_id=f"{key}-{number}", original_verdict=verdicts.VERDICT_REAL, original_score=0.5,
                    correct_verdict=verdicts.VERDICT_FAKE, exposure_refs=[reference])),
                lambda reported: [reported.submission.id])
        self.write("weights", key, org, token, verdict_service.ApplySuggestedWeightsRequest(
            weights=[measured_weight.ChosenWeight(rule_id=rule)], apply=True, reason=key),
            lambda reported: [change.event_id for change in reported.changes])

    def find(self, key, org, token):
        """Proposes the rules that the submissions so far share; there may be none."""
        self.write("find", key, org, token, verdict_service.ProposeRulesRequest(),
                   lambda reported: [found.rule.id for found in reported.rules])

    def settings(self, key, org, token):
        self.write("settings", key, org, token, admin.UpdateSettingsRequest(
            settings=organization_settings.OrganizationSettings(holdout_percent=number_of(key, 5) * 10)), lambda reported: [])

    def token(self, key, org, token):
        body = admin.CreateTokenRequest(token=admin.Token(role=roles.ROLE_VIEWER)).SerializeToString()
        reply = self.call("token", key, token, body, (grpc.StatusCode.ALREADY_EXISTS,))
        if isinstance(reply, grpc.RpcError):  # created by an attempt whose response was lost, including its secret
            key_id = next(word for word in reply.details().replace(";", " ").replace(",", " ").split()
                          if len(word) == 8 and all(c in "0123456789abcdef" for c in word))
            self.keep("token", org, key, b"", b"", [key_id])
            return
        made = admin.CreateTokenResponse.FromString(reply)
        self.keep("token", org, key, b"", made.secret.encode(), [made.token.key_id])
        if number_of(key, 2):
            revoke = admin.RevokeTokenRequest(key_id=made.token.key_id).SerializeToString()
            self.call("revoke", key + "-r", token, revoke)
            self.keep("revoke", org, key, b"", made.secret.encode(), [made.token.key_id])

    def rotate(self, key, org, token):
        """Replaces a token that this write has created; without its response there is nothing to replace."""
        body = admin.CreateTokenRequest(token=admin.Token(role=roles.ROLE_VIEWER)).SerializeToString()
        made = self.call("token", key, token, body, (grpc.StatusCode.ALREADY_EXISTS,))
        if isinstance(made, grpc.RpcError):
            return
        old = admin.CreateTokenResponse.FromString(made).token.key_id
        self.keep("token", org, key, b"", b"", [old])
        body = admin.RotateTokenRequest(key_id=old, overlap_seconds=86400).SerializeToString()
        reply = self.call("rotate", key + "-r", token, body, (grpc.StatusCode.ALREADY_EXISTS,))
        self.keep("rotate", org, key, b"", b"", [old])
        if not isinstance(reply, grpc.RpcError):
            self.keep("token", org, key + "-r", b"", b"",
                      [admin.RotateTokenResponse.FromString(reply).token.key_id])

    def quota(self, key, org, token):
        """Limits a token that this write has created; without its response there is no token to limit."""
        body = admin.CreateTokenRequest(token=admin.Token(role=roles.ROLE_VIEWER)).SerializeToString()
        made = self.call("token", key, token, body, (grpc.StatusCode.ALREADY_EXISTS,))
        if isinstance(made, grpc.RpcError):
            return
        key_id = admin.CreateTokenResponse.FromString(made).token.key_id
        self.keep("token", org, key, b"", b"", [key_id])
        self.write("quota", key + "-q", org, token, admin.SetQuotaRequest(
            key_id=key_id, quota=quota.Quota(pdf_jobs=1 + number_of(key, 9))), lambda reported: [key_id])

    def new_organization(self, key):
        """Creates an organisation of this name. Returns the reply, and its id."""
        body = admin.CreateOrganizationRequest(organization=organization.Organization(name=key)).SerializeToString()
        reply = self.call("organization", key, self.master, body)
        return reply, admin.CreateOrganizationResponse.FromString(reply).organization.id

    def new_administrator(self, key, org):
        """Creates a token of an organisation. Returns its text; None without its response, which is given only once."""
        body = admin.CreateTokenRequest(org_id=org, token=admin.Token(role=roles.ROLE_ADMIN, user_id="root")).SerializeToString()
        made = self.call("token", key + "-t", self.master, body, (grpc.StatusCode.ALREADY_EXISTS,))
        return None if isinstance(made, grpc.RpcError) else admin.CreateTokenResponse.FromString(made).secret

    def stop_organization(self, key, org):
        """Suspends an organisation. Returns the reply."""
        body = organization.SuspendOrganizationRequest(org_id=org, reason=key).SerializeToString()
        return self.call("suspend", key + "-s", self.master, body)

    def organization(self, key, _org, _token):
        if len(self.orgs) >= ORGS_MAX:
            return
        reply, org = self.new_organization(key)
        token = self.new_administrator(key, org)
        self.keep("organization", org, key, b"", reply, [org])
        if token is not None:
            with self.lock:
                self.orgs.append((org, token))

    def suspend(self, key, _org, _token):
        """An organisation of its own, which no other write uses, suspended, and resumed or not."""
        with self.lock:
            if self.suspended >= ORGS_MAX:
                return
            self.suspended += 1
        _, org = self.new_organization(key)
        reply = self.stop_organization(key, org)
        state = organization.SuspendOrganizationResponse.FromString(reply).organization.state
        if number_of(key, 2):
            body = organization.ResumeOrganizationRequest(org_id=org, reason=key).SerializeToString()
            reply = self.call("resume", key + "-r", self.master, body)
            state = organization.ResumeOrganizationResponse.FromString(reply).organization.state
        self.keep("suspend", org, key, b"", reply, [state])

    def delete(self, key, _org, _token):
        """An organisation of its own, with a few rows, suspended and deleted."""
        with self.lock:
            if self.deleted >= ORGS_MAX:
                return
            self.deleted += 1
        _, org = self.new_organization(key)
        token = self.new_administrator(key, org)
        if token is not None:
            for number in range(20):
                request = feedback_service.CaptureFeedbackEventRequest(event=event_of(f"{key}/{number}"))
                self.call("capture", f"{key}-{number}", token, request.SerializeToString())
        self.stop_organization(key, org)
        body = organization.DeleteOrganizationRequest(org_id=org, confirm_name=key, reason=key).SerializeToString()
        self.keep("delete", org, key, b"", self.call("delete", key + "-d", self.master, body), [])

    def export(self, key):
        """The lines of a small organisation; exported once."""
        _, org = self.new_organization(key)
        token = self.new_administrator(key, org)
        for number in range(20 if token else 0):
            request = feedback_service.CaptureFeedbackEventRequest(event=event_of(f"{key}/{number}"))
            self.call("capture", f"{key}-{number}", token, request.SerializeToString())
        end = time.monotonic() + 120
        while True:
            try:
                stream = admin_grpc.AdminServiceStub(self.channel).ExportOrganization(
                    organization_transfer.ExportOrganizationRequest(org_id=org), timeout=CALL_SECONDS,
                    metadata=[("authorization", f"Bearer {self.master}")])
                lines = [line for part in stream for line in part.lines]
            except (grpc.RpcError, ValueError):  # killed, or the channel was closed during the call
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)
                continue
            return lines

    def move(self, key, _org, _token):
        """An organisation of its own, imported in three calls; or imported in part, and deleted."""
        with self.lock:
            if self.moved >= ORGS_MAX:
                return
            self.moved += 1
            lines = self.exported
        if lines is None:
            lines = self.export(key + "-source")
            with self.lock:
                self.exported = lines
        is_whole = number_of(key, 3) > 0
        for part in range(3 if is_whole else 2):
            request = organization_transfer.ImportOrganizationRequest(
                name=key, header=lines[0].header, events=[line.event for line in lines[1:-1]][8 * part:8 * part + 8])
            if part == 2:
                request.end.CopyFrom(lines[-1].end)
            reply = self.call("move", f"{key}-{part}", self.master, request.SerializeToString())
        moved = organization_transfer.ImportOrganizationResponse.FromString(reply)
        if is_whole:
            self.keep("move", moved.org_id, key, b"", reply, [moved.completed, moved.imported_seq == lines[-1].end.event_count])
            return
        body = organization.DeleteOrganizationRequest(org_id=moved.org_id, confirm_name=key, reason=key).SerializeToString()
        self.keep("delete", moved.org_id, key, b"", self.call("delete", key + "-d", self.master, body), [])


# The subject of a write follows from its key.

def number_of(key, below):
    return zlib.crc32(key.encode()) % below


layouts = 7  # number of layouts of corrections and extractions


def layout_of(key):
    return f"layout-{number_of(key, layouts)}"


def subject_of(kind, key):
    return f"{kind}-{number_of(key + kind, SUBJECTS)}"


def customer_of(key):
    return f"customer-{number_of(key, CUSTOMERS)}"


def event_of(key):
    """A correction, of a document, a draft or neither."""
    event = feedback.FeedbackEvent(event_type=(LINE, FIELD)[number_of(key, 2)], actor_user_id="ada", layout_fingerprint=layout_of(key),
                                   entity_type="line", entity_id=key, before_json='{"key":""}',
                                   after_json='{"key":"%s","qty":%d}' % (key, number_of(key, 9)))
    which = number_of(key + "w", 3)
    if which == 0:
        event.document_id = subject_of("doc", key)
    elif which == 1:
        event.draft_order_id = subject_of("draft", key)
    return event


class Log:
    """Contents of the organisations' logs, read from the end of the last check."""

    def __init__(self):
        self.next = {}  # organisation -> next sequence number
        self.found = {}  # (organisation, name) -> ids
        self.settings = {}  # organisation -> number of changes
        self.counts = {}  # organisation -> Recount
        self.problems = []

    def read(self, channel, org, token):
        """Reads up to a new event that marks the end."""
        marker = f"marker-{org}-{self.next.get(org, 1)}"
        metadata = [("authorization", f"Bearer {token}")]
        channel.unary_unary(PATHS["capture"])(feedback_service.CaptureFeedbackEventRequest(event=event_of(marker)).SerializeToString(),
                                              timeout=CALL_SECONDS, metadata=metadata)
        seq = self.next.get(org, 1)
        stream = event_service_grpc.EventServiceStub(channel).WatchEvents(
            event_service.WatchEventsRequest(from_seq=seq), timeout=300, metadata=metadata)
        for reply in stream:
            event = reply.event
            if event.seq != seq:
                self.problems.append(f"{org}: number {event.seq} instead of {seq}")
                seq = event.seq
            seq += 1
            self.counts.setdefault(org, recount.Recount([])).take(event)
            name = self.name_of(event)
            if name == marker:
                break
            if event.kind == event_log.EVENT_KIND_SETTINGS_UPDATED:
                self.settings[org] = self.settings.get(org, 0) + 1
            elif name is not None:
                self.found.setdefault((org, name), []).append(event.id)
        stream.cancel()
        self.next[org] = seq

    @staticmethod
    def name_of(event):
        """Returns the name that the write gave to the event; None if no write is associated with it."""
        payload = event.WhichOneof("payload")
        reported = getattr(event, payload)
        if payload == "feedback_event":
            return event.actor_user_id if reported.mapping_changes else reported.entity_id
        if payload == "mapping_suggested":
            return reported.change.mapping.customer_sku.removeprefix("SKU-")
        if payload in ("extraction_recorded", "mapping_applied"):
            return f"{payload} {event.actor_user_id}"
        if payload in ("turn", "feedback_detected"):
            return reported.turn_id if payload == "turn" else "read " + reported.turn_id
        if payload in ("event_retracted", "artifact_state_set", "learned_rule_weight_set", "turn_feedback_set"):
            return reported.reason
        if payload == "learned_rule_created":
            if reported.rule.pattern.startswith("imported-"):
                return reported.rule.pattern.removeprefix("imported-")
            return f"found {event.id}" if reported.HasField("finding") else reported.reason or None
        if payload in ("review", "run_item"):
            return reported.item_id
        if payload == "verdict_submission":
            return reported.receipt_id
        if payload == "decision":
            return reported.decision_id
        if payload == "evaluation_submitted":
            return reported.rationale
        if payload == "evaluation_overridden":
            return reported.reason
        if payload == "proposal" and reported.proposed_by == "errata":
            return f"generated {event.id}"
        if payload == "proposal":
            return reported.rule_content.removeprefix("Topic ").removesuffix(" needs a remedy.")
        if payload in ("prompt_template", "fragment_set"):
            return reported.comment
        if payload == "document_ingested":
            return reported.document.document_id
        if payload in ("families_merged", "family_split"):
            return "changed " + event.id
        if payload == "token_created":
            return "made " + reported.key_id
        if payload == "token_revoked":
            return "revoked " + reported.key_id
        if payload == "token_rotated":
            return "rotated " + reported.key_id
        if payload == "quota_set":
            return "limited " + reported.key_id
        return None

    def ids(self, org, name):
        return self.found.get((org, name), [])


# Kinds of events that are stored only for an acknowledged write.
NAMED = {"detect": "read ", "extraction": "extraction_recorded ", "matches": "mapping_applied "}


def names_of(ack):
    """Returns the expected log entry of an acknowledged write: (name, id), where id is None if it is not in the
    response."""
    if ack.kind in ("batch", "judge"):
        return [(f"{ack.key}/{n}", one) for n, one in enumerate(ack.ids)]
    if ack.kind == "token":
        return [("made " + ack.ids[0], None)]
    if ack.kind == "revoke":
        return [("revoked " + ack.ids[0], None)]
    if ack.kind == "generate":
        return [(f"generated {one}", one) for one in ack.ids]
    if ack.kind == "rotate":
        return [("rotated " + ack.ids[0], None)]
    if ack.kind == "quota":
        return [("limited " + ack.ids[0], None)]
    if ack.kind == "find":
        return [(f"found {one}", one) for one in ack.ids]
    if ack.kind in ("merge", "split"):
        return [("changed " + ack.ids[0], ack.ids[0])]
    if ack.kind in ("organization", "suspend", "delete", "move", "settings", "rule", "thresholds", "approve_fragments", "vote", "votes",
                    "reject_guideline", "retract_vote", "retire_guideline"):
        return []
    if ack.kind == "judge_turn":
        return [(ack.key, None)]
    return [(NAMED.get(ack.kind, "") + ack.key, None if ack.kind in ("document", "suggest") else ack.ids[0])]


def check_log(load, log):
    """Each acknowledged write is stored once, and nothing else is stored."""
    problems = []
    expected = set()
    with load.lock:
        acks = list(load.acks)
    for ack in acks:
        for name, one in names_of(ack):
            expected.add((ack.org, name))
            ids = log.ids(ack.org, name)
            if len(ids) != 1 or (one is not None and ids != [one]):
                problems.append(f"{ack.kind} {ack.key}: acknowledged as {one}, stored as {ids}")
    for (org, name), ids in log.found.items():
        if len(ids) > 1:
            problems.append(f"{name}: stored {len(ids)} times")
        # The tool's tokens, and mappings that an extraction applied, are not writes of the load.
        if (org, name) not in expected and not name.startswith(("made ", "revoked ", "rotated ", "mapping_applied ")):
            problems.append(f"{name}: stored, and never acknowledged")
    changed = {}
    for ack in acks:
        if ack.kind == "settings":
            changed[ack.org] = changed.get(ack.org, 0) + 1
    if changed != log.settings:
        problems.append(f"settings: changed {changed}, stored {log.settings}")
    return problems


def check_counts(address, load, log):
    """Counters, sums and mappings equal a recount of the log."""
    problems = []
    for org, token in list(load.orgs):
        client = Client(address, token)
        problems += [f"{org}: {problem}" for problem in recount.check(client, log.counts[org])]
        client.close()
    return problems


def list_organizations(load, channel):
    return admin_grpc.AdminServiceStub(channel).ListOrganizations(
        admin.ListOrganizationsRequest(page_size=1000), timeout=CALL_SECONDS,
        metadata=[("authorization", f"Bearer {load.master}")]).organizations


def check_deleted(load, channel):
    """Started deletions are completed without a further request."""
    with load.lock:
        deleted = {ack.org: ack.key for ack in load.acks if ack.kind == "delete"}
    end = time.monotonic() + 60
    while time.monotonic() < end:
        left = deleted.keys() & {org.id for org in list_organizations(load, channel)}
        if not left:
            return []
        time.sleep(0.1)
    return [f"delete {deleted[org]}: {org} is still listed" for org in left]


def check_repeats(load, channel, moments):
    """A repeat gets the first answer; tokens have their acknowledged states."""
    problems = []
    tokens = dict(load.orgs)
    revoked = {ack.ids[0] for ack in load.acks if ack.kind == "revoke"}
    by_kind = {}
    for ack in load.acks:
        by_kind.setdefault(ack.kind, []).append(ack)
    for kind in REPLIES:
        for ack in moments.sample(by_kind.get(kind, []), min(REPEATS, len(by_kind.get(kind, [])))):
            reply = channel.unary_unary(PATHS[kind])(ack.body, timeout=CALL_SECONDS, metadata=[
                ("authorization", f"Bearer {tokens[ack.org]}"), ("idempotency-key", ack.key)])
            if reply != ack.reply:
                problems.append(f"{kind} {ack.key}: a repeat got another answer")
    for ack in moments.sample(by_kind.get("token", []), min(REPEATS, len(by_kind.get("token", [])))):
        if ack.reply:
            try:
                event_service_grpc.EventServiceStub(channel).ListEvents(
                    event_service.ListEventsRequest(page_size=1), timeout=CALL_SECONDS,
                    metadata=[("authorization", f"Bearer {ack.reply.decode()}")])
                works = True
            except grpc.RpcError as e:
                works = e.code() != grpc.StatusCode.UNAUTHENTICATED
            # A token that is being revoked may have either state.
            if works == (ack.ids[0] in revoked):
                problems.append(f"token {ack.ids[0]}: works {works}, revoked {ack.ids[0] in revoked}")
    stored = list_organizations(load, channel)
    for ack in by_kind.get("organization", []):
        if [org.id for org in stored if org.name == ack.key] != ack.ids:
            problems.append(f"organization {ack.key}: acknowledged as {ack.ids}, not stored so")
    for ack in by_kind.get("move", []):
        if [org.state for org in stored if org.id == ack.org] != [organization.ORGANIZATION_STATE_ACTIVE] or ack.ids != [True, True]:
            problems.append(f"move {ack.key}: acknowledged as {ack.ids}, not stored so")
    for ack in by_kind.get("suspend", []):
        if [org.state for org in stored if org.id == ack.org] != ack.ids:
            problems.append(f"suspend {ack.key}: acknowledged as {ack.ids}, not stored so")
    return problems + check_deleted(load, channel)
