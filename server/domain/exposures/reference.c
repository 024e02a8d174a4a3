/*
 * reference.c: the text of a reference. Base64url (RFC 4648, no padding, left-over bits zero) of:
 *
 *     1   the version of this layout, + 128 if the document's layout had enough examples, + 64 if examples are of
 *         documents, + 32 if artifacts of AGENT_PROMPT were in SHADOW
 *     1   kind * 16 + arm * 4 + 2 if versions are in the list + 1 if its hash replaces it
 *     8   when it was served, microseconds since 1970, big-endian
 *     v the last event that was stored when it was served
 *     v   how many artifacts there are
 *     1   if examples are of documents: the bits of the kinds of annotators, + 1 if superseded corrections are included
 *     1   of SCORE: the verdicts: base + 4 * live + 16 * shadow
 *     1   if artifacts were in SHADOW: how many of them, which are the last ones of the list
 *         each: v the distance from the one before (the first: from the last event) to its number,
 *               its sign in the lowest bit; v its version, if versions are listed (else all are 1);
 *               of MATCHES v its lines;
 *               of SCORE v its count, v twice its accuracy in percent, or, if that is not a whole number, twice the
 *               billionths + 1, and 1 byte: the gate + 4 if reduced + 8 if in SHADOW + 16 if it raises scores
 *         or 16 bytes that replace a list that is too long
 *    16   the text's hash
 *    16   the tag: HMAC-SHA256, by the server's key, of the organisation's 16 bytes and all of the above
 *
 * where v is a variable-length number as in protobuf: seven bits a byte, the lowest first. A
 * reference does not contain the organisation; with the token of another organisation the tag
 * differs.
 */
#include "server/domain/exposures/exposures.h"

#include "server/domain/events/annotator_kinds.h"
#include "store/base/assert.h"
#include "store/base/base64.h"
#include "store/base/bytes.h"
#include "store/base/wire.h"

#define LAYOUT_VERSION 1
#define FLAG_READY 0x80u
#define FLAG_DOCUMENTS 0x40u
#define FLAG_SHADOWS 0x20u
#define FIRST_FLAGS (FLAG_READY | FLAG_DOCUMENTS | FLAG_SHADOWS)
#define DOCUMENTS_SUPERSEDED 1u
#define TAG_BYTES 16
#define LIST_HASH_BYTES 16
#define FLAG_HASHED 1u
#define FLAG_VERSIONS 2u
#define ARM_MAX 3u
#define VERDICT_BITS 2
#define VERDICT_MAX 3u
#define RULE_GATE 3u
#define RULE_REDUCED 4u
#define RULE_SHADOW 8u
#define RULE_RAISES 16u
/* Billionths of one percent. */
#define PERCENT UINT64_C(10000000)

#define VARINT64_BYTES_MAX 10
#define VARINT32_BYTES_MAX 5
/* Maximum bytes before the list: version, flags, time, documents or verdicts or artifacts in SHADOW, two numbers. */
#define HEAD_BYTES_MAX (3 + 8 + VARINT64_BYTES_MAX + VARINT32_BYTES_MAX)
#define ARTIFACT_BYTES_MAX (3 * VARINT64_BYTES_MAX + VARINT32_BYTES_MAX + 1)
#define TAIL_BYTES (EXPOSURE_TEXT_HASH_BYTES + TAG_BYTES)
#define REFERENCE_BYTES_MAX (EXPOSURE_REFERENCE_CHARACTERS_MAX / 4 * 3)
/* Maximum artifacts of PLACEHOLDERS: the wording and the item. */
#define PLACEHOLDER_ARTIFACTS_MAX 2
#define LIST_BYTES_MAX (REFERENCE_BYTES_MAX - HEAD_BYTES_MAX - TAIL_BYTES)

void exposure_key_init(struct exposure_key *key, const uint8_t bytes[EXPOSURE_KEY_BYTES])
{
    hmac_key_init(&key->mac, slice_of(bytes, EXPOSURE_KEY_BYTES));
}

static struct sha256_digest tag_of(const struct exposure_key *key, struct org_id org,
                                   struct slice bytes)
{
    const struct slice pieces[] = {slice_of(org.uuid.bytes, UUID_BYTES), bytes};

    return hmac_sha256(&key->mac, pieces, sizeof(pieces) / sizeof(pieces[0]));
}

/* Encodes a signed distance as an unsigned number; small distances become small numbers
 * (zigzag). */
static uint64_t fold_distance(uint64_t from, uint64_t to)
{
    return to >= from ? (to - from) << 1 : (from - to - 1) << 1 | 1;
}

