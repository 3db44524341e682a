/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of credentials, tokens that are fetched from a server of the test's own, and that nothing
 * secret gets into a message: every secret place holds a canary.
 */
#include "testing.h"

#include "base/env.h"
#include "base/memory.h"
#include "net/credentials_cloud.h"
#include "net/http.h"
#include "net/jwt.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <pthread.h>
#include <sys/socket.h>

#define CANARY "canary"

typedef struct fixture {
    char path[64];
    ms_loop *loop;
    ms_iopool *pool;
} fixture;

static int setup(void **state)
{
    ms_status st = {0};
    fixture *f = ms_mem_calloc(1, sizeof(*f));
    snprintf(f->path, sizeof(f->path), "/tmp/credentials-XXXXXX");
    int fd = mkstemp(f->path);
    assert_true(fd >= 0);
    close(fd);
    assert_ok(ms_loop_create("credentials", &f->loop, &st));
    assert_ok(ms_iopool_create(&(ms_iopool_options){.threads = 1}, &f->pool, &st));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    unlink(f->path);
    ms_iopool_destroy(f->pool);
    ms_loop_destroy(f->loop);
    ms_mem_free(f);
    return 0;
}

static void write_file(const fixture *f, const char *text)
{
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

/* A new RSA key in PEM, with \n written as JSON wants it when for_json is set. */
static char *make_key(bool for_json)
{
    EVP_PKEY *key = EVP_RSA_gen(2048);
    assert_non_null(key);
    BIO *bio = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL), 1);
    char *pem = NULL;
    long bytes = BIO_get_mem_data(bio, &pem);
    char *text = ms_mem_alloc(2 * (size_t)bytes + 1);
    size_t at = 0;
    for (long i = 0; i < bytes; i++) {
        if (pem[i] == '\n' && for_json) {
            text[at++] = '\\';
            text[at++] = 'n';
        } else {
            text[at++] = pem[i];
        }
    }
    text[at] = '\0';
    BIO_free(bio);
    EVP_PKEY_free(key);
    return text;
}

/* No part of a status has a canary. */
static void assert_no_canary(const ms_status *st)
{
    assert_null(strstr(st->message, CANARY));
    assert_null(strstr(st->detail, CANARY));
    assert_null(strstr(st->hint, CANARY));
}

static ms_rc create(const fixture *f, bool by_key_file, ms_credentials **credentials_out,
                    ms_status *st)
{
    ms_credentials_cloud_options options = {.loop = f->loop,
                                            .pool = f->pool,
                                            .key_file = by_key_file ? f->path : NULL,
                                            .scopes = "https://scope/a https://scope/b"};
    return ms_credentials_create_cloud(&options, credentials_out, st);
}

/* One value, fetched on the loop and waited for. */
typedef struct asked {
    ms_credentials *credentials;
    ms_credentials_wait wait;
    ms_credentials_answer answer;
    char value[4096];
    ms_status st;
    pthread_mutex_t mutex;
    pthread_cond_t over;
    bool is_over;
} asked;

static void end_asking(asked *a, ms_str value, const ms_status *st)
{
    pthread_mutex_lock(&a->mutex);
    snprintf(a->value, sizeof(a->value), "%.*s", MS_STR_ARG(value));
    a->st = *st;
    a->is_over = true;
    pthread_cond_signal(&a->over);
    pthread_mutex_unlock(&a->mutex);
}

static void came(ms_credentials_wait *wait, ms_str value, const ms_status *st)
{
    end_asking((asked *)(void *)((char *)wait - offsetof(asked, wait)), value, st);
}

static void ask(void *arg)
{
    asked *a = arg;
    ms_str value = {NULL, 0};
    ms_status st = {0};
    a->wait.ready = came;
    a->answer = ms_credentials_get(a->credentials, &a->wait, &value, &st);
    if (a->answer != MS_CREDENTIALS_PENDING) {
        end_asking(a, value, &st);
    }
}

