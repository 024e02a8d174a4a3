/*
 * help_tests.c: help, completion and the manual page of a made-up program with two groups, so that
 * no test repeats texts of the real program.
 */
#include "tools/errata/help/completion.h"
#include "tools/errata/help/help.h"
#include "tools/errata/help/manual.h"
#include "tools/errata/help/shells.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* --- the program --- */

static const struct option_spec global_options[] = {
    {"json", NULL, "as JSON"}, {"at", "PLACE", "where"}, {NULL, NULL, NULL}};
static const struct option_spec eat_options[] = {
    {"with", "TOOL", "what it is eaten with"}, {"from", "FILE", "a bowl"}, {NULL, NULL, NULL}};
/* A command's own --json has precedence over the global option. */
static const struct option_spec list_options[] = {{"json", "FILE", "into a file"},
                                                  {NULL, NULL, NULL}};

static const struct command fruit[] = {
    {.group = "fruit",
     .name = "eat",
     .arguments = "KIND [FILE|-]",
     .summary = "eat one",
     .help = "Eats one. It `may be sour` and is gone after that.\n\nPits stay.",
     .examples = {{"shop fruit eat apple", NULL}, {"shop fruit eat \\\n  plum", "over two lines"}},
     .exits = "1 where it was sour.",
     .options = eat_options},
    {.group = "fruit",
     .name = "list",
     .summary = "list them",
     .help = "Lists them.",
     .options = list_options},
    {.group = "fruit", .name = "rot", .summary = "hidden", .help = "-", .hidden = true},
    {.name = NULL}};
static const struct command single[] = {
    {.name = "wave", .arguments = "WORD...", .summary = "wave", .help = "Waves."}, {.name = NULL}};
static const struct command_group groups[] = {{"Food", "fruit", "apples and more", fruit, "apples"},
                                              {"Manners", NULL, NULL, single, NULL},
                                              {NULL, NULL, NULL, NULL, NULL}};
static const struct option_spec codes[] = {{"0", NULL, "well"}, {NULL, NULL, NULL}};
static const struct command_topic topics[] = {
    {"codes", "what codes say", "EXIT STATUS", "Few.", codes}, {NULL, NULL, NULL, NULL, NULL}};

static bool word(struct slice name, size_t index, struct command_word *ret_word)
{
    static const struct command_word tools[] = {{SLICE("FORK"), SLICE("with tines")},
                                                {SLICE("SPOON"), {NULL, 0}}};

    if (!slice_equal(name, SLICE("TOOL")) || index > 1) {
        return false;
    }
    *ret_word = tools[index];
    return true;
}

static const struct command_set set = {
    "shop", "a shop", "It `sells` things. Also fruit.", groups, global_options, topics, word};

/* --- printed pages --- */

struct page {
    char *text;
    size_t size;
    struct printer out;
};

static void page_open(struct page *page, unsigned width)
{
    *page = (struct page){.text = NULL};
    page->out = (struct printer){
        .stream = open_memstream(&page->text, &page->size), .terminal = width > 0, .width = width};
    assert_non_null(page->out.stream);
}

static void assert_page(struct page *page, const char *expected)
{
    assert_int_equal(fclose(page->out.stream), 0);
    assert_string_equal(page->text, expected);
    free(page->text);
}

/* Goal: names are found, and unknown ones get a suggestion. Method: each level, with missing
 * letters; hidden names are not suggested. */
static void test_unknown_name_gets_a_suggestion(void **state)
{
    struct command_walk walk = {0, 0};
    unsigned count = 0;

    (void)state;
    assert_ptr_equal(command_find(&set, "fruit", "eat"), &fruit[0]);
    assert_ptr_equal(command_find(&set, NULL, "wave"), &single[0]);
    assert_null(command_find(&set, NULL, "eat"));
    assert_ptr_equal(command_find_group(&set, "fruit"), &groups[0]);
    assert_ptr_equal(command_find_topic(&set, "codes"), &topics[0]);
    assert_true(slice_equal(command_nearest(&set, NULL, "friut", false), SLICE("fruit")));
    assert_true(slice_equal(command_nearest(&set, NULL, "code", true), SLICE("codes")));
    assert_int_equal(command_nearest(&set, NULL, "code", false).size, 0);
    assert_true(slice_equal(command_nearest(&set, "fruit", "lst", false), SLICE("list")));
    assert_int_equal(command_nearest(&set, "fruit", "rto", false).size, 0);
    while (command_next(&set, &walk) != NULL) {
        count++;
    }
    assert_int_equal(count, 4);
}

