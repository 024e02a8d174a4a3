/*
 * pdf_cancel.c: a cancel flag that a thread in poll(2) notices, by an eventfd.
 */
#include "server/jobs/pdf/pdf_worker.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum err pdf_cancel_open(struct pdf_cancel *cancel)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (fd < 0) {
        return ERR_MEMORY;
    }
    atomic_init(&cancel->cancelled, false);
    cancel->fd = fd;
    return OK;
}

void pdf_cancel_set(struct pdf_cancel *cancel)
{
    if (!atomic_exchange(&cancel->cancelled, true)) {
        (void)eventfd_write(cancel->fd, 1); /* cannot fail for a counter of 0 */
    }
}

void pdf_cancel_close(struct pdf_cancel *cancel)
{
    if (cancel->fd >= 0) {
        (void)close(cancel->fd);
    }
    cancel->fd = -1;
}