static void destroy(void *arg)
{
    ms_credentials_destroy(arg);
}

static void get_value(const fixture *f, ms_credentials *credentials, asked *a)
{
    *a = (asked){.credentials = credentials};
    pthread_mutex_init(&a->mutex, NULL);
    pthread_cond_init(&a->over, NULL);
    ms_loop_call(f->loop, ask, a);
    pthread_mutex_lock(&a->mutex);
    while (!a->is_over) {
        pthread_cond_wait(&a->over, &a->mutex);
    }
    pthread_mutex_unlock(&a->mutex);
    ms_loop_call(f->loop, destroy, credentials);
}

/* A server that answers one request with one text and keeps what it was sent. A text that begins
 * with "!" is a refusal, one with "~" is that the server cannot now. */
typedef struct endpoint {
    int fd;
    uint16_t port;
    const char *answer;
    char request[8192];
    pthread_t thread;
} endpoint;

static void *serve_once(void *arg)
{
    endpoint *e = arg;
    int fd = accept(e->fd, NULL, NULL);
    size_t bytes = 0;
    const char *body = NULL;
    size_t wanted = 0;
    while (fd >= 0 && bytes < sizeof(e->request) - 1 && (body == NULL || strlen(body) < wanted)) {
        ssize_t got = read(fd, e->request + bytes, sizeof(e->request) - 1 - bytes);
        if (got <= 0) {
            break;
        }
        bytes += (size_t)got;
        e->request[bytes] = '\0';
        body = strstr(e->request, "\r\n\r\n");
        const char *length = strcasestr(e->request, "content-length:");
        body = body == NULL ? NULL : body + 4;
        wanted = length == NULL ? 0 : strtoul(length + 15, NULL, 10);
    }
    const char *answer = e->answer;
    const char *line = "200 OK";
    if (answer[0] == '!' || answer[0] == '~') {
        line = answer[0] == '!' ? "400 Bad Request" : "503 Service Unavailable";
        answer++;
    }
    char text[4096];
    int count = snprintf(text, sizeof(text),
                         "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", line,
                         strlen(answer), answer);
    (void)!write(fd, text, (size_t)count);
    close(fd);
    return NULL;
}

static void endpoint_start(endpoint *e, const char *answer)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t bytes = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *e = (endpoint){.answer = answer};
    e->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(e->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(e->fd, 1), 0);
    assert_int_equal(getsockname(e->fd, (struct sockaddr *)&address, &bytes), 0);
    e->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&e->thread, NULL, serve_once, e), 0);
}

static void endpoint_stop(endpoint *e)
{
    pthread_join(e->thread, NULL);
    close(e->fd);
}

/* Cases. */

static void a_service_account_signs_its_own_tokens(void **state)
{
    fixture *f = *state;
    char *key = make_key(true);
    char text[8192];
    ms_status st = {0};
    ms_credentials *credentials = NULL;
    snprintf(text, sizeof(text),
             "{\"type\":\"service_account\",\"client_email\":\"robot@example.com\","
             "\"private_key_id\":\"k1\",\"private_key\":\"%s\"}",
             key);
    write_file(f, text);
    assert_ok(create(f, true, &credentials, &st));
    assert_string_equal(ms_credentials_name(credentials), "service account");
    asked a;
    get_value(f, credentials, &a);
    assert_int_equal(a.st.code, MS_OK);
    /* Three parts behind "Bearer ", the first of which is the header. */
    assert_memory_equal(a.value, "Bearer eyJ", 10);
    const char *first = strchr(a.value, '.');
    assert_non_null(first);
    assert_non_null(strchr(first + 1, '.'));
    assert_null(strchr(strchr(first + 1, '.') + 1, '.'));
    assert_null(strpbrk(a.value + 7, "+/="));
    ms_mem_free(key);
}