/* Goal: usage lists the valid values. Method: all of its elements: options, brackets, choices and
 * dots. */
static void test_usage_lists_the_values(void **state)
{
    static const char *const expected[] = {"METHOD", "JSON|@FILE|-", "FILE"};
    struct command_values walk = {.rest = "--role ROLE METHOD [JSON|@FILE|-] [FILE...]"};
    struct slice value = {NULL, 0};
    struct slice choice = {NULL, 0};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(command_next_value(&walk, &value));
        assert_true(slice_equal(value, slice_text(expected[i])));
        assert_int_equal(walk.repeated, i == 2);
    }
    assert_false(command_next_value(&walk, &value));
    value = SLICE("JSON|@FILE|-");
    assert_true(command_next_choice(&value, &choice) && slice_equal(choice, SLICE("JSON")));
    assert_true(command_next_choice(&value, &choice) && slice_equal(choice, SLICE("@FILE")));
    assert_true(command_next_choice(&value, &choice) && slice_equal(choice, SLICE("-")));
    assert_false(command_next_choice(&value, &choice));
}

/* Goal: usage decides how many words a command takes. Method: each form of usage. */
static void test_usage_decides_the_number_of_words(void **state)
{
    static const struct {
        const char *arguments;
        struct command_words words;
    } cases[] = {{NULL, {0, 0}},
                 {"KIND", {1, 1}},
                 {"[KIND]", {0, 1}},
                 {"KIND [FILE|-]", {1, 2}},
                 {"FILE|FOLDER...", {1, SIZE_MAX}},
                 {"[SKU...]", {0, SIZE_MAX}},
                 {"KIND [WORD...]", {1, SIZE_MAX}},
                 {"--with TOOL", {0, 0}},
                 {"NAME --with TOOL", {1, 1}},
                 {"--with TOOL|--from FILE", {0, 0}},
                 {"--with TOOL|--from FILE|--at PLACE KIND", {1, 1}}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct command command = {.arguments = cases[i].arguments};
        struct command_words words = command_count_words(&command);

        assert_int_equal(words.min, cases[i].words.min);
        assert_int_equal(words.max, cases[i].words.max);
    }
}

/* Goal: each page has exactly the texts of its tables. Method: every page, as written to a pipe. */
static void test_each_page_has_its_table(void **state)
{
    struct page page;

    (void)state;
    page_open(&page, 0);
    help_print_overview(&set, &page.out);
    assert_page(&page, "shop: a shop\n"
                       "\n"
                       "Usage: shop COMMAND [ARGUMENTS] [OPTIONS]\n"
                       "       shop help [COMMAND | TOPIC]\n"
                       "Food\n"
                       "  fruit        apples: eat, list\n"
                       "Manners\n"
                       "  wave         wave\n");
    page_open(&page, 0);
    help_print_all(&set, &page.out);
    assert_page(&page, "shop: a shop\n"
                       "\n"
                       "Usage: shop COMMAND [ARGUMENTS] [OPTIONS]\n"
                       "\n"
                       "It `sells` things. Also fruit.\n"
                       "\n"
                       "Food\n"
                       "  fruit eat               eat one\n"
                       "  fruit list              list them\n"
                       "\n"
                       "Manners\n"
                       "  wave                    wave\n"
                       "\n"
                       "Options of every command\n"
                       "  --json                  as JSON\n"
                       "  --at PLACE              where\n"
                       "\n"
                       "More\n"
                       "  help codes              what codes say\n"
                       "\n"
                       "`shop help COMMAND` describes a command, with examples.\n");
    page_open(&page, 0);
    help_print_group(&set, &page.out, &groups[0]);
    assert_page(&page, "shop fruit: apples and more\n"
                       "\n"
                       "Usage: shop fruit COMMAND [ARGUMENTS] [OPTIONS]\n"
                       "\n"
                       "Commands\n"
                       "  fruit eat               eat one\n"
                       "  fruit list              list them\n"
                       "\n"
                       "`shop help fruit COMMAND` describes a command, with examples.\n");
    page_open(&page, 0);
    help_print_topic(&set, &page.out, &topics[0]);
    assert_page(&page, "what codes say\n"
                       "\n"
                       "Few.\n"
                       "\n"
                       "  0                       well\n");
}

