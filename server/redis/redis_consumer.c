/*
 * redis_consumer.c: see redis_consumer.h. At most a few commands are under way at once; the kinds of their replies wait in
 * a queue.
 */
#include "server/redis/redis_consumer.h"

#include "server/redis/redis_command.h"
#include "store/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

/* Replies that may be due at once: acknowledgement, lag, and a read. */
#define REPLIES_MAX 4
/* Memory of commands that wait to be sent: the names, the password, a batch of ids. */
#define OUTPUT_BYTES_MAX (64u * 1024)

enum reply_kind {
    REPLY_AUTH,
    REPLY_GROUP,
    REPLY_PENDING, /* own pending entries */
    REPLY_NEW,
    REPLY_CLAIM,
    REPLY_ACK,
    REPLY_INFO
};

struct redis_consumer {
    struct redis_consumer_config config;
    enum redis_state state;
    enum redis_want want;
    bool stopping;
    struct slice password; /* empty: no AUTH */
    struct redis_reader *reader; /* of the connection */
    struct arena output_arena;
    struct buffer output;
    enum reply_kind replies[REPLIES_MAX]; /* due, the next first */
    size_t reply_count;
    int64_t retry_us; /* of WAITING */
    int64_t deadline_us; /* of the next bytes, while some are due */
    unsigned attempts; /* since new entries were read, or waited for */
    bool has_read; /* that was done on this connection */
    bool reads_pending; /* own pending entries come first */
    /* One entry at a time, since some did not fit together; until there are no pending ones. */
    bool reads_one;
    bool can_claim; /* the server knows XAUTOCLAIM */
    bool wants_info; /* the lag is read before the next entries */
    int64_t claim_us; /* of the next search */
    char claim_from[REDIS_ID_BYTES_MAX + 1]; /* where it goes on */
    struct arena batch_arena;
    struct redis_entry *batch; /* in that arena; the texts are in the reader's */
    size_t batch_count;
    char problem[REDIS_PROBLEM_BYTES_MAX];
    struct redis_counts counts;
};

static int64_t now_us(const struct redis_consumer *consumer)
{
    return clock_monotonic_us(consumer->config.clock);
}

static void move_to(struct redis_consumer *consumer, enum redis_state state)
{
    static const unsigned allowed[] = {
        [REDIS_WAITING] = 1u << REDIS_OPENING | 1u << REDIS_STOPPED,
        [REDIS_OPENING] = 1u << REDIS_GREETING | 1u << REDIS_WAITING | 1u << REDIS_STOPPED,
        [REDIS_GREETING] = 1u << REDIS_READING | 1u << REDIS_WAITING | 1u << REDIS_STOPPED,
        [REDIS_READING] =
            1u << REDIS_GREETING | 1u << REDIS_STORING | 1u << REDIS_WAITING | 1u << REDIS_STOPPED,
        [REDIS_STORING] = 1u << REDIS_READING | 1u << REDIS_STRANDED | 1u << REDIS_STOPPED,
        [REDIS_STRANDED] = 1u << REDIS_WAITING | 1u << REDIS_STOPPED,
        [REDIS_STOPPED] = 0};

    ASSERT((allowed[consumer->state] & 1u << state) != 0);
    consumer->state = state;
}

/* Returns a wait of half the step to the whole step. */
static int64_t draw_wait(struct redis_consumer *consumer)
{
    int64_t step = REDIS_RETRY_US_MIN;
    uint64_t random = 0;

    for (unsigned i = 1; i < consumer->attempts && step < REDIS_RETRY_US_MAX; i++) {
        step *= 2;
    }
    step = step < REDIS_RETRY_US_MAX ? step : REDIS_RETRY_US_MAX;
    random_fill(consumer->config.random, &random, sizeof(random));
    return step / 2 + (int64_t)(random % (uint64_t)(step / 2 + 1));
}

void redis_consumer_fail(struct redis_consumer *consumer, const char *why)
{
    if (consumer->state == REDIS_WAITING || consumer->state == REDIS_STRANDED ||
        consumer->state == REDIS_STOPPED) {
        return;
    }
    (void)snprintf(consumer->problem, sizeof(consumer->problem), "%s", why);
    consumer->counts.failures++;
    consumer->attempts++;
    consumer->retry_us = now_us(consumer) + draw_wait(consumer);
    consumer->reply_count = 0;
    redis_consumer_sent(consumer);
    if (consumer->want != REDIS_WANTS_STORE) {
        consumer->want = REDIS_WANTS_CLOSE;
    }
    move_to(consumer, consumer->state == REDIS_STORING ? REDIS_STRANDED : REDIS_WAITING);
}