static uint64_t unfold_distance(uint64_t from, uint64_t folded)
{
    return (folded & 1) == 0 ? from + (folded >> 1) : from - (folded >> 1) - 1;
}

static bool has_versions(const struct exposure *exposure)
{
    for (size_t i = 0; i < exposure->artifact_count; i++) {
        if (exposure->artifacts[i].version != 1) {
            return true;
        }
    }
    return false;
}

/* Writes the effect of a rule. Returns the number of bytes. */
static size_t put_rule(uint8_t *to, const struct exposed_rule *rule)
{
    uint64_t accuracy =
        rule->accuracy % PERCENT == 0 ? rule->accuracy / PERCENT << 1 : rule->accuracy << 1 | 1;
    size_t size = wire_write_varint(to, rule->count);

    size += wire_write_varint(to + size, accuracy);
    to[size] = (uint8_t)((unsigned)rule->suppressed_by | (rule->reduced ? RULE_REDUCED : 0) |
                         (rule->shadow ? RULE_SHADOW : 0) | (rule->raises ? RULE_RAISES : 0));
    return size + 1;
}

/* Writes the list, for which there are LIST_BYTES_MAX bytes; returns false if it may not fit. */
static bool put_list(uint8_t *to, const struct exposure *exposure, bool versions, size_t *ret_size)
{
    uint64_t before = exposure->as_of_seq;
    size_t size = 0;

    if (exposure->artifact_count > EXPOSURE_ARTIFACTS_MAX) {
        return false;
    }
    for (size_t i = 0; i < exposure->artifact_count; i++) {
        const struct exposed_artifact *artifact = &exposure->artifacts[i];

        if (size > LIST_BYTES_MAX - ARTIFACT_BYTES_MAX) {
            return false;
        }
        size += wire_write_varint(to + size, fold_distance(before, artifact->seq));
        if (versions) {
            size += wire_write_varint(to + size, artifact->version);
        }
        if (exposure->kind == EXPOSURE_KIND_MATCHES) {
            size += wire_write_varint(to + size, artifact->line_count);
        } else if (exposure->kind == EXPOSURE_KIND_SCORE) {
            size += put_rule(to + size, &artifact->rule);
        }
        before = artifact->seq;
    }
    *ret_size = size;
    return true;
}

/* Computes the hash that replaces a list that is too long: a chain of digests, each of the previous
 * digest (at first zeros) and an artifact's number, version and lines, big-endian. */
static void put_list_hash(uint8_t *to, const struct exposure *exposure)
{
    struct sha256_digest digest = {{0}};
    uint8_t artifact[16];

    for (size_t i = 0; i < exposure->artifact_count; i++) {
        const struct slice pieces[] = {slice_of(digest.bytes, SHA256_BYTES),
                                       slice_of(artifact, sizeof(artifact))};

        bytes_put_be64(artifact, exposure->artifacts[i].seq);
        bytes_put_be32(artifact + 8, exposure->artifacts[i].version);
        bytes_put_be32(artifact + 12, exposure->artifacts[i].line_count);
        digest = sha256_pieces(pieces, 2);
    }
    memcpy(to, digest.bytes, LIST_HASH_BYTES);
}

/* Writes the selection of corrections that the examples of documents show. Returns the number of bytes. */
static size_t put_documents(uint8_t *to, const struct exposed_documents *documents)
{
    if (!documents->is_used) {
        return 0;
    }
    *to = (uint8_t)(documents->annotator_kinds |
                    (documents->include_superseded ? DOCUMENTS_SUPERSEDED : 0));
    return 1;
}

/* Writes the verdicts of the scores. Returns the number of bytes. */
static size_t put_verdicts(uint8_t *to, const struct exposure *exposure)
{
    const struct exposed_verdicts *verdicts = &exposure->verdicts;

    if (exposure->kind != EXPOSURE_KIND_SCORE) {
        return 0;
    }
    *to = (uint8_t)((unsigned)verdicts->base | (unsigned)verdicts->live << VERDICT_BITS |
                    (unsigned)verdicts->shadow << 2 * VERDICT_BITS);
    return 1;
}

/* Writes the subcategory and the signals of placeholders, which have too few artifacts to fill a reference. Returns the
 * number of bytes. */
static size_t put_placeholders(uint8_t *to, const struct exposure *exposure)
{
    const struct exposed_placeholders *placeholders = &exposure->placeholders;
    size_t size = 0;

    if (exposure->kind != EXPOSURE_KIND_PLACEHOLDERS) {
        return 0;
    }
    ASSERT(placeholders->subcategory.size <= EXPOSURE_SUBCATEGORY_BYTES_MAX);
    ASSERT(exposure->artifact_count <= PLACEHOLDER_ARTIFACTS_MAX);
    to[size++] = (uint8_t)placeholders->signals;
    size += wire_write_varint(to + size, placeholders->subcategory.size);
    if (placeholders->subcategory.size > 0) {
        memcpy(to + size, placeholders->subcategory.data, placeholders->subcategory.size);
    }
    return size + placeholders->subcategory.size;
}

