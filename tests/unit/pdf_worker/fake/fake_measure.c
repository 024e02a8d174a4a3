/*
 * fake_measure.c: measure.h for tests of the fork server: a document's text specifies the actions of
 * its child. Needs neither Poppler nor fonts, so that a test can cause each end of a child.
 */
#include "server/jobs/pdf/measure/measure.h"
#include "tests/unit/pdf_worker/fake/fake.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

struct measure_document {
    char text[32];
    size_t password_bytes;
    void (*on_cut)(void *user, enum pdf_cut cut);
    void *user;
    bool keeps_pages;
    uint32_t pieces; /* words that were returned */
};

static struct measure_document the_document;
static struct pdf_page_size pages[PDF_PAGES_MAX];

bool measure_warm_up(void)
{
    return true;
}

const char *measure_poppler_version(void)
{
    return FAKE_VERSION;
}

/* Waits forever in a system call that the sandbox allows. */
static void sleep_for_ever(void)
{
    int word = 0;

    for (;;) {
        (void)syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
    }
}

static void spin_for_ever(void)
{
    volatile uint64_t turns = 1;

    while (turns != 0) {
        turns++;
    }
}

/* Returns the number of open descriptors. */
static uint32_t count_descriptors(void)
{
    uint32_t count = 0;

    for (int fd = 0; fd < 256; fd++) {
        count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    }
    return count;
}

static uint32_t count_environment(void)
{
    uint32_t count = 0;

    while (environ != NULL && environ[count] != NULL) {
        count++;
    }
    return count;
}

static bool is(const struct measure_document *document, const char *text)
{
    return strcmp(document->text, text) == 0;
}

enum pdf_reason measure_open(int fd, struct slice password, struct measure_document **ret_document)
{
    ssize_t size = pread(fd, the_document.text, sizeof(the_document.text) - 1, 0);

    the_document.text[size > 0 ? size : 0] = '\0';
    the_document.password_bytes = password.size;
    if (is(&the_document, FAKE_REFUSE)) {
        return PDF_DAMAGED;
    }
    *ret_document = &the_document;
    return PDF_READ;
}

void measure_close(struct measure_document *document)
{
    (void)document;
}

void measure_on_cut(struct measure_document *document, void (*on_cut)(void *user, enum pdf_cut cut),
                    void *user)
{
    document->on_cut = on_cut;
    document->user = user;
}

enum pdf_reason measure_text(struct measure_document *document, struct pdf_text *ret_text)
{
    pages[0] = (struct pdf_page_size){.width = 612, .height = 792};
    pages[1] = pages[0];
    *ret_text = (struct pdf_text){.page_count = document->keeps_pages ? 2 : 1,
                                  .pages = pages,
                                  .pages_read = 1,
                                  .page_cells = 612 * 792,
                                  .poppler_version = slice_text(FAKE_VERSION)};
    if (is(document, FAKE_SLEEP)) {
        sleep_for_ever();
    } else if (is(document, FAKE_SPIN)) {
        spin_for_ever();
    } else if (is(document, FAKE_ABORT)) {
        abort();
    } else if (is(document, FAKE_TRAP)) {
        __builtin_trap();
    } else if (is(document, FAKE_SOCKET)) {
        (void)syscall(SYS_socket, 0, 0, 0);
    } else if (is(document, FAKE_DESCRIPTORS)) {
        ret_text->text_chars = count_descriptors();
    } else if (is(document, FAKE_ENVIRONMENT)) {
        ret_text->text_chars = count_environment();
    } else if (is(document, FAKE_PASSWORD)) {
        ret_text->text_chars = (uint32_t)document->password_bytes;
    } else if (is(document, FAKE_FLOOD)) {
        ret_text->page_count = PDF_PAGES_MAX;
    }
    return PDF_READ;
}

void measure_keep_pages(struct measure_document *document)
{
    document->keeps_pages = true;
}

/* Two pieces: page 1, then page 2, which may be missing. */
bool measure_next_pages(struct measure_document *document, struct pdf_pages *ret_piece)
{
    if (!document->keeps_pages || document->pieces == 2) {
        return false;
    }
    if (document->pieces == 1 && is(document, FAKE_SLEEP_PAGES)) {
        sleep_for_ever();
    }
    document->pieces++;
    *ret_piece =
        (struct pdf_pages){.text = SLICE("page\n"),
                           .count = document->pieces,
                           .end = document->pieces == 2 ? PDF_PAGES_WHOLE : PDF_PAGES_STOPPED};
    return true;
}

enum pdf_cut measure_tables(struct measure_document *document, uint32_t page,
                            struct pdf_explanation *ret_explanation)
{
    (void)page;
    *ret_explanation = (struct pdf_explanation){.words = 7};
    if (is(document, FAKE_SLEEP_LATER)) {
        sleep_for_ever();
    } else if (is(document, FAKE_TRAP_LATER)) {
        __builtin_trap();
    } else if (is(document, FAKE_CUT)) {
        return PDF_CUT_RULINGS;
    } else if (is(document, FAKE_CUT_EARLY)) {
        document->on_cut(document->user, PDF_CUT_PATHS);
        if (document->keeps_pages) {
            return PDF_CUT_PATHS; /* the rest of the page is rendered */
        }
        sleep_for_ever();
    }
    return PDF_CUT_NONE;
}

void measure_sketch(struct measure_document *document, const struct pdf_explanation *explanation,
                    struct family_sketch *ret_sketch)
{
    (void)document;
    (void)explanation;
    ret_sketch->count = 0;
}

bool measure_draw(struct measure_document *document, const struct pdf_explanation *explanation,
                  struct slice *ret_png)
{
    (void)document;
    (void)explanation;
    *ret_png = SLICE(FAKE_PICTURE);
    return true;
}
