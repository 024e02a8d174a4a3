/*
 * child.c: one process for one document. It first closes everything except the document and the
 * answer's pipe, then enters the sandbox, and only then reads the document. It writes each part of
 * the answer as soon as it is known, so that the earlier parts remain if a limit kills the child.
 * It ends by _exit: this runs no exit handlers, which a hostile document might have manipulated,
 * and leaves freeing to the kernel.
 */
#include "server/jobs/pdf/worker/child.h"

#include "server/jobs/pdf/measure/measure.h"
#include "store/base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The child's descriptors; the sandbox's rules are closed on entry. */
enum child_fd {
    CHILD_DOCUMENT_FD = 3,
    CHILD_ANSWER_FD = 4,
    CHILD_RULES_FD = 5
};

/* Above all of them, so that moving one never closes another. */
#define CHILD_FD_ASIDE 16

/* Memory for a plain answer and an explained one: the frames, and the buffer's earlier sizes. A frame
 * with the text of pages is not larger than a plain answer. */
#define CHILD_ARENA_BYTES_MAX (8 * PDF_ANSWER_BYTES_MAX)
#define CHILD_ARENA_EXPLAINED_BYTES_MAX (4 * PDF_ANSWER_EXPLAINED_BYTES_MAX)

/* Moves descriptors to `to`, `to` + 1 and so on; skips -1. */
static bool move_descriptors(const int *from, size_t count, int to)
{
    int aside[3] = {-1, -1, -1};

    for (size_t i = 0; i < count; i++) {
        aside[i] = from[i] < 0 ? -1 : fcntl(from[i], F_DUPFD, CHILD_FD_ASIDE);
        if (from[i] >= 0 && aside[i] < 0) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (aside[i] >= 0 && dup2(aside[i], to + (int)i) < 0) {
            return false;
        }
    }
    return true;
}

/* Keeps the standard descriptors, which are /dev/null, and the child's own. The pipe is blocking:
 * the child has no other work, and its time is bounded. */
