#!/usr/bin/python3
"""Feedback read from conversations through a real client: the feedback of a message about the turn before it.

Goal: the table of detection, marks, session clock, rejections in sequence, judgements by persons, lists and reports hold over
the wire. Method: one erratad without a model, stock gRPC; an organisation of its own for each test; vectors of the test make
similarities exact.
"""
import json
import math

import grpc
from google.protobuf import timestamp_pb2

from erratad import bad_fields, main, organization_settings, roles, turn, turn_feedback, turn_service, turn_service_grpc
from errata_cli import ERRATA, CliCase, Terminal

APPROVE, REVISE, RETRY, FAIL = range(1, 5)
REJECTED, ACCEPTED, NEUTRAL = turn.TURN_STATUS_REJECTED, turn.TURN_STATUS_ACCEPTED, turn.TURN_STATUS_NEUTRAL
START = 1_700_000_000
MINUTE = 60


def at(seconds):
    return timestamp_pb2.Timestamp(seconds=START + seconds)


def vector(similarity):
    """A vector with this cosine to (1, 0)."""
    return [similarity, math.sqrt(1 - similarity * similarity)]


class TurnCase(CliCase):
    def setUp(self):
        self.org = self.admin.create_org(self.id().rsplit(".", 1)[1])
        self.client = self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=self.org.id).secret)
        self.turns = turn_service_grpc.TurnServiceStub(self.client.channel)

    def record(self, name, seconds=0, session="s", embedding=(1, 0), **fields):
        fields.setdefault("query", "laptops under $1000")
        fields.setdefault("validation_outcome", APPROVE)
        one = turn.Turn(session_id=session, turn_id=name, created_at=at(seconds), **fields)
        return self.turns.RecordTurn(turn_service.RecordTurnRequest(turn=one, embedding=embedding)).turn

    def detect(self, name, message, seconds=MINUTE, session="s", similarity=0.4, **fields):
        return self.turns.DetectFeedback(turn_service.DetectFeedbackRequest(
            session_id=session, turn_id=name, message=message, created_at=at(seconds), embedding=vector(similarity),
            **fields))

    def get(self, name, session="s"):
        return self.turns.GetTurn(turn_service.GetTurnRequest(session_id=session, turn_id=name)).turn

    def status(self, name, session="s"):
        return self.get(name, session).user_feedback.status

    def judge(self, name, status, session="s", **fields):
        fields.setdefault("actor_user_id", "anna")
        return self.turns.SetFeedback(turn_service.SetFeedbackRequest(session_id=session, turn_id=name, status=status,
                                                                      **fields)).turn

    def session(self, name="s"):
        return self.turns.GetSession(turn_service.GetSessionRequest(session_id=name)).session


