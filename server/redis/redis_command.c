/*
 * redis_command.c: see redis_command.h.
 */
#include "server/redis/redis_command.h"

#include "store/base/assert.h"

#include <hiredis/hiredis.h>

void redis_command_add(struct redis_command *command, struct slice word)
{
    ASSERT(command->count < REDIS_COMMAND_WORDS_MAX);
    command->words[command->count++] = word;
}

void redis_command_add_words(struct redis_command *command, const char *words)
{
    struct slice rest = slice_text(words);

    while (rest.size > 0) {
        const uint8_t *space = memchr(rest.data, ' ', rest.size);
        size_t size = space != NULL ? (size_t)(space - rest.data) : rest.size;

        redis_command_add(command, slice_of(rest.data, size));
        rest = slice_after(rest, space != NULL ? size + 1 : size);
    }
}

void redis_command_append(const struct redis_command *command, struct buffer *output)
{
    const char *words[REDIS_COMMAND_WORDS_MAX];
    size_t sizes[REDIS_COMMAND_WORDS_MAX];
    char *formatted = NULL;
    int size = 0;

    for (size_t i = 0; i < command->count; i++) {
        words[i] = (const char *)command->words[i].data;
        sizes[i] = command->words[i].size;
    }
    size = redisFormatCommandArgv(&formatted, (int)command->count, words, sizes);
    if (size < 0) {
        output->failed = true;
        return;
    }
    buffer_append(output, slice_of(formatted, (size_t)size));
    redisFreeCommand(formatted);
}
