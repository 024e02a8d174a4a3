/*
 * reader.c: see reader.h. The command's thread runs the client's loop, so another thread waits.
 */
#include "tools/errata/engine/reader.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

static void *run(void *user)
{
    struct pollfd output = {.fd = STDOUT_FILENO}; /* POLLERR is always reported */

    while (poll(&output, 1, -1) < 0 && errno == EINTR) {
    }
    if ((output.revents & POLLERR) != 0) {
        _exit(0);
    }
    return user;
}

void reader_end_without(void)
{
    struct stat status;
    pthread_t thread = 0;

    if (fstat(STDOUT_FILENO, &status) == 0 && S_ISFIFO(status.st_mode) &&
        pthread_create(&thread, NULL, run, NULL) == 0) {
        (void)pthread_detach(thread);
    }
}