/* Goal: a command's page has all parts, with examples as they are typed, and fits a narrow terminal.
 * Method: the same command for a pipe and for 50 columns. */
static void test_command_page_fits_narrow_terminals(void **state)
{
    struct page page;

    (void)state;
    page_open(&page, 0);
    help_print_command(&set, &page.out, &fruit[0]);
    assert_page(&page, "shop fruit eat: eat one\n"
                       "\n"
                       "Usage: shop fruit eat KIND [FILE|-] [OPTIONS]\n"
                       "\n"
                       "Eats one. It `may be sour` and is gone after that.\n"
                       "\n"
                       "Pits stay.\n"
                       "\n"
                       "Options\n"
                       "  --with TOOL             what it is eaten with: FORK, SPOON\n"
                       "  --from FILE             a bowl\n"
                       "\n"
                       "Examples\n"
                       "  shop fruit eat apple\n"
                       "  # over two lines\n"
                       "  shop fruit eat \\\n"
                       "    plum\n"
                       "\n"
                       "Exit codes\n"
                       "1 where it was sour.\n"
                       "\n"
                       "More options, those of every command: `shop help`.\n");
    page_open(&page, 50);
    help_print_command(&set, &page.out, &fruit[1]);
    assert_page(&page, "shop fruit list: list them\n"
                       "\n"
                       "Usage: shop fruit list [OPTIONS]\n"
                       "\n"
                       "Lists them.\n"
                       "\n"
                       "Options\n"
                       "  --json FILE\n"
                       "      into a file\n"
                       "\n"
                       "More options, those of every command: `shop help`.\n");
}

/* --- completion --- */

static void offer(void *user, struct completion *completion, struct slice name)
{
    (void)user;
    if (slice_equal(name, SLICE("PLACE"))) {
        completion_offer(completion, SLICE("home"), SLICE("mine\nalone"));
        completion_offer(completion, SLICE("a\tb"), SLICE("can't be typed"));
    }
}

static void assert_completed(const char *line, const char *expected)
{
    struct page page;
    struct arena arena;
    char *words[COMPLETION_WORDS_MAX];
    size_t count = 0;

    page_open(&page, 0);
    arena_init(&arena, 1 << 20);
    count = completion_split(&arena, line, words);
    assert_true(count > 0);
    struct completion completion = {.set = &set, .out = &page.out, .arena = &arena, .offer = offer};
    completion_run(&completion, words, count);
    assert_page(&page, expected);
    arena_deinit(&arena);
}

/* Goal: completion offers all valid words at every place of a line, and nothing if none is
 * valid. Method: a line for each place. */
static void test_completion_offers_all_valid_words(void **state)
{
    (void)state;
    assert_completed("",
                     "fruit\tapples and more\nwave\twave\nhelp\tall of a command, or of a topic\n");
    assert_completed("fru", "fruit\tapples and more\n");
    assert_completed("fruit ", "eat\teat one\nlist\tlist them\n");
    assert_completed("--json fruit l", "list\tlist them\n");
    assert_completed("help c", "codes\twhat codes say\n");
    assert_completed("help fruit e", "eat\teat one\n");
    assert_completed("fruit eat --w", "--with\twhat it is eaten with\n");
    assert_completed("fruit eat -", "--with\twhat it is eaten with\n--from\ta bowl\n"
                                    "--json\tas JSON\n--at\twhere\n");
    assert_completed("fruit eat --with ", "FORK\twith tines\nSPOON\t\n");
    assert_completed("fruit eat --with=sp", "--with=SPOON\t\n");
    assert_completed("--at ", "home\tmine\\nalone\n");
    assert_completed("fruit eat apple ", ":files \n");
    assert_completed("fruit eat --from=x", ":files --from=\n");
    assert_completed("fruit eat apple bowl ", "");
    assert_completed("fruit eat -- --w", "");
    assert_completed("fruit list ", "");
    assert_completed("fruit list --", "--json\tinto a file\n--at\twhere\n");
    assert_completed("none ", "");
    assert_completed("fruit none ", "");
    assert_completed("--none x", "");
}

