"""Messages that follow an answer: each is read by DetectFeedback after a turn with the query and the answer was recorded,
in a session of its own. The result is the turn's status."""
from erratad import roles, turn, turn_service
from learning.weak_rules import f1

STATUSES = ("rejected", "accepted", "neutral")


def read(server, admin, messages, progress):
    """[(label, status by Errata)], in the order of the messages."""
    org = admin.create_org("conversations")
    client = server.client(admin.create_token(roles.ROLE_SERVICE, org_id=org.id).secret)
    results = []
    for step, message in enumerate(messages):
        session = f"session-{step}"
        progress("messages", step, len(messages))
        client.turns.RecordTurn(turn_service.RecordTurnRequest(turn=turn.Turn(
            session_id=session, turn_id="before", query=message["query"], response_summary=message["response"],
            validation_outcome=turn.VALIDATION_OUTCOME_APPROVE)))
        found = client.turns.DetectFeedback(turn_service.DetectFeedbackRequest(
            session_id=session, turn_id="after", message=message["text"]))
        status = turn.TurnStatus.Name(found.feedback_type).removeprefix("TURN_STATUS_").lower()
        results.append((message["label"], status))
    client.close()
    return results


def accuracy(results):
    return sum(label == status for label, status in results) / len(results)


def macro_f1(results):
    """The mean F1 of the statuses."""
    return sum(f1(results, status) for status in STATUSES) / len(STATUSES)


def false_rejections(results):
    """The share of the messages that reject nothing and are read as a rejection."""
    others = [status for label, status in results if label != "rejected"]
    return sum(status == "rejected" for status in others) / max(1, len(others))


MEASURES = (("accuracy", accuracy, 1), ("macro-F1", macro_f1, 1), ("false rejections", false_rejections, 0))
