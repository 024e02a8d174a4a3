/*
 * redis_command.h: appends commands to a buffer in the protocol of Redis, by hiredis' formatter.
 */
#ifndef ERRATA_SERVER_REDIS_REDIS_COMMAND_H
#define ERRATA_SERVER_REDIS_REDIS_COMMAND_H

#include "store/base/buffer.h"

/* Words of a command: XACK with a whole batch, and some. */
#define REDIS_COMMAND_WORDS_MAX 80

struct redis_command {
    struct slice words[REDIS_COMMAND_WORDS_MAX];
    size_t count;
};

/* Adds a word, which is borrowed until redis_command_append. */
void redis_command_add(struct redis_command *command, struct slice word);
/* Does the same for words with spaces between them; `words` is a literal. */
void redis_command_add_words(struct redis_command *command, const char *words);
/* Appends the command; the buffer fails if memory is exhausted. */
void redis_command_append(const struct redis_command *command, struct buffer *output);

#endif
