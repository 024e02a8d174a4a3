/*
 * client_easy_driver.c: a pipeline of errata/easy.h, for the test client_easy.py: stores a correction, then
 * asks for the examples of its layout. Prints the event's id, the examples, and the last error, a line each.
 * ERRATA_SERVER and ERRATA_TOKEN_FILE name the server and the token.
 *
 *   client_easy_driver LAYOUT SNIPPET BEFORE AFTER
 */
#include <errata/easy.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    struct errata_easy *errata = errata_easy_open(NULL);
    struct errata_correction correction = {0};

    if (count != 5) {
        return 2;
    }
    correction.layout = arguments[1];
    correction.input_snippet = arguments[2];
    correction.before_json = arguments[3];
    correction.after_json = arguments[4];
    correction.actor_user_id = "ada";
    printf("%s\n", errata_easy_correct(errata, &correction));
    printf("%s\n", errata_easy_error(errata));
    printf("%s\n", errata_easy_examples(errata, arguments[1], NULL));
    printf("%s\n", errata_easy_error(errata));
    errata_easy_close(errata);
    return 0;
}