/* Counts the artifacts in SHADOW, which are the last ones. */
static size_t count_shadows(const struct exposure *exposure)
{
    bool may_have = exposure->kind == EXPOSURE_KIND_AGENT_PROMPT;
    size_t count = 0;

    for (size_t i = 0; may_have && i < exposure->artifact_count; i++) {
        ASSERT(exposure->artifacts[i].shadow || count == 0);
        count += exposure->artifacts[i].shadow;
    }
    ASSERT(count <= UINT8_MAX);
    return count;
}

/* Writes how many artifacts were in SHADOW. Returns the number of bytes. */
static size_t put_shadows(uint8_t *to, size_t count)
{
    *to = (uint8_t)count;
    return count > 0 ? 1 : 0;
}

static uint8_t first_byte_of(const struct exposure *exposure, size_t shadow_count)
{
    return (uint8_t)(LAYOUT_VERSION | (exposure->layout_ready ? FLAG_READY : 0) |
                     (exposure->documents.is_used ? FLAG_DOCUMENTS : 0) |
                     (shadow_count > 0 ? FLAG_SHADOWS : 0));
}

/* Writes all but the tag; returns the number of bytes. */
static size_t encode(const struct exposure *exposure, uint8_t *bytes)
{
    bool versions = has_versions(exposure);
    unsigned flags = versions ? FLAG_VERSIONS : 0;
    size_t size = 10;
    size_t list_size = LIST_HASH_BYTES;
    size_t shadow_count = count_shadows(exposure);

    bytes[0] = first_byte_of(exposure, shadow_count);
    bytes_put_be64(bytes + 2, (uint64_t)exposure->served_at_us);
    size += wire_write_varint(bytes + size, exposure->as_of_seq);
    size += wire_write_varint(bytes + size, exposure->artifact_count);
    size += put_documents(bytes + size, &exposure->documents);
    size += put_verdicts(bytes + size, exposure);
    size += put_placeholders(bytes + size, exposure);
    size += put_shadows(bytes + size, shadow_count);
    if (!put_list(bytes + size, exposure, versions, &list_size)) {
        list_size = LIST_HASH_BYTES;
        flags = FLAG_HASHED;
        put_list_hash(bytes + size, exposure);
    }
    bytes[1] = (uint8_t)((unsigned)exposure->kind << 4 | (unsigned)exposure->arm << 2 | flags);
    size += list_size;
    memcpy(bytes + size, exposure->text_hash, EXPOSURE_TEXT_HASH_BYTES);
    return size + EXPOSURE_TEXT_HASH_BYTES;
}

/* Writes the bytes of a reference with its tag; returns their number. */
static size_t encode_tagged(const struct exposure_key *key, struct org_id org,
                            const struct exposure *exposure, uint8_t bytes[REFERENCE_BYTES_MAX])
{
    size_t size = encode(exposure, bytes);
    struct sha256_digest tag = tag_of(key, org, slice_of(bytes, size));

    memcpy(bytes + size, tag.bytes, TAG_BYTES);
    return size + TAG_BYTES;
}

void exposure_write(const struct exposure_key *key, struct org_id org,
                    const struct exposure *exposure, uint32_t field, struct buffer *body)
{
    uint8_t bytes[REFERENCE_BYTES_MAX];
    size_t size = encode_tagged(key, org, exposure, bytes);

    wire_put_header(body, field, BASE64_DIGITS(size));
    if (buffer_reserve(body, BASE64_DIGITS(size))) {
        body->size += base64_write(slice_of(bytes, size), BASE64_URL, body->data + body->size);
    }
}

enum err exposure_reference(struct arena *arena, const struct exposure_key *key, struct org_id org,
                            const struct exposure *exposure, struct slice *ret_reference)
{
    uint8_t bytes[REFERENCE_BYTES_MAX];
    size_t size = encode_tagged(key, org, exposure, bytes);
    uint8_t *text = arena_alloc(arena, BASE64_DIGITS(size));

    if (text == NULL) {
        return ERR_MEMORY;
    }
    *ret_reference = slice_of(text, base64_write(slice_of(bytes, size), BASE64_URL, text));
    return OK;
}

