/*
 * quota_book.c: see quota_book.h. A hash table of chains; entries with nothing in use are also in
 * a list by their last call, from which the first is reused. Memory of entries that were never
 * used is never touched.
 */
#include "server/auth/quota_book.h"

#include "store/base/assert.h"

#include <stdlib.h>

#define SLOTS 16384
#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)
#define HASH_SHIFT 50
_Static_assert(SLOTS == 1u << (64 - HASH_SHIFT), "a hash is a slot's index");

#define NS_PER_SECOND INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
/* Before any time, of which differences to a time still fit. */
#define NEVER_NS (INT64_MIN / 2)

struct quota_entry {
    struct quota_holder holder;
    uint64_t version; /* version of the QUOTA table at which the limits were read */
    struct quota_record quota;
    int64_t full_at_ns; /* monotonic: when the bucket of requests is full again, if no call comes */
    uint32_t streams; /* in use */
    uint32_t pdf_jobs;
    struct quota_entry *next_in_slot;
    /* Neighbours in the list of entries with nothing in use, oldest call first. */
    struct quota_entry *older;
    struct quota_entry *newer;
};

struct quota_book {
    struct quota_entry entries[QUOTA_BOOK_HOLDERS_MAX];
    struct quota_entry *slots[SLOTS];
    size_t entry_count; /* entries that were ever used */
    struct quota_entry *oldest; /* the list's ends; NULL: empty */
    struct quota_entry *newest;
};

static const struct {
    const char *field;
    const char *option;
    uint32_t retry_ms;
} kinds[] = {
#define QUOTA_KIND(name, field, option, retry_ms) {field, option, retry_ms},
    QUOTA_KINDS(QUOTA_KIND)
#undef QUOTA_KIND
};

const char *quota_kind_field(enum quota_kind kind)
{
    return kinds[kind].field;
}

const char *quota_kind_option(enum quota_kind kind)
{
    return kinds[kind].option;
}

enum err quota_book_new(struct quota_book **ret_book)
{
    struct quota_book *book = calloc(1, sizeof(*book));

    if (book == NULL) {
        return ERR_MEMORY;
    }
    *ret_book = book;
    return OK;
}

void quota_book_free(struct quota_book *book)
{
    if (book == NULL) {
        return;
    }
    for (size_t i = 0; i < book->entry_count; i++) {
        ASSERT(book->entries[i].streams == 0);
        ASSERT(book->entries[i].pdf_jobs == 0);
    }
    free(book);
}

static bool is_idle(const struct quota_entry *entry)
{
    return entry->streams == 0 && entry->pdf_jobs == 0;
}

static void list_remove(struct quota_book *book, struct quota_entry *entry)
{
    if (entry->older != NULL) {
        entry->older->newer = entry->newer;
    } else {
        book->oldest = entry->newer;
    }
    if (entry->newer != NULL) {
        entry->newer->older = entry->older;
    } else {
        book->newest = entry->older;
    }
    entry->older = NULL;
    entry->newer = NULL;
}

static void list_append(struct quota_book *book, struct quota_entry *entry)
{
    entry->older = book->newest;
    entry->newer = NULL;
    if (book->newest != NULL) {
        book->newest->newer = entry;
    } else {
        book->oldest = entry;
    }
    book->newest = entry;
}

/* Notes a call of an entry. */
static void touch(struct quota_book *book, struct quota_entry *entry)
{
    if (is_idle(entry) && entry != book->newest) {
        list_remove(book, entry);
        list_append(book, entry);
    }
}

/* Returns the slot of a holder. An organisation's id ends in random bits. */
static struct quota_entry **slot_of(struct quota_book *book, const struct quota_holder *holder)
{
    uint64_t bits = 0;

    memcpy(&bits, holder->org.uuid.bytes + UUID_BYTES - sizeof(bits), sizeof(bits));
    bits += holder->is_token ? ((uint64_t)holder->key_id << 1) + 1 : 0;
    return &book->slots[(bits * HASH_FACTOR) >> HASH_SHIFT];
}

static bool is_same(const struct quota_holder *a, const struct quota_holder *b)
{
    return a->key_id == b->key_id && a->is_token == b->is_token &&
           uuid_equal(a->org.uuid, b->org.uuid);
}

static struct quota_entry *find(struct quota_book *book, const struct quota_holder *holder)
{
    struct quota_entry *entry = *slot_of(book, holder);

    while (entry != NULL && !is_same(&entry->holder, holder)) {
        entry = entry->next_in_slot;
    }
    return entry;
}

/* Takes the entry with the oldest call out of the table; NULL if all have something in use. */
static struct quota_entry *forget_oldest(struct quota_book *book)
{
    struct quota_entry *entry = book->oldest;
    struct quota_entry **link = NULL;

