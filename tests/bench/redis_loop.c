/*
 * redis_loop.c: the lower bound of the time to read a stream: reads a group's new entries 64 at a time and acknowledges
 * them with hiredis' blocking client, and stores nothing. `bench_redis_loop SOCKET STREAM GROUP` prints entries and
 * microseconds.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <time.h>

#define ENTRIES 64
#define WORDS 4

static long long now_us(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

/* Acknowledges the entries of a reply; returns their number. */
static size_t acknowledge(redisContext *redis, const char *const names[2],
                          const redisReply *entries)
{
    const char *words[ENTRIES + WORDS] = {"XACK", names[0], names[1]};
    redisReply *reply = NULL;
    size_t count = entries->elements < ENTRIES ? entries->elements : ENTRIES;

    for (size_t i = 0; i < count; i++) {
        words[i + 3] = entries->element[i]->element[0]->str;
    }
    reply = redisCommandArgv(redis, (int)count + 3, words, NULL);
    freeReplyObject(reply);
    return count;
}

int main(int argc, char **argv)
{
    redisContext *redis = argc == 4 ? redisConnectUnix(argv[1]) : NULL;
    const char *const names[2] = {argc == 4 ? argv[2] : "", argc == 4 ? argv[3] : ""};
    long long begun_us = now_us();
    size_t total = 0;
    size_t count = 0;

    if (redis == NULL || redis->err != 0) {
        (void)fputs("usage: bench_redis_loop SOCKET STREAM GROUP\n", stderr);
        return 2;
    }
    do {
        redisReply *reply =
            redisCommand(redis, "XREADGROUP GROUP %s c COUNT 64 STREAMS %s >", names[1], names[0]);

        count = 0;
        if (reply != NULL && reply->type == REDIS_REPLY_ARRAY) {
            count = acknowledge(redis, names, reply->element[0]->element[1]);
        }
        total += count;
        freeReplyObject(reply);
    } while (count > 0);
    printf("%zu %lld\n", total, now_us() - begun_us);
    redisFree(redis);
    return 0;
}
