/*
 * verify_message.c: checks of received messages.
 */
#include "server/app/verify_message.h"

/* Reads a bool's byte: reading a value other than 0 or 1 as a bool is undefined. */
static bool is_bool(const bool *value)
{
    uint8_t byte = 0;

    _Static_assert(sizeof(*value) == sizeof(byte), "a bool is a byte");
    memcpy(&byte, value, sizeof(byte));
    return byte <= 1;
}

bool verify_message_holds(const struct verify_message *message)
{
    const struct replay_report *report = &message->report;

    if (!is_bool(&message->ended) || !is_bool(&message->damaged) ||
        (unsigned)message->stage > VERIFY_AT_COMPARE || (unsigned)message->err >= ERR_COUNT ||
        (unsigned)report->broken_by > REPLAY_NO_ORGANIZATION ||
        memchr(message->why, '\0', sizeof(message->why)) == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < report->difference_count && i < REPLAY_DIFFERENCES_MAX; i++) {
        const struct replay_difference *difference = &report->differences[i];

        if ((unsigned)difference->kind > REPLAY_ROW_OTHER ||
            (unsigned)difference->table >= TABLE_COUNT ||
            difference->key_bytes > STORE_KEY_BYTES_MAX) {
            return false;
        }
    }
    return true;
}