    if (entry == NULL) {
        return NULL;
    }
    list_remove(book, entry);
    link = slot_of(book, &entry->holder);
    while (*link != entry) {
        link = &(*link)->next_in_slot;
    }
    *link = entry->next_in_slot;
    return entry;
}

/* Adds a holder; NULL if there is no room. */
static struct quota_entry *add(struct quota_book *book, const struct quota_holder *holder)
{
    struct quota_entry **slot = slot_of(book, holder);
    struct quota_entry *entry = NULL;

    if (book->entry_count < QUOTA_BOOK_HOLDERS_MAX) {
        entry = &book->entries[book->entry_count];
        book->entry_count++;
    } else {
        entry = forget_oldest(book);
    }
    if (entry == NULL) {
        return NULL;
    }
    *entry = (struct quota_entry){.holder = *holder, .full_at_ns = NEVER_NS, .next_in_slot = *slot};
    *slot = entry;
    list_append(book, entry);
    return entry;
}

bool quota_book_find(struct quota_book *book, struct org_id org, uint32_t key_id, uint64_t version,
                     struct quota_user *ret_user)
{
    const struct quota_holder token = {.org = org, .is_token = true, .key_id = key_id};
    const struct quota_holder whole = {.org = org};
    const struct quota_user user = {.org = find(book, &whole), .token = find(book, &token)};

    if (user.org == NULL || user.org->version != version || user.token == NULL ||
        user.token->version != version) {
        return false;
    }
    touch(book, user.token);
    touch(book, user.org);
    *ret_user = user;
    return true;
}

/* Sets the limits of an entry. Another rate or burst begins with a full bucket, since the time of the
 * old one means nothing for it. */
static void set_limits(struct quota_entry *entry, const struct quota_record *quota)
{
    if (entry->quota.requests_per_second != quota->requests_per_second ||
        entry->quota.request_burst != quota->request_burst) {
        entry->full_at_ns = NEVER_NS;
    }
    entry->quota = *quota;
}

/* Finds or adds a holder, and reads its limits. */
static enum err refresh(struct quota_book *book, struct store_txn *txn,
                        const struct quota_holder *holder, uint64_t version,
                        struct quota_entry **ret_entry)
{
    struct quota_record quota;
    struct quota_entry *entry = NULL;
    enum err err = quota_read(txn, holder, &quota);

    if (err != OK) {
        return err;
    }
    entry = find(book, holder);
    if (entry == NULL) {
        entry = add(book, holder);
    } else {
        touch(book, entry);
    }
    if (entry == NULL) {
        return ERR_BUSY;
    }
    set_limits(entry, &quota);
    entry->version = version;
    *ret_entry = entry;
    return OK;
}

enum err quota_book_read(struct quota_book *book, struct store_txn *txn, struct org_id org,
                         uint32_t key_id, uint64_t version, struct quota_user *ret_user)
{
    const struct quota_holder token = {.org = org, .is_token = true, .key_id = key_id};
    const struct quota_holder whole = {.org = org};
    struct quota_user user = {NULL, NULL};
    /* The second one cannot take the place of the first, which is the newest. */
    enum err err = refresh(book, txn, &whole, version, &user.org);

    if (err == OK) {
        err = refresh(book, txn, &token, version, &user.token);
    }
    if (err == OK) {
        *ret_user = user;
    }
    return err;
}

/* The time that one request takes of the bucket, and how far ahead of now it may be full. */
static int64_t interval_ns(const struct quota_record *quota)
{
    return NS_PER_SECOND / quota->requests_per_second;
}

static int64_t tolerance_ns(const struct quota_record *quota)
{
    uint32_t burst = quota->request_burst != 0 ? quota->request_burst : quota->requests_per_second;

    return interval_ns(quota) * (burst - 1);
}

/* Returns how long a request has to wait; 0: it may begin. */
static int64_t wait_ns(const struct quota_entry *entry, int64_t now_ns)
{
    int64_t wait = 0;

    if (entry->quota.requests_per_second == 0) {
        return 0;
    }
    wait = entry->full_at_ns - now_ns - tolerance_ns(&entry->quota);
    return wait > 0 ? wait : 0;
}

static void count_request(struct quota_entry *entry, int64_t now_ns)
{
    if (entry->quota.requests_per_second != 0) {
        int64_t from_ns = entry->full_at_ns > now_ns ? entry->full_at_ns : now_ns;

        entry->full_at_ns = from_ns + interval_ns(&entry->quota);
    }
}

/* Returns the wait in whole milliseconds, rounded up: at most a second, the time of one request. */
static uint32_t wait_ms(int64_t wait)
{
    return (uint32_t)((wait + NS_PER_MS - 1) / NS_PER_MS);
}