static bool keep_descriptors(const struct child *child)
{
    const int kept[] = {child->document, child->answer, child->sandbox->ruleset};
    const bool rules = child->sandbox->ruleset >= 0;
    int flags = 0;

    if (!move_descriptors(kept, sizeof(kept) / sizeof(kept[0]), CHILD_DOCUMENT_FD) ||
        close_range(rules ? CHILD_RULES_FD + 1 : CHILD_RULES_FD, ~0U, 0) != 0) {
        return false;
    }
    child->sandbox->ruleset = rules ? CHILD_RULES_FD : -1;
    flags = fcntl(CHILD_ANSWER_FD, F_GETFL);
    return flags >= 0 && fcntl(CHILD_ANSWER_FD, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

/* Restores the default actions of signals, except that writing to a closed pipe is an error. The
 * child dies with the fork server, even if that died before the child requested it. */
static bool reset_process(pid_t parent)
{
    static const int handled[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    sigset_t none;

    for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++) {
        (void)signal(handled[i], SIG_DFL);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) == 0 &&
           prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent;
}

/* Writes and empties the buffer. */
static enum pdf_exit flush_frames(enum err put, struct buffer *buffer)
{
    bool written = false;

    if (put != OK) {
        return put == ERR_MEMORY ? PDF_EXIT_MEMORY : PDF_EXIT_FAILED;
    }
    written = file_write_all(CHILD_ANSWER_FD, buffer_slice(buffer));
    buffer->size = 0;
    return written ? PDF_EXIT_ANSWERED : PDF_EXIT_FAILED;
}

static uint32_t count_tables(const struct pdf_explanation *explanation)
{
    uint32_t count = 0;

    for (size_t i = 0; i < explanation->table_count; i++) {
        count += explanation->tables[i].counted ? 1 : 0;
    }
    return count;
}

/* The answer about tables, while they are measured. */
struct tables_answer {
    struct buffer *buffer;
    bool continues; /* after a cut: the text of all pages follows */
    bool is_cut; /* the cut was answered */
    enum pdf_exit result; /* result of the above */
};

/* Answers a cut at a counted limit at once, so that the same bytes always end here: the rest of the
 * page may take longer than the child has. Ends the child, unless more follows. */
static void answer_cut(void *user, enum pdf_cut cut)
{
    const struct pdf_tables none = {.table_count = 0};
    struct tables_answer *answer = user;

    answer->result =
        flush_frames(pdf_answer_put_tables(answer->buffer, cut, &none), answer->buffer);
    answer->is_cut = true;
    if (!answer->continues) {
        _exit(answer->result);
    }
}

/* Answers rulings and tables of page 1, then the optional parts of them. */
static enum pdf_exit answer_tables(struct measure_document *document, uint32_t flags,
                                   struct buffer *buffer)
{
    struct tables_answer answer = {.buffer = buffer, .continues = (flags & PDF_JOB_TEXT) != 0};
    struct pdf_explanation explanation = {0};
    struct pdf_tables tables = {.table_count = 0};
    struct slice png = {NULL, 0};
    enum pdf_exit result = PDF_EXIT_ANSWERED;
    enum pdf_cut cut = PDF_CUT_NONE;

    measure_on_cut(document, answer_cut, &answer);
    cut = measure_tables(document, 0, &explanation);
    if (answer.is_cut) {
        return answer.result;
    }
    if (cut == PDF_CUT_NONE) {
        tables.table_count = count_tables(&explanation);
        measure_sketch(document, &explanation, &tables.sketch);
    }
    result = flush_frames(pdf_answer_put_tables(buffer, cut, &tables), buffer);
    if (result == PDF_EXIT_ANSWERED && cut == PDF_CUT_NONE && (flags & PDF_JOB_EXPLAIN) != 0) {
        result = flush_frames(pdf_answer_put_explanation(buffer, &explanation), buffer);
    }
    if (result == PDF_EXIT_ANSWERED && cut == PDF_CUT_NONE && (flags & PDF_JOB_PICTURE) != 0 &&
        measure_draw(document, &explanation, &png)) {
        result = flush_frames(pdf_answer_put_picture(buffer, png), buffer);
    }
    return result;
}

/* Answers up to `pieces_max` pieces of the text of all pages. */
static enum pdf_exit answer_pages(struct measure_document *document, uint32_t pieces_max,
                                  struct buffer *buffer)
{
    enum pdf_exit result = PDF_EXIT_ANSWERED;
    struct pdf_pages piece;

    for (uint32_t i = 0;
         i < pieces_max && result == PDF_EXIT_ANSWERED && measure_next_pages(document, &piece);
         i++) {
        result = flush_frames(pdf_answer_put_pages(buffer, &piece), buffer);
    }
    return result;
}

/* Answers a document that was opened, and whose text was read. The text of the pages that were read
 * comes first, since it is there; that of the others last, since the tables must not miss the time
 * that it takes. */
static enum pdf_exit answer_document(struct measure_document *document, const struct pdf_text *text,
                                     uint32_t flags, struct buffer *buffer)
{
    const bool with_pages = (flags & PDF_JOB_TEXT) != 0;
    enum pdf_exit result = flush_frames(pdf_answer_put_text(buffer, text), buffer);

    if (result == PDF_EXIT_ANSWERED && with_pages) {
        result = answer_pages(document, 1, buffer);
    }
    if (result == PDF_EXIT_ANSWERED) {
        result = answer_tables(document, flags, buffer);
    }
    if (result == PDF_EXIT_ANSWERED && with_pages) {
        result = answer_pages(document, PDF_PAGES_MAX, buffer);
    }
    return result;
}

static enum pdf_exit answer_job(const struct child *child, struct buffer *buffer)
{
    const struct pdf_control_job *job = child->job;
    const struct slice password = slice_of(job->password, job->password_bytes);
    struct measure_document *document = NULL;
    struct pdf_text text = {0};
    enum pdf_reason reason = measure_open(CHILD_DOCUMENT_FD, password, &document);

    if (reason == PDF_READ && (job->flags & PDF_JOB_TEXT) != 0) {
        measure_keep_pages(document);
    }
    if (reason == PDF_READ) {
        reason = measure_text(document, &text);
    }
    if (reason != PDF_READ) {
        return flush_frames(pdf_answer_put_refusal(buffer, reason), buffer);
    }
    if (child->sandbox->kind == PDF_SANDBOX_CLOSED) {
        text.cmaps_unavailable = true;
    }
    return answer_document(document, &text, job->flags, buffer);
}

void child_run(const struct child *child)
{
    const struct sandbox_limits limits = {.memory_bytes = PDF_MEMORY_BYTES,
                                          .cpu_seconds = PDF_CPU_SECONDS};
    const bool explained = (child->job->flags & (PDF_JOB_EXPLAIN | PDF_JOB_PICTURE)) != 0;
    struct arena arena;
    struct buffer buffer;

    if (!keep_descriptors(child) || !reset_process(child->parent) ||
        sandbox_enter(child->sandbox, &limits) != OK) {
        _exit(PDF_EXIT_SANDBOX);
    }
    arena_init(&arena, explained ? CHILD_ARENA_EXPLAINED_BYTES_MAX : CHILD_ARENA_BYTES_MAX);
    buffer_init(&buffer, &arena, 0);
    _exit(answer_job(child, &buffer));
}