/* Fails with the text of an error that the server sent. */
static void fail_with(struct redis_consumer *consumer, const char *what, struct slice text)
{
    char why[REDIS_PROBLEM_BYTES_MAX];

    (void)snprintf(why, sizeof(why), "%s: %.*s", what, (int)(text.size < 150 ? text.size : 150),
                   (const char *)text.data);
    for (char *at = why; *at != '\0'; at++) {
        if (*at < ' ') {
            *at = '?'; /* a line of the log */
        }
    }
    redis_consumer_fail(consumer, why);
}

static void send_command(struct redis_consumer *consumer, const struct redis_command *command,
                         enum reply_kind kind)
{
    int64_t wait_us = REDIS_REPLY_US;

    ASSERT(consumer->reply_count < REPLIES_MAX);
    redis_command_append(command, &consumer->output);
    consumer->replies[consumer->reply_count++] = kind;
    if (kind == REPLY_NEW) {
        wait_us += REDIS_BLOCK_MS * INT64_C(1000);
    }
    consumer->deadline_us = now_us(consumer) + wait_us;
}

static void send_group(struct redis_consumer *consumer)
{
    struct redis_command command = {.count = 0};

    redis_command_add_words(&command, "XGROUP CREATE");
    redis_command_add(&command, consumer->config.stream);
    redis_command_add(&command, consumer->config.group);
    redis_command_add_words(&command, "0 MKSTREAM");
    send_command(consumer, &command, REPLY_GROUP);
}

static void send_auth(struct redis_consumer *consumer)
{
    struct redis_command command = {.count = 0};

    redis_command_add_words(&command, "AUTH");
    redis_command_add(&command, consumer->password);
    send_command(consumer, &command, REPLY_AUTH);
}

static void add_names(const struct redis_consumer *consumer, struct redis_command *command)
{
    redis_command_add(command, consumer->config.stream);
    redis_command_add(command, consumer->config.group);
    redis_command_add(command, consumer->config.consumer);
}

static const char *count_of(const struct redis_consumer *consumer)
{
    _Static_assert(REDIS_BATCH_MAX == 64, "the text below is the limit");
    return consumer->reads_one ? "COUNT 1" : "COUNT 64";
}

static void send_read(struct redis_consumer *consumer, bool is_new)
{
    struct redis_command command = {.count = 0};

    redis_command_add_words(&command, "XREADGROUP GROUP");
    redis_command_add(&command, consumer->config.group);
    redis_command_add(&command, consumer->config.consumer);
    redis_command_add_words(&command, count_of(consumer));
    if (is_new) {
        _Static_assert(REDIS_BLOCK_MS == 2000, "the text below is the time");
        redis_command_add_words(&command, "BLOCK 2000");
    }
    redis_command_add_words(&command, "STREAMS");
    redis_command_add(&command, consumer->config.stream);
    redis_command_add_words(&command, is_new ? ">" : "0");
    send_command(consumer, &command, is_new ? REPLY_NEW : REPLY_PENDING);
}

static void send_claim(struct redis_consumer *consumer)
{
    struct redis_command command = {.count = 0};

    _Static_assert(REDIS_CLAIM_IDLE_MS == 60000, "the text below is the time");
    redis_command_add_words(&command, "XAUTOCLAIM");
    add_names(consumer, &command);
    redis_command_add_words(&command, "60000");
    redis_command_add(&command, slice_text(consumer->claim_from));
    redis_command_add_words(&command, count_of(consumer));
    send_command(consumer, &command, REPLY_CLAIM);
}

static void send_info(struct redis_consumer *consumer)
{
    struct redis_command command = {.count = 0};

    redis_command_add_words(&command, "XINFO GROUPS");
    redis_command_add(&command, consumer->config.stream);
    send_command(consumer, &command, REPLY_INFO);
}

/* Sends the next read, whose reply is the last one that is due. */
static void read_on(struct redis_consumer *consumer)
{
    if (consumer->wants_info) {
        consumer->wants_info = false;
        send_info(consumer);
    }
    if (consumer->reads_pending) {
        send_read(consumer, false);
    } else if (consumer->can_claim && now_us(consumer) >= consumer->claim_us) {
        send_claim(consumer);
    } else {
        send_read(consumer, true);
    }
}