bool quota_limits_requests(struct quota_user user)
{
    return user.org->quota.requests_per_second != 0 || user.token->quota.requests_per_second != 0;
}

bool quota_take_request(struct quota_user user, int64_t now_us, struct quota_refusal *ret_refusal)
{
    int64_t now_ns = now_us * 1000;
    int64_t of_org = wait_ns(user.org, now_ns);
    int64_t of_token = wait_ns(user.token, now_ns);
    bool is_token = of_token >= of_org;

    if (of_org > 0 || of_token > 0) {
        const struct quota_entry *entry = is_token ? user.token : user.org;

        *ret_refusal = (struct quota_refusal){
            .kind = QUOTA_REQUESTS,
            .is_token = is_token,
            .limit = entry->quota.requests_per_second,
            .retry_ms = wait_ms(is_token ? of_token : of_org),
        };
        return false;
    }
    count_request(user.org, now_ns);
    count_request(user.token, now_ns);
    return true;
}

/* Use of an entry of a kind that is given back, and its limit; 0: no limit. */
static uint32_t *use_of(struct quota_entry *entry, enum quota_kind kind)
{
    ASSERT(kind == QUOTA_STREAMS || kind == QUOTA_PDF_JOBS);
    return kind == QUOTA_STREAMS ? &entry->streams : &entry->pdf_jobs;
}

static uint32_t limit_of(const struct quota_entry *entry, enum quota_kind kind)
{
    return kind == QUOTA_STREAMS ? entry->quota.concurrent_streams : entry->quota.pdf_jobs;
}

/* Returns whether one more fits below both limits. */
static bool check_room(struct quota_user user, enum quota_kind kind,
                       struct quota_refusal *ret_refusal)
{
    struct quota_entry *const entries[] = {user.org, user.token};

    for (size_t i = 0; i < 2; i++) {
        uint32_t limit = limit_of(entries[i], kind);

        if (limit != 0 && *use_of(entries[i], kind) >= limit) {
            *ret_refusal = (struct quota_refusal){
                .kind = kind,
                .is_token = i == 1,
                .limit = limit,
                .retry_ms = kinds[kind].retry_ms,
            };
            return false;
        }
    }
    return true;
}

/* Takes both entries out of the list, before something of them is in use. */
static void pin(struct quota_book *book, struct quota_user user)
{
    if (is_idle(user.org)) {
        list_remove(book, user.org);
    }
    if (is_idle(user.token)) {
        list_remove(book, user.token);
    }
}

/* Puts an entry with nothing in use back into the list. */
static void unpin(struct quota_book *book, struct quota_entry *entry)
{
    if (is_idle(entry)) {
        list_append(book, entry);
    }
}

bool quota_take(struct quota_book *book, struct quota_user user, enum quota_kind kind,
                struct quota_refusal *ret_refusal)
{
    if (!check_room(user, kind, ret_refusal)) {
        return false;
    }
    pin(book, user);
    (*use_of(user.org, kind))++;
    (*use_of(user.token, kind))++;
    return true;
}

void quota_give(struct quota_book *book, struct quota_user user, enum quota_kind kind)
{
    ASSERT(*use_of(user.org, kind) > 0 && *use_of(user.token, kind) > 0);
    (*use_of(user.org, kind))--;
    (*use_of(user.token, kind))--;
    unpin(book, user.org);
    unpin(book, user.token);
}

bool quota_limits_storage(struct quota_user user, struct quota_refusal *ret_refusal)
{
    *ret_refusal = (struct quota_refusal){
        .kind = QUOTA_STORED_BYTES,
        .limit = user.org->quota.stored_bytes,
        .retry_ms = kinds[QUOTA_STORED_BYTES].retry_ms,
    };
    return user.org->quota.stored_bytes != 0;
}

struct quota_in_use quota_book_usage(struct quota_book *book, const struct quota_holder *holder,
                                     const struct quota_record *quota, int64_t now_us)
{
    static const struct quota_entry unused = {.full_at_ns = NEVER_NS};
    const struct quota_entry *known = find(book, holder);
    const struct quota_entry *entry = known != NULL ? known : &unused;
    struct quota_in_use usage = {.streams = entry->streams, .pdf_jobs = entry->pdf_jobs};
    int64_t full_in_ns = entry->full_at_ns - now_us * 1000;

    if (quota->requests_per_second != 0) {
        int64_t room_ns = tolerance_ns(quota) + interval_ns(quota);

        full_in_ns = full_in_ns > 0 ? full_in_ns : 0;
        usage.requests_available =
            full_in_ns < room_ns ? (uint32_t)((room_ns - full_in_ns) / interval_ns(quota)) : 0;
    }
    return usage;
}
