"""Questions of customers with intents: each stored question is a turn whose strategy is its intent, and a new question is
answered by the strategies of the three most similar turns that a search serves."""
import random

from erratad import roles, turn, turn_service

STORED_AT_ONCE = 64
SHOWN = 3
# A search returns turns by rank, not by similarity, so it begins among the most similar ones.
LEAST = (0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0)


class Assistant:
    def __init__(self, server, admin, name):
        org = admin.create_org(name)
        self.client = server.client(admin.create_token(roles.ROLE_SERVICE, org_id=org.id).secret)
        self.count = 0

    def store(self, examples, progress):
        """Records questions with their intents."""
        for start in range(0, len(examples), STORED_AT_ONCE):
            waiting = [self.client.turns.RecordTurn.future(turn_service.RecordTurnRequest(turn=turn.Turn(
                session_id=f"session-{self.count + at}", turn_id="turn", query=text, quality_score=0.5,
                validation_outcome=turn.VALIDATION_OUTCOME_APPROVE, strategy=turn.TurnStrategy(tool="answer", text=label))))
                for at, (text, label) in enumerate(examples[start:start + STORED_AT_ONCE])]
            for one in waiting:
                one.result()
            self.count += len(waiting)
            progress("stored questions", self.count - 1, self.count)

    def served(self, text):
        """The intents of the three most similar turns."""
        found = []
        for least in LEAST:
            found = self.client.turns.SearchStrategies(turn_service.SearchStrategiesRequest(
                query=text, limit=100, similarity_min=least)).strategies
            if len(found) >= SHOWN:
                break
        nearest = sorted(found, key=lambda one: -one.similarity)[:SHOWN]
        return [one.strategy.text for one in nearest]


def measure(server, admin, found, counts, seed, progress):
    """[(number of stored questions, hits with Errata, hits of the newest three, hits of the ceiling)]."""
    train = list(found["train"])
    random.Random(f"{seed}/intents").shuffle(train)
    assistant = Assistant(server, admin, "intents")
    for count in counts:
        stored = train[:count]
        assistant.store(stored[assistant.count:], progress)
        newest, known = {label for _, label in stored[-SHOWN:]}, {label for _, label in stored}
        hits = []
        for step, (text, label) in enumerate(found["test"]):
            progress(f"questions beside {len(stored)} stored ones", step, len(found["test"]))
            hits.append([label in assistant.served(text)])
        yield (len(stored), hits, [[label in newest] for _, label in found["test"]],
               [[label in known] for _, label in found["test"]])
    assistant.client.close()