static void assert_split(const char *line, size_t count, const char *const *expected)
{
    char *words[COMPLETION_WORDS_MAX];
    struct arena arena;

    arena_init(&arena, 1 << 20);
    assert_int_equal(completion_split(&arena, line, words), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(words[i], expected[i]);
    }
    arena_deinit(&arena);
}

/* Goal: a line becomes the words that a shell would make of it, the last one as far as it was typed.
 * Method: quotes, backslashes, blanks at the end, an open quote; and more words than are read. */
static void test_line_is_split_as_by_a_shell(void **state)
{
    static const char *const all[] = {"a", "b c", "d\"e", "f g", "h'i", ""};
    static const char *const open[] = {"x", "y z"};
    char many[2 * COMPLETION_WORDS_MAX + 3];

    (void)state;
    assert_split("a 'b c' \"d\\\"e\" f\\ g \th\"'\"i ", 6, all);
    assert_split("x \"y z", 2, open);
    for (size_t i = 0; i < sizeof(many) - 1; i++) {
        many[i] = i % 2 == 0 ? 'w' : ' ';
    }
    many[sizeof(many) - 1] = '\0';
    assert_split(many, 0, NULL);
}

/* --- the manual page --- */

/* Goal: the page has every command, escaped for mdoc.
 * Method: the whole page. */
static void test_manual_has_every_command(void **state)
{
    static const struct command_example examples[] = {{"shop wave -n 'x'", "both hands"},
                                                      {NULL, NULL}};
    const struct manual made = {&set, "May 1, 2026", "1.0", examples, ".Xr mall 1\n"};
    struct page page;

    (void)state;
    page_open(&page, 0);
    manual_print(&made, &page.out);
    assert_int_equal(fclose(page.out.stream), 0);
    assert_non_null(strstr(page.text, ".Dd May 1, 2026\n.Dt SHOP 1\n.Os \"Errata 1.0\"\n"
                                      ".Sh NAME\n.Nm shop\n.Nd a shop\n"));
    assert_non_null(strstr(page.text, "It \\fBsells\\fP things.\nAlso fruit.\n"));
    assert_non_null(strstr(page.text, ".Ss Food\n.Bl -tag -width Ds\n"
                                      ".It \"\\fBfruit eat\\fP [OPTIONS] KIND [FILE|\\-]\"\n"));
    assert_non_null(strstr(page.text, "Pits stay.\n.Pp\n1 where it was sour.\n"));
    assert_non_null(strstr(page.text, ".It \"\\fB\\-\\-with TOOL\\fP\"\n"
                                      "what it is eaten with: FORK, SPOON\n"));
    assert_non_null(strstr(page.text, "shop fruit eat \\e\n  plum\n.Ed\n"));
    assert_non_null(strstr(page.text, ".Sh EXIT STATUS\nFew.\n.Bl -tag -width Ds\n"));
    assert_non_null(strstr(page.text, "# both hands\nshop wave \\-n \\(aqx\\(aq\n"));
    assert_null(strstr(page.text, "rot"));
    free(page.text);
}

/* Goal: the named shells have scripts. Method: each name, and an unknown one. */
static void test_only_known_shells_have_scripts(void **state)
{
    (void)state;
    assert_non_null(strstr(shell_find("bash")->script, "complete -F"));
    assert_non_null(strstr(shell_find("zsh")->script, "#compdef errata"));
    assert_non_null(strstr(shell_find("fish")->script, "complete -c errata"));
    assert_null(shell_find("csh"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unknown_name_gets_a_suggestion),
                                       cmocka_unit_test(test_usage_lists_the_values),
                                       cmocka_unit_test(test_usage_decides_the_number_of_words),
                                       cmocka_unit_test(test_each_page_has_its_table),
                                       cmocka_unit_test(test_command_page_fits_narrow_terminals),
                                       cmocka_unit_test(test_completion_offers_all_valid_words),
                                       cmocka_unit_test(test_line_is_split_as_by_a_shell),
                                       cmocka_unit_test(test_manual_has_every_command),
                                       cmocka_unit_test(test_only_known_shells_have_scripts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
