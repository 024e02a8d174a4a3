"""Expected layout families: recounted from an organisation's log like the rest of recount.py, and compared with the
server's responses.
"""
import collections

from erratad import internal, layout

FAMILIES_CHECKED = 20  # families of an organisation whose documents and fingerprints are checked
PAGE_SIZE = 1000

Document = collections.namedtuple("Document", "member fingerprint time_us")


class Families:
    """Layout families by the number of the event that made them. A family that was merged into another one is its
    alias; documents stay assigned to the alias."""

    def __init__(self):
        self.ids = {}  # number of the event that made the family -> its id
        self.alias_of = {}  # alias -> family
        self.sketches = set()  # of the documents
        self.documents = {}  # id of a measured document -> Document; its member is 0 without a family

    def root(self, member):
        return self.alias_of.get(member, member)

    def on_document_ingested(self, event, reported, problems):
        document, facts = reported.document, internal(reported)
        if not document.HasField("layout_fingerprint"):
            return
        member = (facts.family_seq or event.seq) if facts.sketch else 0
        if member == event.seq:
            self.ids[member] = event.id
            if facts.sketch in self.sketches:
                problems.append(f"document {event.seq}: makes a second family of one page")
        self.sketches.add(facts.sketch)
        self.documents[document.document_id] = Document(member, document.layout_fingerprint,
                                                        event.created_at.ToMicroseconds())
        wanted = self.ids.get(self.root(member), "")
        if document.layout_family_id != wanted:
            problems.append(f"document {event.seq}: of family {document.layout_family_id}, should be {wanted}")

    def on_families_merged(self, event, reported, problems):
        facts = internal(reported)
        merged = [member for member in self.ids if self.root(member) == facts.from_seq]
        if facts.from_seq in self.alias_of or facts.into_seq in self.alias_of or not merged:
            problems.append(f"merge {event.seq}: of {facts.from_seq} and {facts.into_seq}, of which one is an alias")
        for member in merged:
            self.alias_of[member] = facts.into_seq

    def on_family_split(self, event, reported, problems):
        facts = internal(reported)
        if not facts.from_seq:
            if self.alias_of.pop(facts.family_seq, None) is None:
                problems.append(f"split {event.seq}: {facts.family_seq} is not an alias")
            return
        self.ids[event.seq] = event.id
        for name in reported.document_ids:
            if self.root(self.documents[name].member) != facts.from_seq:
                problems.append(f"split {event.seq}: {name} is not a document of {facts.from_seq}")
            self.documents[name] = self.documents[name]._replace(member=event.seq)
        if not any(self.root(one.member) == facts.from_seq for one in self.documents.values()):
            problems.append(f"split {event.seq}: no document remains in {facts.from_seq}")

    def count_examples(self, feedback):
        """Counts the examples of each family; `feedback`: pairs of an event and its feedback event."""
        members = {id: member for member, id in self.ids.items()}
        found = collections.Counter()
        for _event, reported in feedback:
            member = 0
            if reported.document_id in self.documents:
                member = self.documents[reported.document_id].member
            elif not reported.document_id and reported.HasField("layout_family_id"):
                member = members[reported.layout_family_id]
            if member and reported.is_example and reported.HasField("layout_fingerprint"):
                found[self.root(member)] += 1
        return found

    def wanted(self, feedback):
        """Returns the expected families in the form of ListFamilies, and of each the documents, by id. A fingerprint of
        several members is counted once for each."""
        documents = collections.defaultdict(dict)
        examples = self.count_examples(feedback)
        for name, one in self.documents.items():
            if one.member:
                documents[self.root(one.member)][name] = one
        found = {}
        for root in set(self.ids) - set(self.alias_of):
            own = documents[root]
            family = layout.LayoutFamily(
                id=self.ids[root], document_count=len(own), example_count=examples[root],
                fingerprint_count=len({(one.member, one.fingerprint) for one in own.values()}),
                merged_family_ids=sorted(self.ids[alias] for alias, of in self.alias_of.items() if of == root))
            if own:
                family.first_seen_at.FromMicroseconds(min(one.time_us for one in own.values()))
                family.last_seen_at.FromMicroseconds(max(one.time_us for one in own.values()))
            found[family.id] = family, own
        return found


def check_family(client, id, documents, problems):
    """Compares the documents and fingerprints of one family."""
    listed = [one.document_id for one in client.all_pages(
        client.layouts.ListDocuments, layout.ListDocumentsRequest(page_size=PAGE_SIZE, layout_family_id=id), "documents")]
    if sorted(listed) != sorted(documents):
        problems.append(f"family {id}: documents {sorted(set(listed) ^ set(documents))} are too many, missing or twice")
    reported = client.layouts.GetFamily(layout.GetFamilyRequest(layout_family_id=id)).family
    wanted = sorted({one.fingerprint for one in documents.values()})
    if sorted(reported.layout_fingerprints) != wanted or reported.fingerprint_count != len(wanted):
        problems.append(f"family {id}: fingerprints {sorted(reported.layout_fingerprints)}, should be {wanted}")


def check_families(client, counted, problems):
    wanted = counted.families.wanted(counted.feedback.values())
    reported = {}
    for one in client.all_pages(client.layouts.ListFamilies, layout.ListFamiliesRequest(page_size=PAGE_SIZE), "families"):
        one.merged_family_ids.sort()
        reported[one.id] = one
    for id in sorted(set(wanted) | set(reported)):
        family = wanted[id][0] if id in wanted else None
        if reported.get(id) != family:
            problems.append(f"family {id}: {reported.get(id)}, should be {family}")
    for id in sorted(wanted)[:FAMILIES_CHECKED]:
        check_family(client, id, wanted[id][1], problems)
