#!/usr/bin/python3
"""tidy_english: text is plain technical English, and commit subjects name a module, a verb and an object.

Words: every tracked text file outside of vendored ones and of what users say (cues.def), names and strings included. Folders that still have
banned words are listed in english.counts with their number, which may only fall: `english.py ROOT BUILD --lower`
writes lower numbers, never higher ones.

Subjects: those of all commits since the one that added this file. A repository without its history fails.
"""
import bisect
import os
import re
import subprocess
import sys

import sources

# Each pattern is written so that it does not match itself. LEFT and RIGHT also match inside names with underscores.
LEFT, RIGHT = r"(?<![A-Za-z])", r"(?![A-Za-z])"
# A gap between two words: it may go on in the next line of a comment or of a string.
GAP = r"[\s*#/\"\\]+"
WORDS = [
    (rf"{LEFT}behin[d]{RIGHT}", "'after' for time and order, 'beyond' or 'through' for place"),
    (rf"{LEFT}(stan[d]s?|stan[d]ing|stoo[d]){RIGHT}", "'is', 'is stored', 'means', 'stops'"),
    (rf"{LEFT}(tel[l]s?|tol[d]){RIGHT}", "'reports', 'specifies', 'distinguishes', 'notifies'"),
    (rf"{LEFT}nobod[y]{RIGHT}", "'no one', or a sentence about the caller"),
    (rf"{LEFT}whateve[r]{RIGHT}", "'any', 'regardless of'"),
    (rf"{LEFT}ane[w]{RIGHT}", "'again', 'rebuild'"),
    (rf"{LEFT}of{GAP}the[n]{RIGHT}", "the date or state that is meant"),
    (rf"{LEFT}is{GAP}(?-i:non[e]){RIGHT}", "'is not a ...'; 'there is no ...'"),
    (rf"{LEFT}(is|are){GAP}n[o]{GAP}"
     r"(?!(one|longer|more|less|later|earlier|greater|larger|smaller|slower|faster|better|worse)\b)[a-z]",
     "'is not a ...'"),
    (rf"{LEFT}(?!(is|are|was|were|be|leave|leaves|left|it|them|runs?|let)\b)[a-z]+{GAP}alon[e]\b", "'only' before its word"),
]
# "There is no", and names and calls that others have chosen.
ALLOWED = re.compile(rf"\bthere{GAP}(is|are|was|were){RIGHT}|`nobod[y]`|\.tel[l]\(|stan[d]-alone", re.I)
VENDORED = sources.FOREIGN + ("proto/google/", "proto/grpc/", "tests/data/", "tests/fuzz/corpus/", "server/domain/cues/cues.def",
                              "LICENSE", "NOTICE", "package-lock.json")
COUNTS = "tests/tidy/english.counts"
SELF = "tests/tidy/english.py"
SHOWN_MAX = 20  # maximum number of listed findings of a folder

SUBJECT = re.compile(r"[a-z][a-z0-9_./-]*: (?:do not )?([^\s,]+),?( \S.*)")
SUBJECT_CHARACTERS_MAX = 100
VERBS = set("""
    abort accept accumulate acknowledge add adjust admit advance align allocate allow announce answer append apply
    arrange ask assert assign avoid back backfill batch begin benchmark bind block borrow bound break bring buffer build
    bump cache call cancel cap capture catch change charge check choose cite clamp clarify clean clear close collect
    combine compare compile complete compress compute configure confirm connect consume contain continue convert copy
    correct count cover create credit cut date deal decide declare decode decompress deduplicate default defer define
    delay delete demand deny deprecate derive describe destroy detect disable discard disconnect distinguish divide
    document double download drain draw drive drop dump edit embed emit empty enable encode end enforce enlarge ensure
    enter erase escape estimate evaluate examine exclude execute exempt exit expand expect expire explain export expose
    extend extract fail feed fetch fill filter find finish fix flush fold follow forbid force forecast forget fork format
    free freeze fsync fuzz gather generate give group grow guard halve handle hash help hide hold identify ignore
    implement import improve include increase index infer inflate inform inherit initialise inject inline insert inspect
    install interpret introduce invalidate invert isolate iterate join judge keep kill label launch lay lead learn leave
    lend let lift limit line link lint list listen load localise lock log look loop lower make manage map mark match
    mean measure mend merge migrate mirror mock model mount move name narrow negotiate normalise note notify number obey
    observe offer omit open order organise overlap own pack page parse pass patch pause permit pick pin pipe place plan
    plot point poll pool pop port post prefer prefix prepare preserve press prevent print probe process produce profile
    promote propagate protect prove provide prune publish pull purge push put quantify query queue quit quote raise
    rank reach read realign reap rebase rebuild receive recognise recompute record recount recover redact redirect reduce
    refer refresh refuse register reject release reload relocate rely remember remove rename render reopen reorder repair
    repeat replace replay reply report represent request require rerun reschedule reserve reset resize resolve respect
    restart restore restrict retain retire retract retry return reuse reveal revert review revise revoke reword rewrite rotate
    round route run sample sanitise satisfy save say scale scan schedule score search seed select send separate
    serialise serve set shape share shift ship shorten show shrink shut sign silence simplify simulate skip sleep slice
    slow smooth snapshot sort specify speed spell split stage standardise start state stop store stream strengthen strip
    submit substitute subtract suggest summarise supersede supply support suppress swap switch sync synchronise tag take
    terminate test throttle tighten time tolerate trace track translate transmit treat trigger trim truncate trust try
    tune turn unify uninstall unpack unregister update upgrade upload use validate vary verify visit vote wait wake walk warm
    warn watch widen wipe wire wrap write yield zero
""".split())