class Detecting(TurnCase):
    def test_each_row_of_the_table_is_detected(self):
        """Status, confidence, kind and row, with vectors at the edges of the thresholds."""
        cases = (
            ("that's wrong", 0.4, REJECTED, 0.9, turn.CORRECTION_TYPE_EXPLICIT, 1),
            ("notebooks below 1000 dollars", 0.9, REJECTED, 0.9, turn.CORRECTION_TYPE_REPHRASED, 2),
            ("never mind", 0.1, REJECTED, 0.85, turn.CORRECTION_TYPE_ABANDONMENT, 3),
            ("say more about the second one", 0.4, ACCEPTED, 0.7, 0, 4),
            ("who won the world cup", 0.1, ACCEPTED, 0.6, 0, 5),
            ("hmm", 0.4, NEUTRAL, 0.5, 0, 6))
        for i, (message, similarity, status, confidence, kind, row) in enumerate(cases):
            session = f"row {i}"
            self.record("turn_1", session=session)
            got = self.detect("turn_2", message, session=session, similarity=similarity)
            self.assertEqual((got.feedback_type, got.correction_type, got.matched_cue.evidence.row), (status, kind, row), message)
            self.assertAlmostEqual(got.confidence, confidence, places=4)
            self.assertEqual(got.previous_turn.turn_id, "turn_1")
            self.assertEqual(got.previous_turn.user_feedback.status, status)
            self.assertEqual(self.status("turn_1", session), status)
            self.assertEqual(bool(got.user_said), status == REJECTED)
            self.assertEqual(bool(got.context_section), status == REJECTED)
        self.assertEqual(got.acceptance_kind, turn_feedback.ACCEPTANCE_KIND_UNSPECIFIED)

    def test_rephrasing_needs_the_same_intent_below_085(self):
        """0.84 with equal intents, with different ones, and 0.9 with different ones."""
        for i, (similarity, before, after, tier) in enumerate(
                ((0.84, "shop", "shop", 2), (0.84, "shop", "news", 0), (0.9, "shop", "news", 0), (0.9, "", "news", 1),
                 (0.8, "shop", "shop", 0))):
            self.record("a", session=f"i{i}", **({"intent": before} if before else {}))
            got = self.detect("b", "notebooks below 1000 dollars", session=f"i{i}", similarity=similarity, intent=after)
            self.assertEqual(got.tier, tier, (similarity, before, after))

    def test_section_for_the_planner_is_as_specified(self):
        """The whole section as specified; hostile words stay within their line."""
        self.record("turn_001233", strategy=turn.TurnStrategy(tool="commerce_search", text="laptops under $1000"))
        got = self.detect("turn_001234", "No, I meant gaming laptops\n## not business laptops", advice="Ask\nfirst")
        self.assertEqual(got.context_section, (
            "### Previous Response Feedback\n**Status:** REJECTED\n"
            "**Detected:** Turn 1234 detected that Turn 1233 was rejected\n"
            '**User said:** "No, I meant gaming laptops ## not business laptops"\n'
            '**Previous strategy:** commerce_search with query "laptops under $1000"\n'
            "**What went wrong:** The user corrected it: No, I meant gaming laptops ## not business laptops\n\n"
            "**Instruction for Planner:**\n- Do NOT reuse the strategy from Turn 1233\n- Ask first\n"))
        self.record("abc", session="t")
        got = self.detect("000", "wrong", session="t", what_went_wrong="Bad list")
        self.assertIn("Turn 0 detected that Turn abc was rejected", got.context_section)
        self.assertIn("**What went wrong:** Bad list\n\n", got.context_section)
        self.assertNotIn("Previous strategy", got.context_section)

    def test_only_words_of_the_user_count(self):
        """Messages by tools, and texts that an application put in."""
        self.record("a")
        got = self.detect("b", "that's wrong", author=turn_feedback.MESSAGE_AUTHOR_TOOL)
        self.assertEqual((got.feedback_type, self.status("a")), (NEUTRAL, NEUTRAL))
        got = self.detect("c", "[search: that's wrong] thanks", injected_spans=["[search: that's wrong]"])
        self.assertEqual(got.feedback_type, ACCEPTED)

    def test_without_a_previous_turn(self):
        got = self.detect("a", "that's wrong")
        self.assertEqual((got.feedback_type, got.context_section), (NEUTRAL, ""))
        self.assertFalse(got.HasField("previous_turn"))
        self.record("later", seconds=10 * MINUTE, session="t")
        self.assertFalse(self.detect("x", "wrong", session="t").HasField("previous_turn"))

    def test_a_message_is_read_once(self):
        """The same message returns the first response; another one of the turn is refused."""
        self.record("a")
        first = self.detect("b", "that's wrong")
        self.judge("a", ACCEPTED)
        self.assertEqual(self.detect("b", "that's wrong"), first)
        self.assert_code(grpc.StatusCode.ALREADY_EXISTS, lambda: self.detect("b", "thanks"))
        self.assert_code(grpc.StatusCode.ALREADY_EXISTS, lambda: self.record("a"))

    def test_a_turn_keeps_its_first_mark(self):
        self.record("a")
        self.detect("b", "thanks")
        got = self.detect("c", "that's wrong")
        self.assertEqual((got.feedback_type, got.previous_turn.user_feedback.status), (REJECTED, ACCEPTED))
        self.assertEqual(self.status("a"), ACCEPTED)

    def test_server_embeds_without_vectors(self):
        """Without vectors of the caller the server's embedder decides rows 2 and 5."""
        self.record("a", embedding=())
        got = self.turns.DetectFeedback(turn_service.DetectFeedbackRequest(
            session_id="s", turn_id="b", message="laptops under 1000 dollars", created_at=at(MINUTE)))
        self.assertEqual(got.correction_type, turn.CORRECTION_TYPE_REPHRASED)
        self.assertEqual(len(got.matched_cue.evidence.embedder_id), 16)
        self.record("c", seconds=2 * MINUTE, embedding=())
        got = self.turns.DetectFeedback(turn_service.DetectFeedbackRequest(
            session_id="s", turn_id="d", message="who won the world cup", created_at=at(3 * MINUTE)))
        self.assertEqual(got.acceptance_kind, turn_feedback.ACCEPTANCE_KIND_TOPIC_CHANGE)


