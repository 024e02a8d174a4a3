/*
 * text.c: `errata text`: vectors of texts, and the similarity of two texts.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/input.h"

static enum cli_exit fill_texts(struct request *request, struct cli *cli)
{
    struct slice a = {NULL, 0};
    struct slice b = {NULL, 0};
    enum cli_exit result = input_argument(cli, cli->options.words[0], &a);

    if (result == CLI_OK) {
        result = input_argument(cli, cli->options.words[1], &b);
    }
    request_text(request, "textA", a);
    request_text(request, "textB", b);
    return result;
}

static enum cli_exit print_comparison(struct cli *cli, struct json_value reply)
{
    print_text(&cli->out, "score   %.*s\n", SLICE_ARGS(reply_text(cli, reply, "score")));
    print_text(&cli->out, "cosine  %.*s\n", SLICE_ARGS(reply_text(cli, reply, "cosine")));
    if (reply_text(cli, reply, "numbersDiffer").size > 0) {
        cli_note(cli, "the score is limited, since the texts have different numbers");
    }
    if (reply_text(cli, reply, "antonymA").size > 0) {
        cli_note(cli, "the score is limited, since '%.*s' and '%.*s' are opposites",
                 SLICE_ARGS(reply_text(cli, reply, "antonymA")),
                 SLICE_ARGS(reply_text(cli, reply, "antonymB")));
    }
    cli_note(cli, "embedder %.*s", SLICE_ARGS(reply_text(cli, reply, "embedderId")));
    return CLI_OK;
}

static enum cli_exit fill_text(struct request *request, struct cli *cli)
{
    struct slice text = {NULL, 0};
    enum cli_exit result = input_argument(cli, cli->options.words[0], &text);
    struct buffer list;

    buffer_init(&list, &cli->arena, text.size + JSON_STRING_ROOM_BYTES + 2);
    buffer_append(&list, SLICE("["));
    json_write_string(&list, text, false);
    buffer_append(&list, SLICE("]"));
    request_raw(request, "texts", buffer_slice(&list));
    return result;
}

/* Prints the numbers of the vector, one per line. */
static enum cli_exit print_vector(struct cli *cli, struct json_value reply)
{
    struct json_value vectors;
    struct json_value vector;
    struct json_value values;
    struct json_value value;
    struct json_walk walk;
    struct slice key;

    if (!json_member(reply, SLICE("vectors"), &vectors)) {
        return CLI_OK;
    }
    walk = json_walk_start(vectors);
    if (json_walk_next(&walk, &key, &vector) && json_member(vector, SLICE("values"), &values)) {
        walk = json_walk_start(values);
        while (json_walk_next(&walk, &key, &value)) {
            print_text(&cli->out, "%.*s\n", SLICE_ARGS(value.text));
        }
    }
    cli_note(cli, "embedder %.*s", SLICE_ARGS(reply_text(cli, reply, "embedderId")));
    return CLI_OK;
}

static const struct option_spec compare_options[] = {
    {"profile", "PURPOSE", "purpose of the comparison"}, {NULL, NULL, NULL}};

const struct command text_commands[] = {
    {.group = "text",
     .name = "compare",
     .arguments = "TEXT|@FILE|- TEXT|@FILE",
     .summary = "compare the meaning of two texts",
     .help = "Prints the similarity of two texts, as computed by the server: a score from 0 to 1, "
             "where 0.8 or more means equal for the profile's purpose, and the cosine of their "
             "vectors. The profile query is for questions, which are never equal if their numbers "
             "differ or if a word of one is the opposite of a word of the other; feedback is for "
             "comments on a theme; strict is for duplicates of rules.",
     .examples = {{"errata text compare 'Where is my order?' 'Has my parcel been sent?' \\\n"
                   "  --profile query",
                   NULL}},
     .options = compare_options,
     COMMAND_CALL("TextService/CompareTexts", .fill = fill_texts, .print = print_comparison)},
    {.group = "text",
     .name = "embed",
     .arguments = "TEXT|@FILE|-",
     .summary = "compute the vector of a text",
     .help = "Prints the numbers of the text's vector, one per line; standard error reports the "
             "embedder's id. The cosine of two vectors of one embedder measures the similarity of "
             "their texts.",
     .examples = {{"errata text embed 'Where is my order?'", NULL},
                  {"errata text embed 'Where is my parcel?' --json", NULL}},
     COMMAND_CALL("TextService/Embed", .fill = fill_text, .print = print_vector)},
    {.name = NULL}};
