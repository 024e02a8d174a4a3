#!/usr/bin/python3
"""Search of strategies through a real client: order, exclusion and counts equal a brute-force reference.

Goal: after any writes, detections and corrections, an answer has exactly the turns, in the order, of the rules, and
never one of another organisation or embedder. Method: one erratad without a model; random histories of an organisation
with vectors of the test, whose statuses come from messages and from persons; after each part of a history some searches
are compared with a reference that uses only the responses of the writes.
"""
import math
import random

import grpc
from google.protobuf import timestamp_pb2

from erratad import ServerCase, main, roles, turn, turn_service, turn_service_grpc

START = 1_700_000_000
REJECTED, ACCEPTED, NEUTRAL = turn.TURN_STATUS_REJECTED, turn.TURN_STATUS_ACCEPTED, turn.TURN_STATUS_NEUTRAL
OUTCOMES = range(1, 5)
WIDTH = 6
CANDIDATES_MAX = 200
WEIGHTS = {REJECTED: -1, ACCEPTED: 0.5, NEUTRAL: 0}


def unit(values):
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values]


def cosine(query, stored):
    """Rounds like the server: stored vectors have 16 bits per number."""
    kept = [round(value * 32767) / 32767 for value in unit(stored)]
    return max(0, sum(a * b for a, b in zip(unit(query), kept)))


def random_vector(rng, width=WIDTH):
    """Near one of two topics, so that many queries are similar."""
    topic = rng.randrange(3)
    return [rng.gauss(1 if i == topic else 0, 0.25) for i in range(width)]


class Known:
    """A turn in the reference model."""

    def __init__(self, name, at, fields, vector):
        self.name = name
        self.at = at
        self.vector = vector
        self.status = NEUTRAL
        self.marked_at = 0
        self.quality = fields["quality_score"]
        self.intent = fields.get("intent", "")
        strategy = fields.get("strategy")
        self.strategy = (strategy.tool, strategy.text.casefold()) if strategy else None

    def ranking(self):
        return 0.6 * self.quality + 0.4 * WEIGHTS[self.status]


class Reference:
    """All turns of an organisation with vectors of one width, in the order of their recording."""

    def __init__(self):
        self.turns = {}
        self.marks = 0

    def mark(self, name, status):
        self.marks += 1
        self.turns[name].status = status
        self.turns[name].marked_at = self.marks

    def search(self, query, limit, least=0.5):
        order = {name: i for i, name in enumerate(self.turns)}
        near = []
        for one in self.turns.values():
            if len(one.vector) == len(query) and cosine(query, one.vector) >= least:
                near.append((cosine(query, one.vector), one))
        near.sort(key=lambda pair: (-pair[0], -order[pair[1].name]))
        rejected = [one for _, one in near if one.status == REJECTED]
        banned = {}
        for similarity, one in near:
            if one.status == REJECTED and similarity >= 0.8 and one.strategy:
                banned[one.strategy] = max(banned.get(one.strategy, 0), one.marked_at)
        for one in self.turns.values():
            if one.status == ACCEPTED and one.strategy in banned and one.marked_at > banned[one.strategy]:
                del banned[one.strategy]
        found, excluded = [], []
        for status in (ACCEPTED, NEUTRAL):
            group = [one for _, one in near if one.status == status][:CANDIDATES_MAX]
            excluded += [one for one in group if one.strategy in banned]
            group = [one for one in group if one.strategy not in banned]
            group.sort(key=lambda one: (-one.ranking(), -one.quality, -one.at, -order[one.name]))
            found += group
        return found[:limit], rejected, excluded

    def counts(self, strategy, intent):
        same = [one for one in self.turns.values() if strategy and one.strategy == strategy and intent in ("", one.intent)]
        return tuple(sum(one.status == status for one in same) for status in (ACCEPTED, REJECTED))


class StrategyCase(ServerCase):
    def organisation(self, name):
        org = self.admin.create_org(name)
        client = self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
        return turn_service_grpc.TurnServiceStub(client.channel)