class Clock(TurnCase):
    def test_silence_ends_a_session(self):
        """At exactly 30 minutes a message still marks; later only an explicit rejection does."""
        for i, (seconds, message, status) in enumerate((
                (30 * MINUTE, "thanks", ACCEPTED), (30 * MINUTE + 1, "thanks", NEUTRAL),
                (30 * MINUTE + 1, "never mind", NEUTRAL), (90 * MINUTE, "that's wrong", REJECTED))):
            self.record("a", session=f"c{i}")
            self.detect("b", message, seconds=seconds, session=f"c{i}")
            self.assertEqual(self.status("a", f"c{i}"), status, message)

    def test_rejections_are_counted_in_sequence(self):
        counts = []
        for i, message in enumerate(("wrong", "try again", "thanks", "that's wrong", "not helpful")):
            self.record(f"t{i}", seconds=i * MINUTE)
            got = self.detect(f"m{i}", message, seconds=i * MINUTE + 30)
            counts.append((got.consecutive_rejections, got.suggest_clarify, "be more careful" in got.context_section))
        self.assertEqual(counts, [(1, False, False), (2, True, True), (0, False, False), (1, False, False),
                                  (2, True, True)])
        self.record("t5", seconds=5 * MINUTE)
        session = self.session()
        self.assertEqual((session.turn_count, session.rejected_count, session.accepted_count, session.neutral_count),
                         (6, 4, 1, 1))
        self.assertEqual((session.consecutive_rejections, session.longest_rejections, session.ended), (2, 2, True))
        self.record("t6", seconds=60 * MINUTE)
        self.assertEqual((self.session().turn_count, self.session().consecutive_rejections), (1, 0))

    def test_previous_turn_is_the_newest_not_after_the_message(self):
        for name, seconds in (("a", 0), ("b", 4 * MINUTE), ("c", 9 * MINUTE)):
            self.record(name, seconds=seconds)
        self.assertEqual(self.detect("x", "thanks", seconds=5 * MINUTE).previous_turn.turn_id, "b")
        self.assertEqual(self.detect("c", "thanks", seconds=9 * MINUTE).previous_turn.turn_id, "b")


