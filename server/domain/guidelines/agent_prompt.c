/*
 * agent_prompt.c: see agent_prompt.h. A marker is a whole line; the lines of the prompt are read once.
 */
#include "server/domain/guidelines/agent_prompt.h"

#include "server/domain/experiment/arm.h"
#include "server/domain/guidelines/keys.h"
#include "server/domain/guidelines/past.h"
#include "server/domain/text/sanitise.h"

#define MARKER_START "{{RULES:"
#define MARKER_END "}}"
#define HEADING "\n\n## Learned Rules (from feedback)\n"

/* A prompt that is being built. */
struct building {
    struct arena *arena;
    const struct prompt_rule *rules;
    size_t count;
    bool is_placed[GUIDELINES_OF_AGENT_MAX]; /* inserted at a marker */
    struct buffer text;
};

static struct slice name_of(enum rule_type type)
{
    switch (type) {
    case RULE_TYPE_CONSTRAINT:
        return SLICE("CONSTRAINT");
    case RULE_TYPE_GUIDELINE:
        return SLICE("GUIDELINE");
    case RULE_TYPE_NEGATIVE_EXAMPLE:
        return SLICE("NEGATIVE_EXAMPLE");
    case RULE_TYPE_POSITIVE_EXAMPLE:
        return SLICE("POSITIVE_EXAMPLE");
    case RULE_TYPE_UNSPECIFIED:
        break;
    }
    return SLICE("RULE");
}

/* Appends a sanitised rule as one line, with spaces in place of line ends. */
static void put_rule(struct building *building, const struct prompt_rule *rule)
{
    struct sanitised clean = sanitise_text(building->arena, SANITISE_GUIDELINE, rule->text);
    struct slice name = name_of(rule->type);

    if (clean.text.size == 0) {
        return;
    }
    buffer_append(&building->text, SLICE("- ["));
    buffer_append(&building->text, name);
    buffer_append(&building->text, SLICE("] "));
    for (size_t i = 0; i < clean.text.size; i++) {
        uint8_t byte = clean.text.data[i];

        buffer_append_byte(&building->text,
                           byte == '\n' || byte == '\r' || byte == '\t' ? ' ' : byte);
    }
    buffer_append_byte(&building->text, '\n');
}

/* Returns the name of a marker; empty if the line is not one. */
static struct slice marker_of(struct slice line)
{
    const struct slice start = SLICE(MARKER_START);
    const struct slice end = SLICE(MARKER_END);
    struct slice name = {NULL, 0};

    if (line.size > start.size + end.size && slice_starts_with(line, start) &&
        slice_equal(slice_after(line, line.size - end.size), end)) {
        name = slice_of(line.data + start.size, line.size - start.size - end.size);
    }
    for (size_t i = 0; i < name.size; i++) {
        uint8_t byte = name.data[i];

        if (!(byte >= 'a' && byte <= 'z') && !(byte >= 'A' && byte <= 'Z') &&
            !(byte >= '0' && byte <= '9') && byte != '_' && byte != '-') {
            return slice_of(NULL, 0);
        }
    }
    return name;
}

/* Inserts the rules of a marker, unless an earlier marker inserted them. */
static void fill_marker(struct building *building, struct slice name)
{
    for (size_t i = 0; i < building->count; i++) {
        if (!building->is_placed[i] && slice_equal(building->rules[i].insertion_point, name)) {
            put_rule(building, &building->rules[i]);
            building->is_placed[i] = true;
        }
    }
}

/* Copies the lines of the prompt; markers are filled, or removed with their line end. */
static void copy_lines(struct building *building, struct slice base)
{
    struct slice rest = base;

    while (rest.size > 0) {
        const uint8_t *end = memchr(rest.data, '\n', rest.size);
        size_t size = end != NULL ? (size_t)(end - rest.data) : rest.size;
        struct slice line = slice_of(rest.data, size);
        struct slice name = marker_of(line);

        if (name.size > 0) {
            fill_marker(building, name);
        } else {
            buffer_append(&building->text, slice_of(rest.data, end != NULL ? size + 1 : size));
        }
        rest = slice_after(rest, end != NULL ? size + 1 : size);
    }
}

/* Adds a section with the rules that have no marker. */
static void put_section(struct building *building)
{
    bool has_heading = false;

    for (size_t i = 0; i < building->count; i++) {
        if (!building->is_placed[i]) {
            if (!has_heading) {
                buffer_append(&building->text, SLICE(HEADING));
                has_heading = true;
            }
            put_rule(building, &building->rules[i]);
        }
    }
}

enum err agent_prompt_insert(struct arena *arena, struct slice base,
                             const struct prompt_rule *rules, size_t count,
                             struct slice *ret_prompt)
{
    struct building building = {.arena = arena, .rules = rules, .count = count};

    buffer_init(&building.text, arena, base.size + count * 160 + sizeof(HEADING));
    copy_lines(&building, base);
    put_section(&building);
    *ret_prompt = buffer_slice(&building.text);
    return buffer_ok(&building.text) ? OK : ERR_MEMORY;
}