def findings_in(text):
    """(line, word, what to write instead) of each banned word."""
    blanked = ALLOWED.sub(lambda match: re.sub(r"[^\n]", ".", match.group(0)), text)
    starts = [0] + [match.end() for match in re.finditer("\n", text)]
    found = []
    for pattern, instead in WORDS:
        for match in re.finditer(pattern, blanked, flags=re.I):
            found.append((bisect.bisect_right(starts, match.start()), " ".join(match.group(0).split()), instead))
    return sorted(found)


def folder_of(path):
    """The ratchet's unit: the first two folders of a path, or fewer."""
    return "/".join(path.split("/")[:-1][:2]) or "."


def read_counts(text):
    counts = {}
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            folder, number = line.split()
            counts[folder] = int(number)
    return counts


def write_counts(counts):
    head = ("# Banned words that are left, by folder (tests/tidy/english.py). A number may only fall;\n"
            "# `/usr/bin/python3 -B tests/tidy/english.py . build/asan --lower` writes lower ones.\n")
    return head + "".join(f"{folder} {counts[folder]}\n" for folder in sorted(counts) if counts[folder])


def all_findings(root):
    """folder -> [(path, line, word, instead)]"""
    folders = {}
    for path in sources.tracked(root):
        if path.startswith(VENDORED) or path.endswith(VENDORED) or path == COUNTS:
            continue
        try:
            text = sources.read(root, path)
        except UnicodeDecodeError:
            continue
        for line, word, instead in findings_in(text):
            folders.setdefault(folder_of(path), []).append((path, line, word, instead))
    return folders


def check_words(folders, allowed, findings):
    for folder in sorted(set(folders) | set(allowed)):
        found = folders.get(folder, [])
        limit = allowed.get(folder, 0)
        if len(found) > limit:
            for path, line, word, instead in found[:SHOWN_MAX]:
                findings.add(path, line, f"'{word}' is banned", instead)
            findings.add(folder, 0, f"{len(found)} banned words; {limit} are allowed", "reword the new ones")
        elif len(found) < limit:
            findings.add(COUNTS, 1, f"{folder} has {len(found)} banned words, fewer than the {limit} of this file",
                         f"run {SELF} with --lower")


def subject_problem(subject):
    """Returns the problem of a subject; None if it is valid."""
    match = SUBJECT.fullmatch(subject)
    if not match:
        return "it does not read `module: verb object` or `module: do not verb object`"
    if match.group(1) not in VERBS:
        return f"'{match.group(1)}' is not an imperative verb of the list in {SELF}"
    if len(subject) > SUBJECT_CHARACTERS_MAX or subject.endswith("."):
        return f"it ends in a full stop or exceeds {SUBJECT_CHARACTERS_MAX} characters"
    words = findings_in(subject)
    return f"'{words[0][1]}' is banned" if words else None


def git(root, *arguments):
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def check_subjects(root, findings):
    """The subjects of the commits since the one that added this file, that one included."""
    if git(root, "rev-parse", "HEAD") is None:
        findings.add(SELF, 1, "there is no git history, so commit subjects cannot be checked", "clone the repository")
        return
    if git(root, "rev-parse", "--is-shallow-repository") != "false":
        findings.add(SELF, 1, "this is a shallow clone, so commit subjects cannot be checked",
                     "run `git fetch --unshallow`")
        return
    added = git(root, "log", "--diff-filter=A", "--format=%H", "--", SELF)
    if not added:
        if git(root, "ls-files", "--error-unmatch", SELF) is not None and git(root, "cat-file", "-e", f"HEAD:{SELF}") is not None:
            findings.add(SELF, 1, "the commit that added this file is not in the history", "clone the whole repository")
        return
    first = added.split("\n")[-1]
    parent = git(root, "rev-parse", "--verify", "--quiet", f"{first}^")
    commits = f"{first}^..HEAD" if parent else "HEAD"
    for line in git(root, "log", "--no-merges", "--format=%h %s", commits).split("\n"):
        commit, _, subject = line.partition(" ")
        problem = subject_problem(subject)
        if problem:
            findings.add(f"commit {commit}", 1, f"subject '{subject}': {problem}",
                         "`module: imperative verb object`, such as `net: bound the queue of a connection`")


def check(root, build, findings):
    with open(os.path.join(root, COUNTS), encoding="utf-8") as file:
        allowed = read_counts(file.read())
    check_words(all_findings(root), allowed, findings)
    check_subjects(root, findings)


def lower(root):
    """Writes the counts that have decreased."""
    path = os.path.join(root, COUNTS)
    allowed = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            allowed = read_counts(file.read())
    now = {folder: len(found) for folder, found in all_findings(root).items()}
    counts = {folder: min(number, now.get(folder, 0)) for folder, number in allowed.items()} if allowed else now
    with open(path, "w", encoding="utf-8") as file:
        file.write(write_counts(counts))


if __name__ == "__main__":
    if "--lower" in sys.argv:
        lower(os.path.abspath(sys.argv[1]))
    else:
        sources.main("tidy_english", check)