void redis_consumer_opened(struct redis_consumer *consumer)
{
    if (consumer->state != REDIS_OPENING) {
        return;
    }
    redis_reader_free(consumer->reader);
    consumer->reader = NULL;
    if (redis_reader_new(&consumer->reader) != OK) {
        redis_consumer_fail(consumer, "no memory for a connection");
        return;
    }
    move_to(consumer, REDIS_GREETING);
    consumer->has_read = false;
    if (consumer->password.size > 0) {
        send_auth(consumer);
    }
    send_group(consumer);
}

static bool starts_with(const struct redis_value *value, const char *text)
{
    return value->kind == REDIS_ERROR && slice_starts_with(value->text, slice_text(text));
}

static void take_greeting(struct redis_consumer *consumer, const struct redis_value *reply)
{
    if (reply->kind == REDIS_ERROR && !starts_with(reply, "BUSYGROUP")) {
        fail_with(consumer, "cannot create the group", reply->text);
        return;
    }
    move_to(consumer, REDIS_READING);
    consumer->problem[0] = '\0';
    consumer->counts.connections++;
    consumer->reads_pending = true; /* one by one, if they were too large for a reply */
    consumer->can_claim = true;
    consumer->claim_us = now_us(consumer);
    (void)snprintf(consumer->claim_from, sizeof(consumer->claim_from), "0-0");
    read_on(consumer);
}

/* Returns whether a text is an id of Redis: digits, a hyphen, digits. */
static bool is_id(const struct redis_value *value)
{
    size_t hyphens = 0;

    if (!redis_is_text(value) || value->text.size == 0 || value->text.size > REDIS_ID_BYTES_MAX) {
        return false;
    }
    for (size_t i = 0; i < value->text.size; i++) {
        uint8_t byte = value->text.data[i];

        hyphens += byte == '-';
        if (byte != '-' && (byte < '0' || byte > '9')) {
            return false;
        }
    }
    return hyphens == 1;
}

/* Takes the names and values of an entry, up to the first that was left out. */
static enum err take_fields(struct redis_consumer *consumer, const struct redis_value *fields,
                            struct redis_entry *entry)
{
    struct slice *texts =
        (struct slice *)arena_calloc(&consumer->batch_arena, fields->capacity + 1, sizeof(*texts));
    size_t count = 0;

    if (texts == NULL) {
        return ERR_MEMORY;
    }
    if (fields->kind != REDIS_LIST || fields->count % 2 != 0) {
        return ERR_MALFORMED;
    }
    while (count + 1 < fields->capacity && redis_is_text(redis_item(fields, count)) &&
           redis_is_text(redis_item(fields, count + 1))) {
        texts[count] = redis_item(fields, count)->text;
        texts[count + 1] = redis_item(fields, count + 1)->text;
        count += 2;
    }
    entry->texts = texts;
    entry->field_count = count / 2;
    entry->is_cut = fields->is_cut;
    return entry->is_cut || count == fields->count ? OK : ERR_MALFORMED;
}

/* Takes one entry: adds it to the batch, or leaves it for later if it did not fit beside others. */
static enum err take_entry(struct redis_consumer *consumer, const struct redis_value *pair)
{
    const struct redis_value *id = NULL;
    const struct redis_value *fields = NULL;
    struct redis_entry *entry = &consumer->batch[consumer->batch_count];
    enum err err = OK;

    if (pair == NULL && consumer->reads_one) {
        return ERR_MALFORMED;
    }
    if (pair == NULL || (pair->is_cut && !consumer->reads_one) ||
        consumer->batch_count == REDIS_BATCH_MAX) {
        consumer->reads_pending = true;
        consumer->reads_one = true;
        return OK;
    }
    if (pair->kind == REDIS_NIL) {
        consumer->counts.gone++; /* deleted, by Redis before version 7 */
        return OK;
    }
    id = redis_item(pair, 0);
    fields = redis_item(pair, 1);
    if (pair->kind != REDIS_LIST || pair->count != 2 || fields == NULL || !is_id(id)) {
        return ERR_MALFORMED;
    }
    entry->id = id->text;
    if (fields->kind == REDIS_NIL) {
        consumer->counts.gone++;
        entry->is_gone = true;
    } else {
        err = take_fields(consumer, fields, entry);
        consumer->counts.entries += err == OK;
    }
    consumer->batch_count += err == OK;
    return err;
}

