/*
 * context_test.c: files of certificates and keys: an unusable one is refused with its path and the reason,
 * and those of open connections may be replaced.
 */
#include "tests/unit/tls/pair.h"

#include "store/base/fault_point.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>

struct text {
    char bytes[1024];
};

/* The message of a refusal; empty if the files are accepted. */
static void read_files(const struct tls_files *files, bool is_client, struct text *ret_said)
{
    struct tls_context *context = NULL;
    struct arena arena;
    struct fault fault;
    enum err err = OK;

    arena_init(&arena, 65536);
    fault_init(&fault, &arena);
    err = is_client ? tls_context_new_client(files, &fault, &context)
                    : tls_context_new_server(files, &fault, &context);
    assert_int_equal(err, fault.message.size > 0 ? ERR_INVALID : OK);
    (void)snprintf(ret_said->bytes, sizeof(ret_said->bytes), "%.*s", (int)fault.message.size,
                   (const char *)fault.message.data);
    tls_context_unref(context);
    arena_deinit(&arena);
}

static void write_encrypted_key(char *path)
{
    FILE *file = NULL;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    unsigned char password[] = "secret";

    (void)snprintf(path, TEST_CERTS_PATH_BYTES, "%s/locked.key", pair_certs.folder.path);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(PEM_write_PrivateKey(file, key, EVP_aes_256_cbc(), password, 6, NULL, NULL),
                     1);
    assert_int_equal(fclose(file), 0);
    EVP_PKEY_free(key);
}

static void invalid_files_are_refused(void **state)
{
    char locked[TEST_CERTS_PATH_BYTES];
    const struct {
        struct tls_files files;
        const char *path;
        const char *said;
    } cases[] = {
        {{"/nonexistent/cert", pair_certs.key, NULL}, "/nonexistent/cert", "No such file"},
        {{pair_certs.cert, "/nonexistent/key", NULL}, "/nonexistent/key", "No such file"},
        {{pair_certs.key, pair_certs.key, NULL}, pair_certs.key, "expected a certificate in PEM"},
        {{pair_certs.cert, pair_certs.cert, NULL},
         pair_certs.cert,
         "expected the certificate's private"},
        {{pair_certs.cert, pair_certs.client_key, NULL},
         pair_certs.client_key,
         "key values mismatch"},
        {{pair_certs.cert, locked, NULL}, locked, "not encrypted"},
        {{pair_certs.cert, pair_certs.key, "/nonexistent/ca"}, "/nonexistent/ca", "No such file"},
        {{pair_certs.cert, pair_certs.key, pair_certs.key},
         pair_certs.key,
         "expected certificates of"},
    };
    struct text said;

    (void)state;
    write_encrypted_key(locked);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        read_files(&cases[i].files, false, &said);
        assert_non_null(strstr(said.bytes, cases[i].path));
        assert_non_null(strstr(said.bytes, cases[i].said));
        read_files(&cases[i].files, true, &said);
        assert_non_null(strstr(said.bytes, cases[i].path));
    }
}

static void valid_files_are_accepted(void **state)
{
    const struct tls_files files[] = {{pair_certs.cert, pair_certs.key, NULL},
                                      {pair_certs.cert, pair_certs.key, ""},
                                      {pair_certs.expired, pair_certs.key, pair_certs.ca}};
    const struct tls_files system = {NULL, NULL, NULL};
    struct text said;

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        read_files(&files[i], false, &said);
        assert_string_equal(said.bytes, "");
    }
    read_files(&system, true, &said);
    assert_string_equal(said.bytes, "");
}

