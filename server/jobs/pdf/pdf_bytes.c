/*
 * pdf_bytes.c: a document's bytes in a memfd (memfd_create(2)), which is sealed once it is
 * complete: the worker reads exactly the bytes that were hashed, and they cannot change.
 */
#include "server/jobs/pdf/pdf_worker.h"

#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Number and interval of attempts to seal: up to 3 s, including the kernel's own waiting. */
#define SEAL_TRIES 20
#define SEAL_PAUSE_NS 10000000

enum err pdf_bytes_open(struct pdf_bytes *bytes)
{
    int fd = FAULT("pdf.bytes") ? -1 : memfd_create("document", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0) {
        return ERR_MEMORY;
    }
    *bytes = (struct pdf_bytes){.fd = fd};
    return OK;
}

enum err pdf_bytes_append(struct pdf_bytes *bytes, struct slice more)
{
    while (more.size > 0) {
        ssize_t written = write(bytes->fd, more.data, more.size);

        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return errno == ENOSPC || errno == ENOMEM ? ERR_MEMORY : ERR_INTERNAL;
        }
        bytes->size += (uint64_t)written;
        more = slice_after(more, (size_t)written);
    }
    return OK;
}

/* The kernel refuses to seal while it holds pages itself, for example to move them (EBUSY,
 * memfd_wait_for_pins in mm/memfd.c): so it is tried again a little later. */
enum err pdf_bytes_seal(struct pdf_bytes *bytes)
{
    const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    const struct timespec pause = {.tv_nsec = SEAL_PAUSE_NS};

    for (unsigned i = 0; i < SEAL_TRIES; i++) {
        if (fcntl(bytes->fd, F_ADD_SEALS, seals) == 0) {
            return OK;
        }
        if (UNEXPECTED(errno != EBUSY && errno != EINTR)) {
            return ERR_INTERNAL;
        }
        (void)nanosleep(&pause, NULL);
    }
    return ERR_UNAVAILABLE;
}

/* Mapped privately: older kernels refuse a shared mapping of a sealed memfd, even a read-only
 * one. */
enum err pdf_bytes_hash(const struct pdf_bytes *bytes, struct sha256_digest *ret_sha256)
{
    size_t size = (size_t)bytes->size;
    void *data = NULL;

    if (size == 0) {
        *ret_sha256 = sha256(slice_of(NULL, 0));
        return OK;
    }
    data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, bytes->fd, 0);
    if (data == MAP_FAILED) {
        return ERR_MEMORY;
    }
    *ret_sha256 = sha256(slice_of(data, size));
    (void)munmap(data, size);
    return OK;
}

void pdf_bytes_close(struct pdf_bytes *bytes)
{
    if (bytes->fd >= 0) {
        (void)close(bytes->fd);
    }
    *bytes = (struct pdf_bytes){.fd = -1};
}
