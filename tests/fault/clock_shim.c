/*
 * clock_shim.c: clocks that are set ahead or back on request, between a program and libc by LD_PRELOAD.
 * The file that JUMPING_CLOCK names, which a test maps too, has two numbers of 64 bits: nanoseconds that
 * are added to the wall clock, and to the monotonic one (as if the machine had slept). Waits with an
 * absolute time use the kernel's clock, so the offset is subtracted from their times.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000ll

struct offsets {
    atomic_int_fast64_t wall_ns;
    atomic_int_fast64_t monotonic_ns;
};

typedef int wait_function(pthread_cond_t *condition, pthread_mutex_t *mutex,
                          const struct timespec *until);

static struct offsets *offsets; /* NULL: unchanged clocks */

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("JUMPING_CLOCK");
    int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    void *map = NULL;

    if (file >= 0) {
        map = mmap(NULL, sizeof(*offsets), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        (void)close(file);
        offsets = map == MAP_FAILED ? NULL : map;
    }
}

static int64_t offset_of(clockid_t id)
{
    if (offsets == NULL) {
        return 0;
    }
    switch (id) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
        return atomic_load(&offsets->wall_ns);
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
        return atomic_load(&offsets->monotonic_ns);
    default:
        return 0;
    }
}

static void add(struct timespec *time, int64_t ns)
{
    int64_t sum = (int64_t)time->tv_nsec + ns % SECOND_NS;
    int64_t carry = sum < 0 ? -1 : sum >= SECOND_NS;

    time->tv_sec += ns / SECOND_NS + carry;
    time->tv_nsec = (long)(sum - carry * SECOND_NS);
}

int clock_gettime(clockid_t id, struct timespec *ret_now)
{
    if (syscall(SYS_clock_gettime, id, ret_now) != 0) {
        return -1;
    }
    add(ret_now, offset_of(id));
    return 0;
}

/* Functions that libraries may call; the project itself uses only one clock. */
int shim_time_of_day(struct timeval *ret_now, void *zone) __asm__("gettimeofday");
time_t shim_time(time_t *ret_now) __asm__("time");

int shim_time_of_day(struct timeval *ret_now, void *zone)
{
    struct timespec now;

    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) {
        return -1;
    }
    ret_now->tv_sec = now.tv_sec;
    ret_now->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t shim_time(time_t *ret_now)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (ret_now != NULL) {
        *ret_now = now.tv_sec;
    }
    return now.tv_sec;
}

/* All condition variables of the program under test use the monotonic clock. */
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *until)
{
    wait_function *next =
        (wait_function *)dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    struct timespec moment = *until;

    add(&moment, -offset_of(CLOCK_MONOTONIC));
    return next(condition, mutex, &moment);
}