static void a_signature_is_the_key_s(void **state)
{
    (void)state;
    char *pem = make_key(false);
    ms_status st = {0};
    ms_secret key = {0};
    ms_secret token = {0};
    ms_secret_set(&key, ms_str_cstr(pem));
    ms_jwt_claims claims = {
        .account = ms_str_lit("a\"b"), .scopes = ms_str_lit("s"), .issued_s = 1, .expires_s = 3601};
    assert_ok(ms_jwt_sign(&claims, &key, &token, &st));
    ms_str text = ms_secret_reveal(&token);
    size_t dot = text.bytes;
    while (text.ptr[dot - 1] != '.') {
        dot--;
    }
    char padded[2048];
    size_t bytes = 0;
    for (size_t i = dot; i < text.bytes; i++) {
        char c = text.ptr[i];
        padded[bytes++] = c == '-' ? '+' : c == '_' ? '/' : c;
    }
    while (bytes % 4 != 0) {
        padded[bytes++] = '=';
    }
    unsigned char signature[2048];
    assert_true(EVP_DecodeBlock(signature, (const unsigned char *)padded, (int)bytes) >= 256);
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *public_key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, public_key), 1);
    assert_int_equal(
        EVP_DigestVerify(context, signature, 256, (const unsigned char *)text.ptr, dot - 1), 1);
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(public_key);
    BIO_free(bio);
    ms_secret_release(&token);
    ms_secret_release(&key);
    ms_mem_free(pem);
}

static void what_is_no_key_file_is_refused_without_its_contents(void **state)
{
    fixture *f = *state;
    static const char *const files[] = {
        "",
        "canary-1",
        "{\"type\":\"service_account\",\"private_key\":\"canary-2",
        "[\"canary-3\"]",
        "{\"type\":\"authorized_user\",\"client_secret\":\"canary-4\"}",
        "{\"type\":\"external_account\",\"secret\":\"canary-5\"}",
        "{\"type\":\"service_account\",\"client_email\":\"x\"}",
        "{\"type\":\"service_account\",\"private_key\":\"canary-6\"}",
        "{\"type\":\"service_account\",\"client_email\":\"x\",\"private_key\":\"canary-7\"}",
        ("{\"type\":\"service_account\",\"client_email\":\"x\",\"private_key\":\"-----BEGIN "
         "PRIVATE "
         "KEY-----\\ncanary8\\n-----END PRIVATE KEY-----\\n\"}"),
        "{\"private_key\":\"canary-9\"}",
        "{\"type\":7,\"private_key\":\"canary-10\"}",
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        ms_status st = {0};
        ms_credentials *credentials = NULL;
        write_file(f, files[i]);
        assert_int_equal(create(f, true, &credentials, &st), MS_INVALID_OPTION);
        assert_null(credentials);
        assert_no_canary(&st);
    }
    ms_status st = {0};
    ms_credentials *credentials = NULL;
    unlink(f->path);
    assert_int_equal(create(f, true, &credentials, &st), MS_FILE_NOT_FOUND);
}

static void write_user(const fixture *f, uint16_t port)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "{\"type\":\"authorized_user\",\"client_id\":\"id&1\",\"client_secret\":\"canary-s\","
             "\"refresh_token\":\"canary-r\",\"token_uri\":\"http://127.0.0.1:%u/token\"}",
             port);
    write_file(f, text);
    setenv("GOOGLE_APPLICATION_CREDENTIALS", f->path, 1);
}

static void an_authorized_user_fetches_tokens(void **state)
{
    fixture *f = *state;
    endpoint e;
    ms_status st = {0};
    ms_credentials *credentials = NULL;
    endpoint_start(&e, "{\"access_token\":\"canary-t\",\"expires_in\":3599}");
    write_user(f, e.port);
    assert_ok(create(f, false, &credentials, &st));
    asked a;
    get_value(f, credentials, &a);
    endpoint_stop(&e);
    assert_int_equal(a.st.code, MS_OK);
    assert_string_equal(a.value, "Bearer canary-t");
    assert_non_null(strstr(e.request, "POST /token HTTP/1.1"));
    assert_non_null(strstr(e.request, "grant_type=refresh_token&client_id=id%261&client_secret="
                                      "canary-s&refresh_token=canary-r"));
    unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
}