/* Takes the entries of a reply. Nothing is due after this: the batch is stored, or reading goes on. */
static void take_entries(struct redis_consumer *consumer, const struct redis_value *entries)
{
    enum err err = OK;

    arena_deinit(&consumer->batch_arena);
    consumer->batch = (struct redis_entry *)arena_calloc(&consumer->batch_arena, REDIS_BATCH_MAX,
                                                         sizeof(*consumer->batch));
    consumer->batch_count = 0;
    if (consumer->batch == NULL) {
        redis_consumer_fail(consumer, "no memory for entries");
        return;
    }
    for (uint32_t i = 0; i < entries->count && i <= REDIS_BATCH_MAX && err == OK; i++) {
        err = take_entry(consumer, redis_item(entries, i));
    }
    if (err != OK) {
        redis_consumer_fail(consumer, "the server sent an entry of another form");
    } else if (consumer->batch_count > 0) {
        ASSERT(consumer->reply_count == 0); /* a reply would replace the entries' texts */
        move_to(consumer, REDIS_STORING);
        consumer->want = REDIS_WANTS_STORE;
    } else {
        read_on(consumer);
    }
}

/* Returns the list of entries of `[[stream, entries]]`; NULL for another form. */
static const struct redis_value *find_entries(const struct redis_value *reply)
{
    const struct redis_value *stream = redis_item(reply, 0);
    const struct redis_value *entries = stream != NULL ? redis_item(stream, 1) : NULL;

    return entries != NULL && entries->kind == REDIS_LIST ? entries : NULL;
}

/* Notes that new entries are read. Everything before that may succeed although an error lasts, such as a missing right to
 * claim. */
static void end_failures(struct redis_consumer *consumer)
{
    consumer->attempts = 0;
    consumer->counts.resumed += !consumer->has_read;
    consumer->has_read = true;
}

static void take_read(struct redis_consumer *consumer, const struct redis_value *reply,
                      enum reply_kind kind)
{
    const struct redis_value *entries = find_entries(reply);

    if (kind == REPLY_NEW && (entries != NULL || reply->kind == REDIS_NIL)) {
        end_failures(consumer);
    }
    if (starts_with(reply, "NOGROUP")) {
        move_to(consumer, REDIS_GREETING); /* the stream was deleted */
        send_group(consumer);
    } else if (reply->kind == REDIS_ERROR) {
        fail_with(consumer, "cannot read the stream", reply->text);
    } else if (reply->kind == REDIS_NIL && kind == REPLY_NEW) {
        read_on(consumer);
    } else if (entries == NULL) {
        redis_consumer_fail(consumer, "the server sent a reply of another form");
    } else {
        if (kind == REPLY_PENDING && entries->count == 0) {
            consumer->reads_pending = false;
            consumer->reads_one = false;
        }
        take_entries(consumer, entries);
    }
}

/* Takes `[next, entries, deleted]` of XAUTOCLAIM. */
static void take_claimed(struct redis_consumer *consumer, const struct redis_value *reply)
{
    const struct redis_value *next = redis_item(reply, 0);
    const struct redis_value *entries = redis_item(reply, 1);

    if (starts_with(reply, "ERR unknown command")) {
        consumer->can_claim = false; /* a server before version 6.2 */
        read_on(consumer);
        return;
    }
    if (starts_with(reply, "NOGROUP")) {
        take_read(consumer, reply, REPLY_CLAIM);
        return;
    }
    if (reply->kind == REDIS_ERROR) {
        fail_with(consumer, "cannot claim entries", reply->text);
        return;
    }
    if (!is_id(next) || entries == NULL || entries->kind != REDIS_LIST) {
        redis_consumer_fail(consumer, "the server sent a reply of another form");
        return;
    }
    (void)snprintf(consumer->claim_from, sizeof(consumer->claim_from), "%.*s", (int)next->text.size,
                   (const char *)next->text.data);
    if (slice_equal(next->text, SLICE("0-0"))) {
        consumer->claim_us = now_us(consumer) + REDIS_CLAIM_US;
        consumer->wants_info = true;
    }
    consumer->counts.claimed += entries->count;
    take_entries(consumer, entries);
}