static void expiry_is_read(void **state)
{
    const struct tls_files valid = {pair_certs.cert, pair_certs.key, NULL};
    const struct tls_files expired = {pair_certs.expired, pair_certs.key, NULL};
    const struct tls_files none = {NULL, NULL, pair_certs.ca};
    struct tls_context *context = NULL;
    struct arena arena;
    struct fault fault;
    int64_t ends_s = 0;

    (void)state;
    arena_init(&arena, 65536);
    fault_init(&fault, &arena);
    assert_int_equal(tls_context_new_server(&valid, &fault, &context), OK);
    ends_s = tls_context_expires_at_s(context);
    tls_context_unref(context);
    assert_int_equal(tls_context_new_server(&expired, &fault, &context), OK);
    assert_in_range(ends_s - tls_context_expires_at_s(context), 2 * 86400 - 5, 2 * 86400 + 5);
    assert_true(tls_context_expires_at_s(context) > INT64_C(1700000000));
    tls_context_unref(context);
    assert_int_equal(tls_context_new_client(&none, &fault, &context), OK);
    assert_true(tls_context_expires_at_s(context) == INT64_MAX);
    tls_context_unref(context);
    arena_deinit(&arena);
}

static void open_connections_keep_a_replaced_context(void **state)
{
    const struct tls_files expired = {pair_certs.expired, pair_certs.key, NULL};
    struct tls_context *context = NULL;
    struct arena arena;
    struct fault fault;
    struct pair pair;
    int64_t ends_s = 0;

    arena_init(&arena, 65536);
    fault_init(&fault, &arena);
    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair_run(&pair);
    assert_int_equal(tls_context_new_server(&expired, &fault, &context), OK);
    ends_s = tls_server_stats(pair.server)->certificate_expires_at_s;
    tls_server_replace_context(pair.server, context);
    assert_in_range(ends_s - tls_server_stats(pair.server)->certificate_expires_at_s, 2 * 86400 - 5,
                    2 * 86400 + 5);
    pair_send(&pair, SLICE("still here"));
    pair_run(&pair);
    assert_int_equal(pair.got.size, 10);
    pair_connect_again(&pair);
    pair_run(&pair);
    assert_int_equal(pair.client_step, TLS_STEP_FAILED); /* the new certificate has expired */
    assert_non_null(strstr(tls_stream_reason(pair.client), "expired"));
    pair_deinit(&pair);
    arena_deinit(&arena);
}

static bool fails_named(struct fault_driver *driver, const char *name)
{
    (void)driver;
    return strcmp(name, "tls.context") == 0 || strcmp(name, "tls.server") == 0;
}

static void contexts_and_servers_may_lack_memory(void **state)
{
    const struct tls_files files = {pair_certs.cert, pair_certs.key, NULL};
    struct fault_driver driver = {fails_named};
    const struct tls_protocol protocols[TLS_PROTOCOLS_MAX + 1] = {{.name = "h2"}};
    struct tls_context *context = NULL;
    struct tls_server *server = NULL;
    struct arena arena;
    struct fault fault;

    (void)state;
    arena_init(&arena, 65536);
    fault_init(&fault, &arena);
    assert_int_equal(tls_context_new_server(&files, &fault, &context), OK);
    fault_point_set_driver(&driver);
    assert_int_equal(tls_server_new(protocols, 1, context, &server), ERR_MEMORY);
    assert_int_equal(tls_context_new_server(&files, &fault, &(struct tls_context *){NULL}),
                     ERR_MEMORY);
    fault_point_set_driver(NULL);
    assert_int_equal(tls_server_new(protocols, TLS_PROTOCOLS_MAX + 1, context, &server),
                     ERR_INVALID);
    tls_context_unref(context);
    tls_context_unref(NULL);
    tls_server_free(NULL);
    tls_stream_free(NULL);
    arena_deinit(&arena);
}

int run_context_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_files_are_refused),
        cmocka_unit_test(valid_files_are_accepted),
        cmocka_unit_test(expiry_is_read),
        PAIR_TEST(open_connections_keep_a_replaced_context),
        cmocka_unit_test(contexts_and_servers_may_lack_memory),
    };

    return cmocka_run_group_tests_name("contexts", tests, NULL, NULL);
}