/* Reads the next number; returns false if there is none, or if it exceeds `max`. */
static bool take_number(struct slice *rest, uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (!wire_take_packed(rest, WIRE_VARINT, &value) || value > max) {
        return false;
    }
    *ret_value = value;
    return true;
}

static bool take_byte(struct slice *rest, uint8_t *ret_byte)
{
    if (rest->size == 0) {
        return false;
    }
    *ret_byte = rest->data[0];
    *rest = slice_after(*rest, 1);
    return true;
}

static bool take_rule(struct slice *rest, struct exposed_rule *rule)
{
    uint64_t accuracy = 0;
    uint8_t effect = 0;

    if (!take_number(rest, UINT64_MAX, &rule->count) || !take_number(rest, UINT64_MAX, &accuracy) ||
        !take_byte(rest, &effect) ||
        !score_gate_from_wire((int32_t)(effect & RULE_GATE), &rule->suppressed_by)) {
        return false;
    }
    rule->accuracy = (accuracy & 1) != 0 ? accuracy >> 1 : (accuracy >> 1) * PERCENT;
    rule->reduced = (effect & RULE_REDUCED) != 0;
    rule->shadow = (effect & RULE_SHADOW) != 0;
    rule->raises = (effect & RULE_RAISES) != 0;
    return true;
}

/* Reads the verdicts of the scores. */
static bool take_verdicts(struct slice *rest, struct exposed_verdicts *verdicts)
{
    uint8_t byte = 0;

    return take_byte(rest, &byte) &&
           verdict_from_wire((int32_t)(byte & VERDICT_MAX), &verdicts->base) &&
           verdict_from_wire((int32_t)(byte >> VERDICT_BITS & VERDICT_MAX), &verdicts->live) &&
           verdict_from_wire((int32_t)(byte >> 2 * VERDICT_BITS & VERDICT_MAX), &verdicts->shadow);
}

/* Reads the next artifact; its seq is still the distance. */
static bool take_artifact(struct slice *rest, unsigned flags, const struct exposure *exposure,
                          struct exposed_artifact *artifact)
{
    uint64_t distance = 0;
    uint64_t version = 1;
    uint64_t line_count = 0;

    if (!take_number(rest, UINT64_MAX, &distance) ||
        ((flags & FLAG_VERSIONS) != 0 && !take_number(rest, UINT32_MAX, &version)) ||
        (exposure->kind == EXPOSURE_KIND_MATCHES && !take_number(rest, UINT32_MAX, &line_count)) ||
        (exposure->kind == EXPOSURE_KIND_SCORE && !take_rule(rest, &artifact->rule))) {
        return false;
    }
    artifact->seq = distance;
    artifact->version = (uint32_t)version;
    artifact->line_count = (uint32_t)line_count;
    return true;
}

/* Reads how many of the artifacts were in SHADOW. */
static bool take_shadows(struct slice *rest, const struct exposure *exposure, uint8_t *ret_count)
{
    return exposure->kind == EXPOSURE_KIND_AGENT_PROMPT && take_byte(rest, ret_count) &&
           *ret_count > 0 && *ret_count <= exposure->artifact_count;
}

/* Reads the artifacts into the arena; the last `shadow_count` were in SHADOW. */
static enum err take_list(struct arena *arena, struct slice *rest, unsigned flags,
                          size_t shadow_count, struct exposure *exposure)
{
    struct exposed_artifact *artifacts = NULL;
    uint64_t before = exposure->as_of_seq;

    if (exposure->artifact_count > EXPOSURE_ARTIFACTS_MAX) {
        return ERR_INVALID;
    }
    artifacts = arena_calloc(arena, exposure->artifact_count + 1, sizeof(*artifacts));
    if (artifacts == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < exposure->artifact_count; i++) {
        if (!take_artifact(rest, flags, exposure, &artifacts[i])) {
            return ERR_INVALID;
        }
        artifacts[i].seq = unfold_distance(before, artifacts[i].seq);
        artifacts[i].shadow = i >= exposure->artifact_count - shadow_count;
        before = artifacts[i].seq;
    }
    exposure->artifacts = artifacts;
    exposure->is_listed = true;
    return OK;
}

/* Reads the selection of corrections that the examples of documents show. */
static bool take_documents(struct slice *rest, struct exposed_documents *documents)
{
    uint8_t byte = 0;

    if (!take_byte(rest, &byte)) {
        return false;
    }
    *documents = (struct exposed_documents){
        .is_used = true,
        .include_superseded = (byte & DOCUMENTS_SUPERSEDED) != 0,
        .annotator_kinds = byte & ~DOCUMENTS_SUPERSEDED,
    };
    return annotator_kinds_is_valid(documents->annotator_kinds);
}

