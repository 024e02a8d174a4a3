/*
 * test_certs.c: see test_certs.h.
 */
#include "tests/support/tls/test_certs.h"

#include "store/base/assert.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

#define DAY_S 86400L

/* The content of a certificate. */
struct subject {
    const char *name;
    const char *alternatives; /* names and addresses; NULL for an authority */
    long starts_s; /* relative to now */
    long ends_s;
};

/* A key with its certificate. */
struct identity {
    EVP_PKEY *key;
    X509 *certificate;
};

static void add_extension(X509 *certificate, X509 *issuer, int kind, const char *value)
{
    X509V3_CTX context;
    X509_EXTENSION *extension = NULL;

    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    ASSERT(extension != NULL);
    ASSERT(X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

/* Makes a certificate of `key`, signed by `issuer`, or by itself if that is NULL. */
static X509 *make_certificate(const struct subject *subject, EVP_PKEY *key,
                              const struct identity *issuer)
{
    static long serial = 1;
    X509 *certificate = X509_new();
    X509_NAME *name = NULL;
    X509 *signer = NULL;

    ASSERT(certificate != NULL);
    signer = issuer != NULL ? issuer->certificate : certificate;
    ASSERT(X509_set_version(certificate, 2) == 1);
    ASSERT(ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++) == 1);
    ASSERT(X509_gmtime_adj(X509_getm_notBefore(certificate), subject->starts_s) != NULL);
    ASSERT(X509_gmtime_adj(X509_getm_notAfter(certificate), subject->ends_s) != NULL);
    ASSERT(X509_set_pubkey(certificate, key) == 1);
    name = X509_get_subject_name(certificate);
    ASSERT(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                      (const unsigned char *)subject->name, -1, -1, 0) == 1);
    ASSERT(X509_set_issuer_name(certificate, X509_get_subject_name(signer)) == 1);
    if (subject->alternatives != NULL) {
        add_extension(certificate, signer, NID_subject_alt_name, subject->alternatives);
    } else {
        add_extension(certificate, signer, NID_basic_constraints, "critical,CA:TRUE");
        add_extension(certificate, signer, NID_key_usage, "critical,keyCertSign,cRLSign");
    }
    ASSERT(X509_sign(certificate, issuer != NULL ? issuer->key : key, EVP_sha256()) > 0);
    return certificate;
}

static struct identity make_identity(const struct subject *subject, const struct identity *issuer)
{
    struct identity identity = {.key = EVP_EC_gen("P-256")};

    ASSERT(identity.key != NULL);
    identity.certificate = make_certificate(subject, identity.key, issuer);
    return identity;
}

static void free_identity(struct identity *identity)
{
    EVP_PKEY_free(identity->key);
    X509_free(identity->certificate);
}

static FILE *open_file(const struct test_certs *certs, const char *name, char *path)
{
    FILE *file = NULL;

    (void)snprintf(path, TEST_CERTS_PATH_BYTES, "%s/%s", certs->folder.path, name);
    file = fopen(path, "we");
    ASSERT(file != NULL);
    return file;
}

static void write_certificate(const struct test_certs *certs, const char *name, X509 *certificate,
                              char *path)
{
    FILE *file = open_file(certs, name, path);

    ASSERT(PEM_write_X509(file, certificate) == 1);
    ASSERT(fclose(file) == 0);
}

static void write_key(const struct test_certs *certs, const char *name, EVP_PKEY *key, char *path)
{
    FILE *file = open_file(certs, name, path);

    ASSERT(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1);
    ASSERT(fclose(file) == 0);
}

void test_certs_init(struct test_certs *certs)
{
    static const char alternatives[] = "DNS:" TEST_CERTS_HOST ",IP:127.0.0.1";
    const struct subject authority = {"test authority", NULL, -DAY_S, DAY_S};
    const struct subject stranger = {"other authority", NULL, -DAY_S, DAY_S};
    const struct subject server = {"test server", alternatives, -DAY_S, DAY_S};
    const struct subject former = {"test server", alternatives, -2 * DAY_S, -DAY_S};
    const struct subject client = {"test client", "DNS:client.test", -DAY_S, DAY_S};
    struct identity ca = make_identity(&authority, NULL);
    struct identity other = make_identity(&stranger, NULL);
    struct identity of_server = make_identity(&server, &ca);
    struct identity of_client = make_identity(&client, &ca);
    X509 *expired = make_certificate(&former, of_server.key, &ca);

    temp_folder_init(&certs->folder);
    write_certificate(certs, "ca.pem", ca.certificate, certs->ca);
    write_certificate(certs, "other.pem", other.certificate, certs->other_ca);
    write_certificate(certs, "server.pem", of_server.certificate, certs->cert);
    write_key(certs, "server.key", of_server.key, certs->key);
    write_certificate(certs, "expired.pem", expired, certs->expired);
    write_certificate(certs, "client.pem", of_client.certificate, certs->client_cert);
    write_key(certs, "client.key", of_client.key, certs->client_key);
    X509_free(expired);
    free_identity(&of_client);
    free_identity(&of_server);
    free_identity(&other);
    free_identity(&ca);
}

void test_certs_deinit(struct test_certs *certs)
{
    temp_folder_deinit(&certs->folder);
}