/* What an authorized user gets from an endpoint with this answer. */
static void get_user_value(const fixture *f, const char *answer, asked *a)
{
    endpoint e;
    ms_status st = {0};
    ms_credentials *credentials = NULL;
    endpoint_start(&e, answer);
    write_user(f, e.port);
    assert_ok(create(f, false, &credentials, &st));
    get_value(f, credentials, a);
    endpoint_stop(&e);
    unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
}

static void a_refusal_is_told_without_secrets(void **state)
{
    fixture *f = *state;
    static const char *const answers[] = {
        "!{\"error\":\"invalid_grant\",\"error_description\":\"canary-d\"}",
        "!canary-e",
        "!{\"error\":\"canary-h\"}",
        "{\"token\":\"canary-f\"}",
        "canary-g",
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        asked a;
        get_user_value(f, answers[i], &a);
        assert_int_equal(a.st.code, MS_IO_ERROR);
        assert_no_canary(&a.st);
        assert_false(a.st.retriable);
        if (i == 0) {
            assert_string_equal(a.st.detail, "invalid_grant");
        }
    }
}

/* Calls end with UNAVAILABLE then, not as if the credentials were bad. */
static void a_token_endpoint_that_cannot_now_may_be_asked_again(void **state)
{
    fixture *f = *state;
    asked a;
    get_user_value(f, "~", &a);
    assert_int_equal(a.st.code, MS_IO_ERROR);
    assert_string_equal(a.st.message, "the token endpoint gave no token (HTTP 503)");
    assert_true(a.st.retriable);
}

static void any_number_of_seconds_is_a_life(void **state)
{
    fixture *f = *state;
    static const char *const numbers[] = {"9223372036854775807", "-9223372036854775808", "0"};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        asked a;
        char answer[128];
        snprintf(answer, sizeof(answer), "{\"access_token\":\"t\",\"expires_in\":%s}", numbers[i]);
        get_user_value(f, answer, &a);
        assert_int_equal(a.st.code, MS_OK);
        assert_string_equal(a.value, "Bearer t");
    }
}

static void secrets_are_sent_to_https_or_this_machine_only(void **state)
{
    fixture *f = *state;
    static const char *const uris[] = {
        "http://example.com/token",
        "ftp://canary",
        /* The host is what stands behind the user. */
        "http://127.0.0.1:canary@example.com/token",
        "http://localhost:80@example.com",
        "http://127.0.0.1:1\\\\@example.com/",
        "https://user:canary@example.com/token",
        "https://canary@127.0.0.1",
    };
    setenv("GOOGLE_APPLICATION_CREDENTIALS", f->path, 1);
    for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
        ms_status st = {0};
        ms_credentials *credentials = NULL;
        char text[512];
        snprintf(text, sizeof(text),
                 "{\"type\":\"authorized_user\",\"client_id\":\"i\",\"client_secret\":\"canary\","
                 "\"refresh_token\":\"canary\",\"token_uri\":\"%s\"}",
                 uris[i]);
        write_file(f, text);
        assert_int_equal(create(f, false, &credentials, &st), MS_INVALID_OPTION);
        assert_no_canary(&st);
    }
    unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
}

static void a_metadata_host_is_only_a_host(void **state)
{
    fixture *f = *state;
    static const char *const hosts[] = {"user:canary@127.0.0.1",
                                        "127.0.0.1/canary",
                                        "a?canary",
                                        "a#canary",
                                        "canary b",
                                        "can\\ary"};
    setenv("CLOUDSDK_CONFIG", "/nonexistent", 1);
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        ms_status st = {0};
        ms_credentials *credentials = NULL;
        setenv("GCE_METADATA_HOST", hosts[i], 1);
        assert_int_equal(create(f, false, &credentials, &st), MS_INVALID_OPTION);
        assert_no_canary(&st);
    }
    unsetenv("GCE_METADATA_HOST");
    unsetenv("CLOUDSDK_CONFIG");
}

