/*
 * section.c: see section.h.
 */
#include "server/domain/turns/section.h"

#include "server/domain/text/sanitise.h"
#include "server/domain/turns/turns.h"
#include "store/base/buffer.h"

#define SECTION_BYTES 1024

/* Returns a text as one sanitised line. */
static struct slice line_of(struct arena *arena, struct slice text)
{
    struct slice safe = sanitise_note(arena, text, SANITISE_FIELD_CHARACTERS_MAX).text;
    uint8_t *bytes = arena_alloc(arena, safe.size + 1);

    if (bytes == NULL) {
        return slice_of(NULL, 0);
    }
    for (size_t i = 0; i < safe.size; i++) {
        bool is_break = safe.data[i] == '\n' || safe.data[i] == '\r';

        bytes[i] = is_break ? (uint8_t)' ' : safe.data[i];
    }
    return slice_of(bytes, safe.size);
}

/* Returns a turn's number: the digits at the end of its id, without leading zeros; if there are none, the id. */
static struct slice number_of(struct arena *arena, struct slice id)
{
    size_t from = id.size;

    while (from > 0 && id.data[from - 1] >= '0' && id.data[from - 1] <= '9') {
        from--;
    }
    if (from == id.size) {
        return line_of(arena, id);
    }
    while (from + 1 < id.size && id.data[from] == '0') {
        from++;
    }
    return slice_after(id, from);
}

static void put(struct buffer *buffer, const char *before, struct slice text, const char *after)
{
    buffer_append(buffer, slice_text(before));
    buffer_append(buffer, text);
    buffer_append(buffer, slice_text(after));
}

static void put_instructions(struct arena *arena, const struct section_input *input,
                             struct slice rejected, struct buffer *section)
{
    struct slice advice = line_of(arena, input->advice);

    put(section, "\n**Instruction for Planner:**\n- Do NOT reuse the strategy from Turn ", rejected,
        "\n");
    if (advice.size > 0) {
        put(section, "- ", advice, "\n");
    }
    if (input->consecutive_rejections >= TURN_CLARIFY_REJECTIONS) {
        buffer_append(section, SLICE("- Multiple rejections - be more careful\n"));
    }
}

enum err section_write(struct arena *arena, const struct section_input *input,
                       struct slice *ret_section)
{
    struct slice rejected = number_of(arena, input->rejected_turn_id);
    struct slice said = line_of(arena, input->user_said);
    struct slice wrong = line_of(arena, input->what_went_wrong);
    struct buffer section;

    buffer_init(&section, arena, SECTION_BYTES);
    buffer_append(&section, SLICE("### Previous Response Feedback\n**Status:** REJECTED\n"));
    put(&section, "**Detected:** Turn ", number_of(arena, input->detected_in_turn_id),
        " detected that Turn ");
    put(&section, "", rejected, " was rejected\n");
    put(&section, "**User said:** \"", said, "\"\n");
    if (input->tool.size > 0) {
        put(&section, "**Previous strategy:** ", line_of(arena, input->tool), " with query \"");
        put(&section, "", line_of(arena, input->tool_text), "\"\n");
    }
    put(&section, "**What went wrong:** ",
        wrong.size > 0 ? wrong : SLICE("The user corrected it: "), "");
    put(&section, "", wrong.size > 0 ? slice_of(NULL, 0) : said, "\n");
    put_instructions(arena, input, rejected, &section);
    *ret_section = buffer_slice(&section);
    return buffer_ok(&section) ? OK : ERR_MEMORY;
}
