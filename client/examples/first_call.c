/*
 * first_call.c: the shortest useful program: stores a correction, and prints the examples that go into the
 * next prompt. stub_call.c does the same with typed requests and replies.
 *
 *   ERRATA_SERVER=127.0.0.1:7443 ERRATA_TOKEN_FILE=token ./first_call
 */
#include <errata/easy.h>
#include <stdio.h>

int main(void)
{
    struct errata_easy *errata = errata_easy_open(NULL);
    struct errata_correction correction;
    const char *id = NULL;
    int stored = 0;

    errata_correction_init(&correction);
    correction.layout = "supplier-7";
    correction.input_snippet = "12 pcs of ABC-123"; /* the line of the document */
    correction.before_json = "{\"qty\": 10}"; /* what the model extracted from it */
    correction.after_json = "{\"qty\": 12}"; /* what a person made of that */
    correction.actor_user_id =
        "ada"; /* the person; without one it would be a program's correction */
    id = errata_easy_correct(errata, &correction);
    stored = id[0] != '\0'; /* the id is valid until the next call */
    if (stored) {
        printf("stored as %s\n", id);
        printf("for the prompt: %s\n", errata_easy_examples(errata, "supplier-7", NULL));
    }
    if (errata_easy_code(errata) != ERRATA_CODE_OK) {
        fprintf(stderr, "%s\n", errata_easy_error(errata));
    }
    errata_easy_close(errata);
    return stored ? 0 : 1;
}