/* What is sent in plaintext is sent to this machine, past any proxy. */
static void plaintext_goes_to_no_proxy(void **state)
{
    fixture *f = *state;
    endpoint e;
    ms_status st = {0};
    ms_credentials *credentials = NULL;
    setenv("http_proxy", "http://user:canary@127.0.0.1:1", 1);
    endpoint_start(&e, "{\"access_token\":\"t\",\"expires_in\":3599}");
    write_user(f, e.port);
    assert_ok(create(f, false, &credentials, &st));
    asked a;
    get_value(f, credentials, &a);
    unsetenv("http_proxy");
    assert_int_equal(a.st.code, MS_OK);
    endpoint_stop(&e);
    unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
}

static void the_metadata_server_is_asked_last(void **state)
{
    fixture *f = *state;
    endpoint e;
    char host[64];
    ms_status st = {0};
    ms_credentials *credentials = NULL;
    endpoint_start(&e, "{\"access_token\":\"m\",\"expires_in\":3599,\"token_type\":\"Bearer\"}");
    snprintf(host, sizeof(host), "127.0.0.1:%u", e.port);
    setenv("GCE_METADATA_HOST", host, 1);
    setenv("CLOUDSDK_CONFIG", "/nonexistent", 1);
    assert_ok(create(f, false, &credentials, &st));
    assert_string_equal(ms_credentials_name(credentials), "metadata server");
    asked a;
    get_value(f, credentials, &a);
    endpoint_stop(&e);
    assert_string_equal(a.value, "Bearer m");
    assert_non_null(strstr(e.request, "GET /computeMetadata/v1/instance/service-accounts/default/"
                                      "token?scopes=https://scope/a,https://scope/b HTTP/1.1"));
    assert_non_null(strstr(e.request, "Metadata-Flavor: Google"));
    unsetenv("GCE_METADATA_HOST");
    unsetenv("CLOUDSDK_CONFIG");
}

static void who_does_not_answer_is_named(void **state)
{
    (void)state;
    ms_status st = {0};
    long status = 0;
    ms_buf answer;
    ms_buf_init(&answer, 1024);
    static const char *const urls[] = {
        "http://127.0.0.1:1/canary?x=1", "http://127.0.0.1:1?canary", "http://127.0.0.1:1#canary",
        "http://user:canary@127.0.0.1:1/", "http://canary:@x@127.0.0.1:1"};
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        ms_http_request request = {.url = urls[i], .timeout_ms = 5000};
        ms_status_clear(&st);
        assert_int_equal(ms_http_call(&request, &status, &answer, &st), MS_IO_ERROR);
        assert_string_equal(st.message, "http://127.0.0.1:1 did not answer");
        assert_no_canary(&st);
    }
    ms_buf_release(&answer);
}

int main(void)
{
    unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_service_account_signs_its_own_tokens, setup, teardown),
        cmocka_unit_test(a_signature_is_the_key_s),
        cmocka_unit_test_setup_teardown(what_is_no_key_file_is_refused_without_its_contents, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_authorized_user_fetches_tokens, setup, teardown),
        cmocka_unit_test_setup_teardown(a_refusal_is_told_without_secrets, setup, teardown),
        cmocka_unit_test_setup_teardown(a_token_endpoint_that_cannot_now_may_be_asked_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(any_number_of_seconds_is_a_life, setup, teardown),
        cmocka_unit_test_setup_teardown(secrets_are_sent_to_https_or_this_machine_only, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_metadata_host_is_only_a_host, setup, teardown),
        cmocka_unit_test_setup_teardown(plaintext_goes_to_no_proxy, setup, teardown),
        cmocka_unit_test_setup_teardown(the_metadata_server_is_asked_last, setup, teardown),
        cmocka_unit_test(who_does_not_answer_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
