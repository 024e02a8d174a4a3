/*
 * plant.c: defects that a soak must find, placed between erratad and its libraries by LD_PRELOAD:
 * with SOAK_PLANT=leak a hundred bytes per call are lost, with SOAK_PLANT=reader one snapshot is kept forever.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEAK_BYTES 100
/* The first reads are those of the start; a transaction of the reactor comes later. */
#define READER_AT 3

static bool is_planted(const char *what)
{
    const char *planted = getenv("SOAK_PLANT");

    return planted != NULL && strcmp(planted, what) == 0;
}

/* Called by nghttp2 once per call. The argument list is nghttp2_submit_response's. */
int nghttp2_submit_response(void *session, int stream_id, const void *fields, size_t count,
                            const void *source);

int nghttp2_submit_response(void *session, int stream_id, const void *fields, size_t count,
                            const void *source)
{
    static int (*next)(void *, int, const void *, size_t, const void *);

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "nghttp2_submit_response");
    }
    if (is_planted("leak")) {
        char *volatile lost = malloc(LEAK_BYTES);

        memset(lost, 1, LEAK_BYTES);
    }
    return next(session, stream_id, fields, count, source);
}

/* The argument list is LMDB's. */
int mdb_txn_begin(void *env, void *parent, unsigned flags, void **txn);

int mdb_txn_begin(void *env, void *parent, unsigned flags, void **txn)
{
    static int (*next)(void *, void *, unsigned, void **);
    static int begun;
    void *kept = NULL;

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "mdb_txn_begin");
    }
    if (is_planted("reader") && flags != 0 && ++begun == READER_AT) {
        (void)next(env, NULL, flags, &kept);
    }
    return next(env, parent, flags, txn);
}