static enum err read_version(struct store_txn *txn, struct org_id org, struct slice agent,
                             uint64_t *ret_version)
{
    struct key key = key_guideline_version(org, agent);

    return log_get_id_row(txn, TABLE_GUIDELINE_VERSION, &key, ret_version);
}

/* Reads the text of a guideline. `ret_id` may be NULL. */
static enum err read_rule(struct store_txn *txn, struct org_id org, uint64_t seq,
                          struct prompt_rule *ret_rule, struct uuid *ret_id)
{
    struct proposal_view view;
    struct event event;
    enum err err = proposal_read_created(txn, org, seq, &event, &view);

    if (err != OK) {
        return err;
    }
    *ret_rule = (struct prompt_rule){
        .type = view.rule_type,
        .text = view.rule_content,
        .insertion_point =
            view.has_insertion_point ? view.insertion_point : SLICE(RULE_INSERTION_POINT_DEFAULT),
    };
    if (ret_id != NULL) {
        *ret_id = view.id;
    }
    return OK;
}

/* Lists the guidelines of the agent, now or then; proposals in SHADOW only of now, since the past has no exposures. */
static enum err list_guidelines(struct store_txn *txn, const struct agent_prompt_query *query,
                                struct agent_guidelines *list, uint64_t *ret_version)
{
    enum err err = OK;

    list->shadow_count = 0;
    if (query->is_past) {
        return agent_guidelines_read_past(txn, query, list, ret_version);
    }
    err = agent_guidelines_read(txn, query->org, query->agent, list);
    return err != OK ? err : read_version(txn, query->org, query->agent, ret_version);
}

enum err agent_prompt_build(struct arena *arena, struct store_txn *txn,
                            const struct agent_prompt_query *query, struct agent_prompt *ret_prompt)
{
    struct prompt_rule rules[GUIDELINES_OF_AGENT_MAX];
    struct agent_guidelines found;
    bool is_held_out = false;
    enum err err = list_guidelines(txn, query, &found, &ret_prompt->version);

    for (size_t i = 0; err == OK && i < found.count; i++) {
        ret_prompt->seqs[i] = found.seqs[i];
        err = read_rule(txn, query->org, found.seqs[i], &rules[i], &ret_prompt->ids[i]);
    }
    if (err == OK) {
        err = arm_of_document(txn, query->org, query->subject_id,
                              query->is_past ? query->as_of_seq : UINT64_MAX, &ret_prompt->arm);
    }
    if (err != OK) {
        return err;
    }
    ret_prompt->count = found.count;
    is_held_out = ret_prompt->arm == EXPERIMENT_ARM_CONTROL;
    ret_prompt->shadow_count = is_held_out ? 0 : found.shadow_count;
    memcpy(ret_prompt->shadow_seqs, found.shadow_seqs,
           ret_prompt->shadow_count * sizeof(found.shadow_seqs[0]));
    return agent_prompt_insert(arena, query->base, rules, is_held_out ? 0 : found.count,
                               &ret_prompt->text);
}

void agent_prompt_hash(struct slice text, uint8_t hash[EXPOSURE_TEXT_HASH_BYTES])
{
    struct sha256_digest digest = sha256(text);

    memcpy(hash, digest.bytes, EXPOSURE_TEXT_HASH_BYTES);
}

enum err agent_prompt_expose(struct arena *arena, const struct agent_prompt *prompt,
                             struct exposure *exposure)
{
    size_t count = prompt->count + prompt->shadow_count;
    struct exposed_artifact *artifacts = arena_calloc(arena, count + 1, sizeof(*artifacts));

    if (artifacts == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < prompt->count; i++) {
        artifacts[i] = (struct exposed_artifact){.seq = prompt->seqs[i], .version = 1};
    }
    for (size_t i = 0; i < prompt->shadow_count; i++) {
        artifacts[prompt->count + i] =
            (struct exposed_artifact){.seq = prompt->shadow_seqs[i], .version = 1, .shadow = true};
    }
    *exposure = (struct exposure){
        .kind = EXPOSURE_KIND_AGENT_PROMPT,
        .arm = prompt->arm,
        .artifacts = artifacts,
        .artifact_count = count,
        .is_listed = true,
    };
    agent_prompt_hash(prompt->text, exposure->text_hash);
    return OK;
}

enum err agent_prompt_build_again(struct arena *arena, struct store_txn *txn, struct org_id org,
                                  const struct exposure *exposure, struct slice base,
                                  struct slice *ret_text)
{
    struct prompt_rule rules[GUIDELINES_OF_AGENT_MAX];
    size_t artifact_count = exposure->arm == EXPERIMENT_ARM_CONTROL ? 0 : exposure->artifact_count;
    size_t count = 0;
    enum err err = OK;

    for (size_t i = 0; err == OK && i < artifact_count; i++) {
        if (!exposure->artifacts[i].shadow) {
            err = count == GUIDELINES_OF_AGENT_MAX
                      ? ERR_CORRUPT
                      : read_rule(txn, org, exposure->artifacts[i].seq, &rules[count], NULL);
            count++;
        }
    }
    return err != OK ? err : agent_prompt_insert(arena, base, rules, count, ret_text);
}