/* Takes the lag of our group from XINFO GROUPS: lists of names and values in turn. */
static void take_info(struct redis_consumer *consumer, const struct redis_value *reply)
{
    for (uint32_t i = 0; i < reply->capacity && reply->kind == REDIS_LIST; i++) {
        const struct redis_value *group = redis_item(reply, i);
        bool is_ours = false;

        for (uint32_t at = 0; group != NULL && at + 1 < group->capacity; at += 2) {
            const struct redis_value *name = redis_item(group, at);
            const struct redis_value *value = redis_item(group, at + 1);

            if (!redis_is_text(name) || value == NULL) {
                continue;
            }
            is_ours = is_ours || (slice_equal(name->text, SLICE("name")) && redis_is_text(value) &&
                                  slice_equal(value->text, consumer->config.group));
            if (is_ours && slice_equal(name->text, SLICE("lag")) && value->kind == REDIS_INTEGER) {
                consumer->counts.lag = value->integer > 0 ? (uint64_t)value->integer : 0;
            }
        }
    }
}

/* Returns the first word of an error: the rest may quote the command. */
static struct slice first_word(struct slice text)
{
    const uint8_t *space = text.size > 0 ? memchr(text.data, ' ', text.size) : NULL;

    return space != NULL ? slice_of(text.data, (size_t)(space - text.data)) : text;
}

static void take_reply(struct redis_consumer *consumer, const struct redis_value *reply)
{
    enum reply_kind kind = consumer->replies[0];

    consumer->reply_count--;
    memmove(consumer->replies, consumer->replies + 1,
            consumer->reply_count * sizeof(consumer->replies[0]));
    switch (kind) {
    case REPLY_AUTH:
        if (reply->kind == REDIS_ERROR) {
            fail_with(consumer, "the password was refused", first_word(reply->text));
        }
        return;
    case REPLY_GROUP:
        take_greeting(consumer, reply);
        return;
    case REPLY_PENDING:
    case REPLY_NEW:
        take_read(consumer, reply, kind);
        return;
    case REPLY_CLAIM:
        take_claimed(consumer, reply);
        return;
    case REPLY_ACK:
        if (reply->kind == REDIS_ERROR) {
            fail_with(consumer, "cannot acknowledge entries", reply->text);
        }
        return;
    case REPLY_INFO:
        take_info(consumer, reply);
        return;
    }
}

static bool is_connected(const struct redis_consumer *consumer)
{
    return consumer->state == REDIS_GREETING || consumer->state == REDIS_READING ||
           consumer->state == REDIS_STORING;
}

void redis_consumer_feed(struct redis_consumer *consumer, struct slice bytes)
{
    while (bytes.size > 0 && is_connected(consumer)) {
        const struct redis_value *reply = NULL;
        enum err err = OK;

        if (consumer->reply_count == 0) {
            redis_consumer_fail(consumer, "the server sent what was not requested");
            return;
        }
        consumer->deadline_us = now_us(consumer) + REDIS_REPLY_US;
        err = redis_reader_feed(consumer->reader, &bytes, &reply);
        if (err == OK) {
            take_reply(consumer, reply);
        } else if (err == ERR_TOO_LARGE) {
            consumer->reads_one = true;
            redis_consumer_fail(consumer, "the server sent a reply that is too large; entries are "
                                          "read one by one");
        } else if (err != ERR_NOT_FOUND) {
            redis_consumer_fail(consumer, "the server sent what is not a reply");
        }
    }
}

/* Acknowledges the stored entries of the batch. */
static void acknowledge(struct redis_consumer *consumer, const bool *is_stored)
{
    struct redis_command command = {.count = 0};
    size_t words = 0;

    redis_command_add_words(&command, "XACK");
    redis_command_add(&command, consumer->config.stream);
    redis_command_add(&command, consumer->config.group);
    words = command.count;
    for (size_t i = 0; i < consumer->batch_count; i++) {
        if (is_stored[i]) {
            redis_command_add(&command, consumer->batch[i].id);
        }
    }
    if (command.count > words) {
        send_command(consumer, &command, REPLY_ACK);
        consumer->counts.acknowledged += command.count - words;
    }
}