class Searching(StrategyCase):
    def record(self, stub, reference, rng, at):
        name = f"turn_{len(reference.turns)}"
        fields = {"query": f"query {name}", "validation_outcome": rng.choice(OUTCOMES), "quality_score": rng.randrange(5) / 4}
        if rng.random() < 0.9:
            text = rng.choice(("cheap", "Cheap", "CHEAP", "best", "near"))
            fields["strategy"] = turn.TurnStrategy(tool=rng.choice(("shop", "web")), text=text)
        if rng.random() < 0.7:
            fields["intent"] = rng.choice(("buy", "ask"))
        vector = random_vector(rng, WIDTH if rng.random() < 0.9 else WIDTH + 1)
        stub.RecordTurn(turn_service.RecordTurnRequest(embedding=vector, turn=turn.Turn(
            session_id=f"of {name}", turn_id=name, created_at=timestamp_pb2.Timestamp(seconds=START + at), **fields)))
        reference.turns[name] = Known(name, at, fields, vector)

    def detect(self, stub, reference, rng):
        """A message after a turn that no message or person judged before: a turn is marked once."""
        one = rng.choice(list(reference.turns.values()))
        message = rng.choice(("that's wrong", "thanks, perfect", "never mind", "hmm"))
        before = one.marked_at
        reported = stub.DetectFeedback(turn_service.DetectFeedbackRequest(
            session_id=f"of {one.name}", turn_id=f"after {rng.random()}", message=message,
            created_at=timestamp_pb2.Timestamp(seconds=START + one.at + 1), embedding=random_vector(rng, len(one.vector))))
        if not before:
            reference.mark(one.name, reported.feedback_type)

    def judge(self, stub, reference, rng):
        name = rng.choice(list(reference.turns))
        status = rng.choice((REJECTED, ACCEPTED, NEUTRAL))
        stub.SetFeedback(turn_service.SetFeedbackRequest(session_id=f"of {name}", turn_id=name, status=status,
                                                         actor_user_id="anna"))
        reference.mark(name, status)

    def compare(self, stub, reference, rng):
        query = random_vector(rng)
        intent = rng.choice(("", "buy", "ask"))
        limit = rng.choice((1, 5, 100))
        reported = stub.SearchStrategies(turn_service.SearchStrategiesRequest(embedding=query, intent=intent, limit=limit))
        found, rejected, excluded = reference.search(query, limit)
        self.assertEqual([one.turn_id for one in reported.strategies], [one.name for one in found])
        self.assertEqual([one.turn_id for one in reported.avoid], [one.name for one in (rejected + excluded)[:100]])
        self.assertEqual([one.reason for one in reported.avoid][:len(rejected)],
                         [turn_service.AVOID_REASON_REJECTED] * min(100, len(rejected)))
        for got, one in zip(reported.strategies, found):
            self.assertEqual(got.status, one.status)
            self.assertAlmostEqual(got.similarity, cosine(query, one.vector), places=4)
            self.assertAlmostEqual(got.ranking_score, one.ranking(), places=6)
            self.assertEqual((got.accepted_count, got.rejected_count), reference.counts(one.strategy, intent))
            self.assertEqual(got.HasField("accepted_share"), got.accepted_count + got.rejected_count > 0)
        self.assertEqual(reported.searched_count, sum(len(one.vector) == WIDTH for one in reference.turns.values()))
        self.assertEqual(reported.incomparable_count, len(reference.turns) - reported.searched_count)
        return len(found), len(rejected), len(excluded)

    def test_random_histories_equal_the_reference(self):
        """Searches between writes: the index catches up each time. Another organisation's turns are never returned."""
        totals = [0, 0, 0]
        for seed in range(3):
            rng = random.Random(seed)
            stub, reference = self.organisation(f"history {seed}"), Reference()
            other = self.organisation(f"other {seed}")
            self.assertEqual(len(self.search(other).strategies), 0)
            for part in range(12):
                for i in range(25):
                    self.record(stub, reference, rng, part * 1000 + rng.randrange(900))
                    if rng.random() < 0.6:
                        self.detect(stub, reference, rng)
                    if rng.random() < 0.15:
                        self.judge(stub, reference, rng)
                for i in range(4):
                    totals = [a + b for a, b in zip(totals, self.compare(stub, reference, rng))]
            self.assertEqual(self.search(other).searched_count, 0)
        self.assertTrue(all(total > 50 for total in totals), totals)

    def search(self, stub, **fields):
        fields.setdefault("embedding", [1] + [0] * (WIDTH - 1))
        return stub.SearchStrategies(turn_service.SearchStrategiesRequest(**fields))

    def write(self, stub, name, status, **fields):
        fields.setdefault("strategy", turn.TurnStrategy(tool="shop", text="cheap"))
        stub.RecordTurn(turn_service.RecordTurnRequest(embedding=[1] + [0] * (WIDTH - 1), turn=turn.Turn(
            session_id="s", turn_id=name, query="laptops", validation_outcome=1, **fields)))
        if status:
            stub.SetFeedback(turn_service.SetFeedbackRequest(session_id="s", turn_id=name, status=status, actor_user_id="anna"))

    def test_a_rejected_strategy_returns_when_it_is_accepted_again(self):
        """The text in another case is the same strategy; another tool is not."""
        stub = self.organisation("rejected")
        self.write(stub, "a", ACCEPTED)
        self.write(stub, "b", NEUTRAL, strategy=turn.TurnStrategy(tool="web", text="cheap"))
        self.write(stub, "c", REJECTED, strategy=turn.TurnStrategy(tool="shop", text="CHEAP"))
        reported = self.search(stub)
        self.assertEqual([one.turn_id for one in reported.strategies], ["b"])
        self.assertEqual([(one.turn_id, one.reason) for one in reported.avoid],
                         [("c", turn_service.AVOID_REASON_REJECTED), ("a", turn_service.AVOID_REASON_STRATEGY_REJECTED)])
        self.write(stub, "d", ACCEPTED)
        reported = self.search(stub)
        self.assertEqual([one.turn_id for one in reported.strategies], ["d", "a", "b"])
        self.assertEqual([one.turn_id for one in reported.avoid], ["c"])
        self.assertEqual((reported.strategies[0].accepted_count, reported.strategies[0].rejected_count), (2, 1))
        self.assertAlmostEqual(reported.strategies[0].accepted_share, 2 / 3)
        stub.SetFeedback(turn_service.SetFeedbackRequest(session_id="s", turn_id="c", status=NEUTRAL, actor_user_id="anna"))
        self.assertEqual(len(self.search(stub).avoid), 0)

    def test_queries_are_compared_as_text(self):
        """The server's embedder compares texts; other numbers are another query."""
        stub = self.organisation("texts")
        for name, query in (("a", "laptops under 1000 dollars"), ("b", "laptops under 500 dollars"), ("c", "who won the cup")):
            stub.RecordTurn(turn_service.RecordTurnRequest(turn=turn.Turn(session_id="s", turn_id=name, query=query,
                                                                          validation_outcome=1)))
        reported = self.search(stub, embedding=None, query="Laptops under 1000 dollars?")
        found = {one.turn_id: one.similarity for one in reported.strategies}
        self.assertGreater(found["a"], 0.9)
        self.assertAlmostEqual(found["b"], 0.75)
        self.assertNotIn("c", found)
        self.assertEqual(self.search(stub).searched_count, 0)
        self.assertEqual(len(self.search(stub, embedding=None, query="laptops under 1000 dollars", similarity_min=0.9).strategies), 1)

    def test_neither_query_nor_vector_is_refused(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.search(self.organisation("empty"), embedding=None)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)


if __name__ == "__main__":
    main()
