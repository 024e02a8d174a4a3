"""Conversations with an assistant that searches in several ways: each question has one way that mostly works. The assistant
asks for the strategies of earlier turns, takes the first one, else tries any; users react in their own words, and the next
message says whether the answer helped."""
import collections
import datetime
import random

from google.protobuf import timestamp_pb2

from erratad import extraction, roles, turn, turn_service

TOOLS = ("catalogue", "web", "manuals", "orders")
# intent: (the tool that works, questions)
TOPICS = {
    "buy": ("catalogue", ("find a light laptop for travelling", "find a light notebook for a trip", "which laptop is light enough to travel with")),
    "repair": ("manuals", ("how do I clean the fan of the heater", "how can the heater's fan be cleaned", "cleaning the heater fan, how")),
    "return": ("orders", ("where is the parcel with my shoes", "where is my parcel of shoes now", "has the parcel with shoes arrived")),
    "compare": ("web", ("what do tests say about the blue tent", "what do reviews say of the blue tent", "is the blue tent good by the tests")),
}
ANSWERS = {"catalogue": "Here are three products from the catalogue.", "web": "These pages have tests and reviews.",
           "manuals": "The manual describes the steps on page 12.", "orders": "The order is in transit."}
CONTENT = ("Great, thank you!", "Perfect, I'll do that.", "Thanks. And how much is it?", "That helps, thanks.", "And what about the second one?")
UNHAPPY = ("No, that's not what I asked for.", "That's wrong.", "Not helpful, try again.", "You misunderstood me.", "Never mind.")
SILENT = ("hm", "ok let me think", "one moment")
RIGHT, WRONG = 0.9, 0.15  # share of good answers by the right tool and by another
FOLLOWS = 0.85  # how often the assistant takes the first strategy that is offered
TREATMENT, CONTROL = extraction.EXPERIMENT_ARM_TREATMENT, extraction.EXPERIMENT_ARM_CONTROL
REJECTED, ACCEPTED, NEUTRAL = turn.TURN_STATUS_REJECTED, turn.TURN_STATUS_ACCEPTED, turn.TURN_STATUS_NEUTRAL


def stamp(at):
    found = timestamp_pb2.Timestamp()
    found.FromDatetime(at)
    return found


class Conversations:
    def __init__(self, server, admin, seed, start, days):
        self.start, self.days = start, days
        self.draw = random.Random(f"{seed}/conversations")
        self.client = server.client(admin.create_token(roles.ROLE_ADMIN).secret)
        self.turns = self.client.turns
        self.sides = collections.defaultdict(lambda: [0, 0])  # (third of the time, arm) -> answers, good ones
        self.read = collections.Counter()  # (whether the answer was good; None: the user did not say, status)
        self.offered = 0  # turns whose strategy was one that was offered
        self.taken = collections.Counter()  # (session, turn) of the strategies that were taken

    def close(self):
        self.client.close()

    def work(self, count):
        """Simulates `count` conversations; returns the number of turns."""
        total = 0
        for number in range(count):
            at = datetime.datetime.combine(self.start, datetime.time(8)) + datetime.timedelta(
                seconds=self.days * 86400 * number // count)
            total += self.converse(number, at, 3 * number // count)
        return total

    def converse(self, number, at, third):
        session = f"chat-{number:04}"
        length = self.draw.randrange(2, 6)
        for place in range(length):
            intent, (right, questions) = self.draw.choice(sorted(TOPICS.items()))
            self.answer(session, place, (intent, right, self.draw.choice(questions)), at, third)
            at += datetime.timedelta(minutes=2)
            if place == length - 1 and self.draw.random() < 0.3:
                return place + 1  # the user leaves without a word
            self.react(session, place, at)
            at += datetime.timedelta(minutes=1)
        return length

    def choose(self, found):
        """The tool, and the references that the turn cites."""
        if found.strategies and self.draw.random() < FOLLOWS:
            self.offered += 1
            self.taken[found.strategies[0].session_id, found.strategies[0].turn_id] += 1
            return found.strategies[0].strategy.tool
        avoided = {one.strategy.tool for one in found.avoid}
        return self.draw.choice([tool for tool in TOOLS if tool not in avoided] or TOOLS)

    def answer(self, session, place, question, at, third):
        intent, right, query = question
        found = self.turns.SearchStrategies(turn_service.SearchStrategiesRequest(
            query=query, intent=intent, session_id=session, limit=5))
        tool = self.choose(found)
        self.good = self.draw.random() < (RIGHT if tool == right else WRONG)
        side = self.sides[third, found.arm]
        side[0] += 1
        side[1] += self.good
        self.turns.RecordTurn(turn_service.RecordTurnRequest(exposure_refs=[found.exposure_ref], turn=turn.Turn(
            session_id=session, turn_id=f"turn_{2 * place + 1}", created_at=stamp(at), intent=intent, query=query,
            response_summary=ANSWERS[tool], quality_score=round(self.draw.uniform(0.5, 0.9), 2),
            validation_outcome=turn.VALIDATION_OUTCOME_APPROVE, strategy=turn.TurnStrategy(tool=tool, text=intent))))

    def favourite(self):
        """The id of the turn whose strategy was taken most often; None without any."""
        for (session, name), _ in self.taken.most_common(1):
            return self.turns.GetTurn(turn_service.GetTurnRequest(session_id=session, turn_id=name)).turn.id
        return None

    def react(self, session, place, at):
        """The user's next words, which mark the turn."""
        says = self.draw.random() < 0.9
        words = self.draw.choice((CONTENT if self.good else UNHAPPY) if says else SILENT)
        reported = self.turns.DetectFeedback(turn_service.DetectFeedbackRequest(
            session_id=session, turn_id=f"turn_{2 * place + 2}", message=words, created_at=stamp(at)))
        self.read[self.good if says else None, reported.feedback_type] += 1