class Judging(TurnCase):
    def test_a_person_outlasts_later_messages(self):
        self.record("a")
        judged = self.judge("a", ACCEPTED, reason="it was right")
        self.assertEqual((judged.user_feedback.status, judged.user_feedback.confidence, judged.user_feedback.set_by),
                         (ACCEPTED, 1, "anna"))
        self.detect("b", "that's wrong")
        self.assertEqual(self.status("a"), ACCEPTED)
        self.judge("a", REJECTED)
        self.assertEqual(self.status("a"), REJECTED)
        self.assert_code(grpc.StatusCode.NOT_FOUND, lambda: self.judge("none", ACCEPTED))

    def test_scores_are_those_of_the_document(self):
        """Satisfaction and rank of each outcome and status."""
        base = {APPROVE: 0.5, REVISE: 0.3, RETRY: 0.1, FAIL: -0.5}
        for outcome, score in base.items():
            name = f"t{outcome}"
            self.record(name, validation_outcome=outcome, quality_score=0.5)
            self.assertAlmostEqual(self.get(name).satisfaction_score, score)
            self.assertAlmostEqual(self.get(name).ranking_score, 0.3)
            one = self.judge(name, ACCEPTED)
            self.assertAlmostEqual(one.satisfaction_score, min(1, score + 0.5))
            self.assertAlmostEqual(one.ranking_score, 0.5)
            one = self.judge(name, REJECTED)
            self.assertAlmostEqual(one.satisfaction_score, -1)
            self.assertAlmostEqual(one.ranking_score, -0.1)

    def test_lists_are_filtered_and_satisfaction_is_averaged(self):
        day = 86_400
        for i in range(6):
            self.record(f"t{i}", seconds=i * day // 2, session=f"s{i % 2}", intent="shop" if i < 4 else "news")
        self.judge("t0", REJECTED, "s0")
        self.judge("t1", ACCEPTED, "s1")

        def names(**fields):
            return [one.turn_id for one in self.client.all_pages(
                self.turns.ListTurns, turn_service.ListTurnsRequest(page_size=2, **fields), "turns")]

        self.assertEqual(names(), ["t5", "t4", "t3", "t2", "t1", "t0"])
        self.assertEqual(names(session_id="s1"), ["t5", "t3", "t1"])
        self.assertEqual(names(status=NEUTRAL), ["t5", "t4", "t3", "t2"])
        self.assertEqual(names(session_id="s0", status=REJECTED), ["t0"])
        report = self.turns.GetSatisfaction(turn_service.GetSatisfactionRequest())
        self.assertEqual(report.total.turn_count, 6)
        self.assertAlmostEqual(report.total.mean, (-1 + 1 + 4 * 0.5) / 6)
        self.assertEqual({one.intent: one.turn_count for one in report.intents}, {"shop": 4, "news": 2})
        self.assertEqual(sum(one.turn_count for one in report.days), 6)
        self.assertEqual([one.day for one in report.days], sorted((one.day for one in report.days), reverse=True))
        some = self.turns.GetSatisfaction(turn_service.GetSatisfactionRequest(start_time=at(day), end_time=at(2 * day)))
        self.assertEqual(some.total.turn_count, 2)

    def test_detector_report_counts_the_last_judgement(self):
        """The last judgement of each detection counts, also if it agrees."""
        for i in range(4):
            self.record("a", session=f"d{i}")
            self.detect("b", "that's wrong" if i < 3 else "thanks", session=f"d{i}")
        self.judge("a", ACCEPTED, "d0")
        self.judge("a", REJECTED, "d0")
        self.judge("a", NEUTRAL, "d1")
        self.judge("a", ACCEPTED, "d3")
        report = self.turns.GetDetectorReport(turn_service.GetDetectorReportRequest())
        self.assertEqual(report.judged_count, 3)
        self.assertEqual({(one.detected, one.judged): one.turn_count for one in report.confusion},
                         {(REJECTED, REJECTED): 1, (REJECTED, NEUTRAL): 1, (ACCEPTED, ACCEPTED): 1})
        explicit = [one for one in report.rows if one.row == turn_feedback.DETECTION_ROW_EXPLICIT][0]
        self.assertEqual((explicit.judged_count, explicit.right_count, explicit.precision), (2, 1, 0.5))
        self.assertTrue(explicit.precision_low < 0.5 < explicit.precision_high)
        self.assertEqual(report.cues[0].judged_count, 2)
        self.assertFalse(report.cues[0].removal_proposed)


class Settings(TurnCase):
    def test_own_cues_reject_until_they_are_removed(self):
        """A phrase that the server does not know rejects once it is set; a request with none removes it."""
        message = "Kannste knicken, Digger."
        self.record("turn_1", session="before")
        self.assertEqual(self.detect("turn_2", message, session="before").feedback_type, NEUTRAL)
        self.client.update_settings(extra_cues=organization_settings.ExtraCues(cues=[
            organization_settings.ExtraCue(cue_class="DIRECT", phrase="kannste KNICKEN")]))
        self.client.update_settings(reviews_needed=2)  # keeps them
        self.record("turn_1", session="with")
        got = self.detect("turn_2", message, session="with")
        evidence = got.matched_cue.evidence
        self.assertEqual((got.feedback_type, evidence.cue_class, evidence.cue, got.matched_cue.matched),
                         (REJECTED, "DIRECT", "kannste KNICKEN", "Kannste knicken"))
        self.client.update_settings(extra_cues=organization_settings.ExtraCues())
        self.record("turn_1", session="after")
        self.assertEqual(self.detect("turn_2", message, session="after").feedback_type, NEUTRAL)

    def test_setting_decides_about_a_change_of_topic(self):
        for setting, status, confidence, kind in (
                (organization_settings.TOPIC_CHANGE_NEUTRAL, NEUTRAL, 0.5, 0),
                (organization_settings.TOPIC_CHANGE_ACCEPTED, ACCEPTED, 0.6, turn_feedback.ACCEPTANCE_KIND_TOPIC_CHANGE)):
            self.client.update_settings(topic_change=setting)
            session = f"setting {setting}"
            self.record("turn_1", session=session)
            got = self.detect("turn_2", "who won the world cup", session=session, similarity=0.1)
            self.assertEqual((got.feedback_type, got.acceptance_kind, got.matched_cue.evidence.row), (status, kind, 5))
            self.assertAlmostEqual(got.confidence, confidence)
            self.assertEqual(self.status("turn_1", session), status)

    def test_invalid_values_are_all_reported(self):
        cues = [organization_settings.ExtraCue(cue_class="SHOUTING", phrase="no"),
                organization_settings.ExtraCue(cue_class="RETRY", phrase="..."),
                organization_settings.ExtraCue(cue_class="RETRY", phrase="word " * 17)]
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.update_settings(extra_cues=organization_settings.ExtraCues(cues=cues), topic_change=0)
        self.assertEqual(sorted(bad_fields(caught.exception)), [
            "settings.extra_cues.cues[0].cue_class", "settings.extra_cues.cues[1].phrase",
            "settings.extra_cues.cues[2].phrase", "settings.topic_change"])


class Commands(CliCase):
    def test_each_command_works_in_a_conversation(self):
        """Each command of `errata turns`, in the order of a conversation."""
        said = self.run_cli("turns", "record", "chat-1", "turn-1", "--query", "kettles for long journeys", "--outcome", "APPROVE",
                            "--tool", "shop", "--text", "kettle", "--quality", "0.8")[0]
        self.assertEqual(len(said.strip()), 36)
        said = self.run_cli("turns", "detect", "chat-1", "turn-2", "--message", "that's wrong", "--advice", "Ask first")[0]
        for words in ("REJECTED", "EXPLICIT", "that's wrong", "rejection probability", "- Ask first"):
            self.assertIn(words, said)
        self.assertIn("rejections in sequence", self.run_cli("turns", "session", "chat-1")[0])
        said = self.run_cli("turns", "search", "kettles for long journeys")[0]
        self.assertRegex(said, r"^AVOID .*\nREJECTED +1\.0 +chat-1 +turn-1 +shop +kettle\n$")
        said = self.run_cli("turns", "judge", "chat-1", "turn-1", "--status", "ACCEPTED", "--reason", "it was a joke",
                            "--actor", "anna")[0]
        self.assertEqual(said, "ACCEPTED\n")
        self.assertIn("kettles for", self.run_cli("turns", "list", "--session", "chat-1")[0])
        said = self.run_cli("turns", "search", "kettles for long journeys")[0]
        self.assertRegex(said, r"^STATUS .*\nACCEPTED +1\.0 +chat-1 +turn-1 +shop +kettle .*\n$")

    def test_conversation_is_read_from_a_file_and_exported(self):
        """A conversation is read from a file: the feedback in each message and its reason; then its turns and their mean."""
        lines = ["laptops under 1000 dollars", "Here are three laptops.", "No, I meant gaming laptops", "Here are two.",
                 "thanks, that helps", "You are welcome.", "hmm", ""]
        said = self.run_cli("turns", "chat", "trial-1", stdin="\n".join(lines) + "\n")[0]
        self.assertRegex(said, r"^REJECTED 0.9\ncue +\w+: .*\n(.*\n)*because +an explicit rejection(.*\n)*otherwise +without")
        self.assertRegex(said, r"\nACCEPTED 0.7\n(.*\n)*because +the message continues from the answer(.*\n)*NEUTRAL 0.5\n(.*\n)*because +no feedback on the answer")
        turns = [json.loads(line) for line in self.run_cli("turns", "export", "--session", "trial-1")[0].splitlines()]
        self.assertEqual([(one["turn_id"], one["user_feedback"]["status"]) for one in turns],
                         [("turn_4", "neutral"), ("turn_3", "neutral"), ("turn_2", "accepted"), ("turn_1", "rejected")])
        self.assertEqual(turns[3]["user_feedback"]["correction_type"], "explicit_correction")
        self.assertEqual(list(turns[0]), ["turn_id", "session_id", "timestamp", "validation_outcome", "quality_score", "user_feedback"])
        self.assertEqual(list(turns[0]["user_feedback"]), ["status", "detected_at", "detected_in_turn", "correction_type",
                                                           "confidence", "user_said"])
        said = self.run_cli("turns", "satisfaction", "--since", "1d")[0]
        self.assertRegex(said, r"mean satisfaction +0?\.?\d+(.*\n)*DAY +INTENT +TURNS")

    def test_conversation_on_a_terminal_has_prompts(self):
        """On a terminal each line is asked for before it is typed, and an empty message ends the conversation."""
        terminal = Terminal([ERRATA, "turns", "chat", "typed-1"], self.here(), self.folder)
        for prompt, line in (("message> ", "kayaks on a lake"), ("answer>  ", "Here are two kayaks."), ("message> ", "")):
            terminal.read(until=prompt)
            terminal.out = ""
            terminal.send(line + "\n")
        terminal.read()
        self.assertEqual(terminal.close(), 0)
        self.assertIn("1 turn is stored", terminal.out)

    def test_offered_strategy_is_cited_and_explained(self):
        """A strategy that a search offered is cited by a turn, rejected by a message, and explained."""
        def record(*words):
            return self.run_cli("turns", "record", "chat-2", *words, "--query", "tents for two", "--outcome", "APPROVE",
                                "--tool", "shop", "--text", "tent")[0].strip()
        first = record("turn-1")
        found = json.loads(self.run_cli("turns", "search", "tents for two", "--session", "chat-2", "--json")[0])
        record("turn-2", "--exposure", found["exposureRef"])
        self.run_cli("turns", "detect", "chat-2", "turn-3", "--message", "that's wrong")
        said = self.run_cli("explain", found["exposureRef"])[0]
        self.assertRegex(said, r"method +SearchStrategies\n(.*\n)*.*strategy.*shop: tent(.*\n)*REJECTED +turn-2")
        self.assertIn("strategy", self.run_cli("analytics", "artifact", first)[0].lower())

    def test_command_changes_cues_and_topic_change(self):
        said = self.run_cli("org", "settings", "--cue", "RETRY=once more, please", "--cue", "DIRECT=bogus",
                            "--topic-change", "neutral")[0]
        self.assertRegex(said, r"cues +RETRY=once more, please, DIRECT=bogus\ntopic change +NEUTRAL\n")
        self.assertRegex(self.run_cli("org", "settings", "--cue", "none")[0], r"cues +none\ntopic change +NEUTRAL\n")


if __name__ == "__main__":
    main()