void redis_consumer_settle(struct redis_consumer *consumer, const bool *is_stored)
{
    ASSERT(consumer->batch_count > 0);
    if (consumer->state == REDIS_STORING) {
        acknowledge(consumer, is_stored);
    }
    consumer->batch_count = 0;
    if (consumer->stopping) {
        consumer->want = consumer->state == REDIS_STORING ? REDIS_WANTS_CLOSE : REDIS_WANTS_NOTHING;
        move_to(consumer, REDIS_STOPPED);
    } else if (consumer->state == REDIS_STRANDED) {
        move_to(consumer, REDIS_WAITING);
    } else {
        move_to(consumer, REDIS_READING);
        read_on(consumer);
    }
}

void redis_consumer_set_password(struct redis_consumer *consumer, struct slice password)
{
    consumer->password = password;
}

void redis_consumer_tick(struct redis_consumer *consumer)
{
    int64_t now = now_us(consumer);

    if (consumer->state == REDIS_WAITING && now >= consumer->retry_us) {
        move_to(consumer, REDIS_OPENING);
        consumer->deadline_us = now + REDIS_REPLY_US;
        consumer->want = REDIS_WANTS_OPEN;
        return;
    }
    if ((consumer->state == REDIS_OPENING || consumer->reply_count > 0) &&
        now >= consumer->deadline_us) {
        redis_consumer_fail(consumer, consumer->state == REDIS_OPENING
                                          ? "the server did not accept a connection in time"
                                          : "the server did not answer in time");
    }
}

void redis_consumer_stop(struct redis_consumer *consumer)
{
    consumer->stopping = true;
    if (consumer->state == REDIS_STORING || consumer->state == REDIS_STRANDED ||
        consumer->state == REDIS_STOPPED) {
        return; /* settled first */
    }
    consumer->want = consumer->state == REDIS_WAITING ? REDIS_WANTS_NOTHING : REDIS_WANTS_CLOSE;
    move_to(consumer, REDIS_STOPPED);
}

enum redis_want redis_consumer_next(struct redis_consumer *consumer)
{
    enum redis_want want = consumer->want;

    consumer->want = REDIS_WANTS_NOTHING;
    if (want == REDIS_WANTS_STORE && consumer->state == REDIS_STRANDED) {
        consumer->want = REDIS_WANTS_CLOSE; /* lost between the two */
    }
    return want;
}

struct slice redis_consumer_output(struct redis_consumer *consumer)
{
    struct slice output = buffer_slice(&consumer->output);

    if (!buffer_ok(&consumer->output)) {
        redis_consumer_fail(consumer, "no memory for a command");
        output = slice_of(NULL, 0);
    }
    return output;
}

void redis_consumer_sent(struct redis_consumer *consumer)
{
    if (consumer->output.size > 0) {
        explicit_bzero(consumer->output.data, consumer->output.size); /* it may have the password */
    }
    arena_deinit(&consumer->output_arena);
    buffer_init(&consumer->output, &consumer->output_arena, 0);
}

enum err redis_consumer_new(const struct redis_consumer_config *config,
                            struct redis_consumer **ret_consumer)
{
    struct redis_consumer *consumer = (struct redis_consumer *)calloc(1, sizeof(*consumer));

    if (consumer == NULL) {
        return ERR_MEMORY;
    }
    consumer->config = *config;
    consumer->state = REDIS_WAITING;
    arena_init(&consumer->output_arena, OUTPUT_BYTES_MAX);
    arena_init(&consumer->batch_arena, REDIS_REPLY_VALUES_MAX * sizeof(struct slice) * 2);
    buffer_init(&consumer->output, &consumer->output_arena, 0);
    *ret_consumer = consumer;
    return OK;
}

void redis_consumer_free(struct redis_consumer *consumer)
{
    if (consumer == NULL) {
        return;
    }
    redis_reader_free(consumer->reader);
    arena_deinit(&consumer->output_arena);
    arena_deinit(&consumer->batch_arena);
    free(consumer);
}

const struct redis_entry *redis_consumer_batch(const struct redis_consumer *consumer,
                                               size_t *ret_count)
{
    *ret_count = consumer->batch_count;
    return consumer->batch;
}

enum redis_state redis_consumer_state(const struct redis_consumer *consumer)
{
    return consumer->state;
}

const char *redis_consumer_problem(const struct redis_consumer *consumer)
{
    return consumer->problem;
}

struct redis_counts redis_consumer_counts(const struct redis_consumer *consumer)
{
    return consumer->counts;
}