/* Reads the subcategory and the signals of placeholders. */
static bool take_placeholders(struct slice *rest, struct exposed_placeholders *placeholders)
{
    uint64_t size = 0;
    uint8_t signals = 0;

    if (!take_byte(rest, &signals) || (signals & 1u) != 0 ||
        signals >= 1u << EXPOSURE_SIGNALS_END ||
        !take_number(rest, EXPOSURE_SUBCATEGORY_BYTES_MAX, &size) || size > rest->size) {
        return false;
    }
    placeholders->signals = signals;
    placeholders->subcategory = slice_of(rest->data, (size_t)size);
    *rest = slice_after(*rest, (size_t)size);
    return true;
}

/* Reads the members that only some kinds have. */
static bool take_more(struct slice *rest, bool has_documents, struct exposure *exposure)
{
    if (has_documents && !take_documents(rest, &exposure->documents)) {
        return false;
    }
    if (exposure->kind == EXPOSURE_KIND_SCORE && !take_verdicts(rest, &exposure->verdicts)) {
        return false;
    }
    return exposure->kind != EXPOSURE_KIND_PLACEHOLDERS ||
           take_placeholders(rest, &exposure->placeholders);
}

/* Reads bytes whose tag was valid, without the tag. They are the server's own, but may have a newer
 * layout. */
static enum err decode(struct arena *arena, struct slice bytes, struct exposure *exposure)
{
    struct slice rest = {NULL, 0};
    unsigned flags = 0;
    uint64_t count = 0;
    uint8_t shadow_count = 0;
    enum err err = OK;

    if (bytes.size < 10 || (bytes.data[0] & ~FIRST_FLAGS) != LAYOUT_VERSION ||
        !exposure_kind_from_wire(bytes.data[1] >> 4, &exposure->kind) ||
        !experiment_arm_from_wire((int32_t)(bytes.data[1] >> 2 & ARM_MAX), &exposure->arm)) {
        return ERR_INVALID;
    }
    exposure->layout_ready = (bytes.data[0] & FLAG_READY) != 0;
    flags = bytes.data[1] & (FLAG_HASHED | FLAG_VERSIONS);
    exposure->served_at_us = (int64_t)bytes_get_be64(bytes.data + 2);
    rest = slice_after(bytes, 10);
    if (!take_number(&rest, UINT64_MAX, &exposure->as_of_seq) ||
        !take_number(&rest, SIZE_MAX, &count)) {
        return ERR_INVALID;
    }
    exposure->artifact_count = (size_t)count;
    if (exposure->kind == EXPOSURE_KIND_PLACEHOLDERS && count > PLACEHOLDER_ARTIFACTS_MAX) {
        return ERR_INVALID;
    }
    if (!take_more(&rest, (bytes.data[0] & FLAG_DOCUMENTS) != 0, exposure) ||
        ((bytes.data[0] & FLAG_SHADOWS) != 0 && !take_shadows(&rest, exposure, &shadow_count))) {
        return ERR_INVALID;
    }
    if ((flags & FLAG_HASHED) == 0) {
        err = take_list(arena, &rest, flags, shadow_count, exposure);
    } else if (rest.size >= LIST_HASH_BYTES) {
        rest = slice_after(rest, LIST_HASH_BYTES);
    }
    if (err != OK || rest.size != EXPOSURE_TEXT_HASH_BYTES) {
        return err != OK ? err : ERR_INVALID;
    }
    memcpy(exposure->text_hash, rest.data, EXPOSURE_TEXT_HASH_BYTES);
    return OK;
}

enum err exposure_read(struct arena *arena, const struct exposure_key *key, struct org_id org,
                       struct slice reference, struct exposure *ret_exposure)
{
    struct exposure exposure = {.artifact_count = 0};
    struct sha256_digest tag;
    struct slice signed_bytes;
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum err err = OK;

    if (reference.size > EXPOSURE_REFERENCE_CHARACTERS_MAX) {
        return ERR_INVALID;
    }
    bytes = arena_alloc(arena, reference.size + 1);
    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    if (!base64_read(reference, BASE64_URL | BASE64_EXACT, bytes, &size) || size < TAG_BYTES) {
        return ERR_INVALID;
    }
    signed_bytes = slice_of(bytes, size - TAG_BYTES);
    tag = tag_of(key, org, signed_bytes);
    if (!hmac_equal(tag.bytes, bytes + signed_bytes.size, TAG_BYTES)) {
        return ERR_INVALID;
    }
    err = decode(arena, signed_bytes, &exposure);
    if (err == OK) {
        *ret_exposure = exposure;
    }
    return err;
}
