/*
 * memory_shim.c: a malloc that fails on request, inserted into a program by LD_PRELOAD. Its
 * commands are in a file that FAILING_MALLOC names and that a test maps, too: from which allocation
 * on how many fail, or how many of a million. It counts only in the program that
 * FAILING_MALLOC_PROGRAM names, so that its children are not affected. With FAILING_MALLOC_TRACE,
 * each failure prints its stack.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory for dlsym while the real functions are being looked up; never freed. */
#define EARLY_BYTES (64 * 1024)
#define TRACE_DEPTH 40

/* The file: eight numbers of 64 bits, as tools/failing-malloc has them. */
struct orders {
    atomic_uint_fast64_t allocations; /* number of allocations so far */
    atomic_uint_fast64_t first; /* the first that fails; 0: none */
    atomic_uint_fast64_t count; /* number of allocations that fail from then on */
    atomic_uint_fast64_t of_a_million; /* failures per million, drawn with `seed` */
    atomic_uint_fast64_t seed;
    atomic_uint_fast64_t failed; /* number of failed allocations so far */
    atomic_uint_fast64_t pid; /* process that is counted: the first one */
    uint64_t unused;
};

typedef void *malloc_function(size_t size);
typedef void *calloc_function(size_t count, size_t size);
typedef void *realloc_function(void *old, size_t size);
typedef void free_function(void *old);

static malloc_function *real_malloc;
static calloc_function *real_calloc;
static realloc_function *real_realloc;
static free_function *real_free;
static struct orders *orders; /* NULL: nothing fails */
static bool traces;
static _Thread_local bool tracing;
static _Alignas(16) char early[EARLY_BYTES];
static size_t early_used;

static void *take_early(size_t size)
{
    void *piece = early + early_used;

    size = (size + 15) & ~(size_t)15;
    if (size > sizeof(early) - early_used) {
        abort();
    }
    early_used += size;
    return piece;
}

static bool is_early(const void *piece)
{
    return (const char *)piece >= early && (const char *)piece < early + sizeof(early);
}

static void find_real(void)
{
    static bool looking;

    if (real_free == NULL && !looking) {
        looking = true;
        real_calloc = (calloc_function *)dlsym(RTLD_NEXT, "calloc");
        real_realloc = (realloc_function *)dlsym(RTLD_NEXT, "realloc");
        real_malloc = (malloc_function *)dlsym(RTLD_NEXT, "malloc");
        real_free = (free_function *)dlsym(RTLD_NEXT, "free");
        looking = false;
    }
}

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("FAILING_MALLOC");
    const char *program = getenv("FAILING_MALLOC_PROGRAM");
    void *frames[TRACE_DEPTH];
    void *map = NULL;
    int file = -1;

    find_real();
    if (path == NULL || (program != NULL && strcmp(program, program_invocation_short_name) != 0)) {
        return;
    }
    traces = getenv("FAILING_MALLOC_TRACE") != NULL;
    (void)backtrace(frames, TRACE_DEPTH); /* the first one allocates */
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    map = mmap(NULL, sizeof(*orders), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    (void)close(file);
    if (map != MAP_FAILED) {
        orders = map;
        atomic_store(&orders->pid, (uint_fast64_t)getpid());
    }
}

/* A number from the seed and the allocation's number: the same in each run with the same
 * allocations. */
static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

static void trace(void)
{
    void *frames[TRACE_DEPTH];

    if (traces && !tracing) {
        tracing = true;
        backtrace_symbols_fd(frames, backtrace(frames, TRACE_DEPTH), STDERR_FILENO);
        (void)!write(STDERR_FILENO, "--\n", 3);
        tracing = false;
    }
}

static bool fails(void)
{
    uint64_t number = 0;
    uint64_t first = 0;

    if (orders == NULL || tracing || atomic_load(&orders->pid) != (uint_fast64_t)getpid()) {
        return false;
    }
    number = atomic_fetch_add(&orders->allocations, 1) + 1;
    first = atomic_load(&orders->first);
    if ((first == 0 || number < first || number - first >= atomic_load(&orders->count)) &&
        mix(number + atomic_load(&orders->seed)) % 1000000 >= atomic_load(&orders->of_a_million)) {
        return false;
    }
    atomic_fetch_add(&orders->failed, 1);
    trace();
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    find_real();
    if (real_malloc == NULL) {
        return take_early(size);
    }
    return fails() ? NULL : real_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    find_real();
    if (real_calloc == NULL) {
        return take_early(count * size); /* zeros, since it is never reused */
    }
    return fails() ? NULL : real_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    find_real();
    if (real_realloc == NULL || is_early(old)) {
        void *piece = malloc(size);

        if (piece != NULL && old != NULL) {
            memcpy(piece, old, size); /* from the early block, which is larger */
        }
        return piece;
    }
    return fails() ? NULL : real_realloc(old, size);
}

void free(void *old)
{
    if (!is_early(old) && real_free != NULL) {
        real_free(old);
    }
}
