/* SPDX-License-Identifier: Apache-2.0 */
#include "net/raw.h"
#include "net/rig.h"
#include "net/tls_priv.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* Certificates, made anew for each run. */

typedef struct identity {
    EVP_PKEY *key;
    X509 *certificate;
} identity;

static char folder[64];
static char ca_file[128];
static char other_ca_file[128];
static char chain_file[128]; /* for "server.test", "*.wild.test", 127.0.0.1 and ::1 */
static char key_file[128];
static char expired_file[128];
static char other_key_file[128];
static char locked_key_file[128];
static char garbage_file[128];

static void add_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    assert_non_null(extension);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

static identity make_identity(const char *name, const identity *issuer, const char *names,
                              long seconds)
{
    static long serial = 1;
    identity made = {.key = EVP_EC_gen("P-256"), .certificate = X509_new()};
    X509 *certificate = made.certificate;
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -86400 * 2);
    X509_gmtime_adj(X509_getm_notAfter(certificate), seconds);
    X509_set_pubkey(certificate, made.key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               (const unsigned char *)name, -1, -1, 0);
    X509 *signer = issuer != NULL ? issuer->certificate : certificate;
    X509_set_issuer_name(certificate, X509_get_subject_name(signer));
    add_extension(certificate, signer, NID_basic_constraints,
                  issuer == NULL ? "critical,CA:TRUE" : "CA:FALSE");
    if (names != NULL) {
        add_extension(certificate, signer, NID_subject_alt_name, names);
    }
    X509_sign(certificate, issuer != NULL ? issuer->key : made.key, EVP_sha256());
    return made;
}

static void write_pem(const char *path, X509 *first, X509 *second, EVP_PKEY *key,
                      const char *password)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    if (first != NULL) {
        PEM_write_X509(file, first);
    }
    if (second != NULL) {
        PEM_write_X509(file, second);
    }
    if (key != NULL) {
        PEM_write_PrivateKey(file, key, password != NULL ? EVP_aes_128_cbc() : NULL,
                             (const unsigned char *)password,
                             password != NULL ? (int)strlen(password) : 0, NULL, NULL);
    }
    fclose(file);
}

static void release_identity(identity *made)
{
    EVP_PKEY_free(made->key);
    X509_free(made->certificate);
}

static int make_files(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/net-tls-XXXXXX");
    assert_non_null(mkdtemp(folder));
    char *const paths[] = {ca_file,      other_ca_file,  chain_file,      key_file,
                           expired_file, other_key_file, locked_key_file, garbage_file};
    for (int i = 0; i < 8; i++) {
        snprintf(paths[i], 128, "%s/%d.pem", folder, i);
    }
    static const char names[] = "DNS:server.test,DNS:*.wild.test,IP:127.0.0.1,IP:::1";
    identity ca = make_identity("test ca", NULL, NULL, 86400);
    identity other = make_identity("other ca", NULL, NULL, 86400);
    identity server = make_identity("server", &ca, names, 86400);
    identity expired = make_identity("expired", &ca, names, -86400);
    write_pem(ca_file, ca.certificate, NULL, NULL, NULL);
    write_pem(other_ca_file, other.certificate, NULL, NULL, NULL);
    write_pem(chain_file, server.certificate, ca.certificate, NULL, NULL);
    write_pem(key_file, NULL, NULL, server.key, NULL);
    write_pem(expired_file, expired.certificate, NULL, expired.key, NULL);
    write_pem(other_key_file, NULL, NULL, other.key, NULL);
    write_pem(locked_key_file, NULL, NULL, server.key, "secret");
    FILE *file = fopen(garbage_file, "w");
    fputs("no certificate", file);
    fclose(file);
    release_identity(&ca);
    release_identity(&other);
    release_identity(&server);
    release_identity(&expired);
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%d.pem", folder, i);
        unlink(path);
    }
    rmdir(folder);
    return 0;
}

/* Connections. */

typedef struct tls_rig {
    rig it;
    ms_tls *server;
    ms_tls *client;
} tls_rig;

static void tls_open(tls_rig *own, const char *ca, const char *certificate, const char *key,
                     rig_options options)
{
    ms_status st = {0};
    assert_ok(ms_tls_create_server(
        &(ms_tls_server_options){.certificate_file = certificate, .key_file = key}, &own->server,
        &st));
    assert_ok(ms_tls_create_client(&(ms_tls_client_options){.ca_file = ca}, &own->client, &st));
    options.server.tls = own->server;
    options.channel.tls = own->client;
    rig_open(&own->it, &options);
}

static void tls_close(tls_rig *own)
{
    rig_close(&own->it);
    ms_tls_destroy(own->server);
    ms_tls_destroy(own->client);
}

static void calls_go_over_tls(void **state)
{
    (void)state;
    static const char *const authorities[] = {"", "server.test", "server.test:443", "a.wild.test"};
    for (size_t i = 0; i < sizeof(authorities) / sizeof(authorities[0]); i++) {
        tls_rig own;
        tls_open(&own, ca_file, chain_file, key_file,
                 (rig_options){.channel.authority = ms_str_cstr(authorities[i])});
        rig_check_works(&own.it);
        tls_close(&own);
    }
}

static void large_messages_go_over_tls_in_both_directions(void **state)
{
    (void)state;
    tls_rig own;
    tls_open(&own, ca_file, chain_file, key_file, (rig_options){0});
    char *bytes = ms_mem_alloc(5 << 20);
    memset(bytes, 'm', 5 << 20);
    for (int i = 0; i < 3; i++) {
        probe call = {.path = "/t/Echo", .request_bytes = {bytes, 5 << 20}};
        probe_run(&own.it, &call);
        assert_int_equal(call.code, MS_GRPC_OK);
        assert_int_equal(call.message_bytes, 5 << 20);
    }
    ms_mem_free(bytes);
    tls_close(&own);
}

static void check_refused(const char *ca, const char *certificate, const char *key,
                          const char *authority, const char *reason)
{
    tls_rig own;
    tls_open(&own, ca, certificate, key,
             (rig_options){.channel.authority = ms_str_cstr(authority)});
    probe call = {.path = "/t/Echo", .request = "x"};
    probe_run(&own.it, &call);
    assert_int_equal(call.code, MS_GRPC_UNAVAILABLE);
    assert_true(call.is_unprocessed);
    assert_int_equal(call.obstacle, MS_TLS_OBSTACLE_CERTIFICATE);
    /* Waiting would not help, and is not what the call gets. */
    probe patient = {.path = "/t/Echo", .request = "x", .wait_for_ready = true};
    probe_run(&own.it, &patient);
    assert_int_equal(patient.obstacle, MS_TLS_OBSTACLE_CERTIFICATE);
    if (strstr(call.message, reason) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", call.message, reason);
    }
    assert_int_equal(own.it.started, 0);
    tls_close(&own);
}

static void a_server_that_cannot_be_verified_is_refused(void **state)
{
    (void)state;
    check_refused(ca_file, chain_file, key_file, "else.test", "hostname mismatch");
    check_refused(ca_file, chain_file, key_file, "a.b.wild.test", "hostname mismatch");
    check_refused(ca_file, chain_file, key_file, "127.0.0.2:1", "IP address mismatch");
    check_refused(other_ca_file, chain_file, key_file, "", "certificate");
    check_refused(ca_file, expired_file, expired_file, "", "expired");
    check_refused(NULL, chain_file, key_file, "", "certificate");
}

static void a_client_without_tls_is_refused(void **state)
{
    (void)state;
    static raw_peer peer;
    tls_rig own;
    tls_open(&own, ca_file, chain_file, key_file, (rig_options){0});
    raw_connect(&peer, ms_grpc_server_port(own.it.server));
    raw_start(&peer);
    assert_true(raw_fill(&peer, 7));
    assert_memory_equal(peer.bytes, "\x15\x03\x01\x00\x02\x02\x46", 7); /* an alert, then the end */
    assert_false(raw_fill(&peer, 8));
    raw_close(&peer);
    rig_close_channel(&own.it);
    rig_open_channel(&own.it, &(ms_grpc_channel_options){.target = ms_str_cstr(own.it.target)});
    probe call = {.path = "/t/Echo", .request = "x"};
    probe_run(&own.it, &call);
    assert_int_equal(call.code, MS_GRPC_UNAVAILABLE);
    assert_int_equal(call.obstacle, MS_TLS_OBSTACLE_TLS);
    rig_close_channel(&own.it);
    rig_open_channel(&own.it, &(ms_grpc_channel_options){.target = ms_str_cstr(own.it.target),
                                                         .tls = own.client});
    rig_check_works(&own.it);
    tls_close(&own);
}

static void a_server_without_tls_is_refused(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_tls *client = NULL;
    assert_ok(ms_tls_create_client(&(ms_tls_client_options){.ca_file = ca_file}, &client, &st));
    rig it;
    rig_open(&it, &(rig_options){.channel.tls = client});
    probe call = {.path = "/t/Echo", .request = "x"};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_UNAVAILABLE);
    assert_int_equal(call.obstacle, MS_TLS_OBSTACLE_PLAINTEXT);
    assert_non_null(strstr(call.message, "the server does not speak TLS"));
    rig_close(&it);
    ms_tls_destroy(client);
}

static void a_handshake_that_does_not_end_times_out(void **state)
{
    (void)state;
    static raw_peer peer;
    tls_rig own;
    tls_open(&own, ca_file, chain_file, key_file, (rig_options){.with_clock = true});
    raw_connect(&peer, ms_grpc_server_port(own.it.server));
    raw_write(&peer, "\x16\x03\x01\x02\x00", 5); /* a record that never comes */
    while (ms_grpc_server_get_stats(own.it.server).connections == 0) {
    }
    rig_advance(&own.it, 20 * S_NS);
    assert_int_equal(raw_read_until(&peer, RAW_CLOSED), RAW_CLOSED);
    raw_close(&peer);
    rig_check_works(&own.it);
    tls_close(&own);
}

/* A TLS peer made of OpenSSL alone, over a blocking socket. */
static SSL *plain_client(int fd, const unsigned char *alpn, unsigned alpn_bytes, int version)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(ctx, version);
    if (alpn_bytes > 0) {
        SSL_CTX_set_alpn_protos(ctx, alpn, alpn_bytes);
    }
    SSL *ssl = SSL_new(ctx);
    SSL_CTX_free(ctx);
    SSL_set_fd(ssl, fd);
    return ssl;
}

/* A server that is to end does not wait for clients that have not even finished their handshake:
 * the clock stands still, and the wait has no end. */
static void a_handshake_that_does_not_end_holds_no_server_up(void **state)
{
    (void)state;
    static raw_peer peer;
    tls_rig own;
    tls_open(&own, ca_file, chain_file, key_file, (rig_options){.with_clock = true});
    raw_connect(&peer, ms_grpc_server_port(own.it.server));
    rig_check_works(&own.it);
    assert_int_equal(ms_grpc_server_get_stats(own.it.server).connections, 2);
    ms_grpc_server_destroy(own.it.server, INT64_MAX);
    own.it.server = NULL;
    assert_int_equal(raw_read_until(&peer, RAW_CLOSED), RAW_CLOSED);
    raw_close(&peer);
    tls_close(&own);
}

static void check_plain_client(rig *it, const char *alpn, int version, bool is_accepted)
{
    static raw_peer peer;
    raw_connect(&peer, ms_grpc_server_port(it->server));
    SSL *ssl = plain_client(peer.fd, (const unsigned char *)alpn, (unsigned)strlen(alpn), version);
    bool works = SSL_connect(ssl) == 1;
    const unsigned char *chosen = NULL;
    unsigned chosen_bytes = 0;
    SSL_get0_alpn_selected(ssl, &chosen, &chosen_bytes);
    works = works && chosen_bytes == 2 && memcmp(chosen, "h2", 2) == 0;
    if (works) {
        SSL_write(ssl, RAW_PREFACE "\0\0\0\4\0\0\0\0\0", 33);
        char byte = 0;
        works = SSL_read(ssl, &byte, 1) == 1;
    }
    assert_int_equal(works, is_accepted);
    SSL_free(ssl);
    raw_close(&peer);
}

/* What a client of HTTP/2 says to be sent more than the sockets hold, as bytes. */
static size_t write_greedy_request(char *out, size_t capacity)
{
    static raw_peer scribe;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    raw_init(&scribe, pair[0], false);
    raw_start_greedy(&scribe);
    ssize_t count = recv(pair[1], out, capacity, 0);
    assert_true(count > 0);
    raw_close(&scribe);
    close(pair[1]);
    return (size_t)count;
}

/* TLS 1.3 lets either side ask for new keys, and each request is answered. A client that reads no
 * answers is not answered without bound. */
static void requests_for_new_keys_are_bounded(void **state)
{
    (void)state;
    static raw_peer peer;
    char request[4096];
    int small = 4096;
    tls_rig own;
    signal(SIGPIPE, SIG_IGN); /* OpenSSL writes to the socket itself */
    tls_open(&own, ca_file, chain_file, key_file, (rig_options){.with_clock = true});
    raw_connect(&peer, ms_grpc_server_port(own.it.server));
    setsockopt(peer.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    SSL *ssl = plain_client(peer.fd, (const unsigned char *)"\x02h2", 3, TLS1_3_VERSION);
    assert_int_equal(SSL_connect(ssl), 1);
    size_t bytes = write_greedy_request(request, sizeof(request));
    assert_int_equal(SSL_write(ssl, request, (int)bytes), (int)bytes);
    rig_wait_started(&own.it, 1);
    rig_settle_full(&own.it);
    for (int i = 0; i < 45000; i++) {
        if (SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) != 1 || SSL_do_handshake(ssl) != 1) {
            break;
        }
    }
    rig_wait_canceled(&own.it, 1);
    SSL_free(ssl);
    raw_close(&peer);
    rig_check_works(&own.it);
    tls_close(&own);
    signal(SIGPIPE, SIG_DFL);
}

static void http2_must_be_agreed_on(void **state)
{
    (void)state;
    tls_rig own;
    tls_open(&own, ca_file, chain_file, key_file, (rig_options){0});
    check_plain_client(&own.it, "\x02h2", TLS1_3_VERSION, true);
    check_plain_client(&own.it, "\x08http/1.1\x02h2", TLS1_3_VERSION, true);
    check_plain_client(&own.it, "\x02h2", TLS1_2_VERSION, true);
    check_plain_client(&own.it, "\x08http/1.1", TLS1_3_VERSION, false);
    check_plain_client(&own.it, "", TLS1_3_VERSION, false);
    check_plain_client(&own.it, "\x02h2", TLS1_1_VERSION, false);
    rig_check_works(&own.it);
    tls_close(&own);
}

/* Files. */

static void files_that_cannot_be_used_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *certificate;
        const char *key;
        ms_rc rc;
    } servers[] = {
        {"/nonexistent", key_file, MS_FILE_NOT_FOUND},
        {chain_file, "/nonexistent", MS_FILE_NOT_FOUND},
        {garbage_file, key_file, MS_INVALID_OPTION},
        {chain_file, garbage_file, MS_INVALID_OPTION},
        {chain_file, other_key_file, MS_INVALID_OPTION},
        {chain_file, locked_key_file, MS_INVALID_OPTION},
    };
    ms_tls *tls = NULL;
    for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
        ms_status st = {0};
        ms_tls_server_options options = {.certificate_file = servers[i].certificate,
                                         .key_file = servers[i].key};
        assert_int_equal(ms_tls_create_server(&options, &tls, &st), servers[i].rc);
        assert_null(tls);
    }
    ms_status st = {0};
    ms_tls_client_options missing = {.ca_file = "/nonexistent"};
    assert_int_equal(ms_tls_create_client(&missing, &tls, &st), MS_FILE_NOT_FOUND);
    ms_status_clear(&st);
    ms_tls_client_options garbage = {.ca_file = garbage_file};
    assert_int_equal(ms_tls_create_client(&garbage, &tls, &st), MS_INVALID_OPTION);
    assert_null(tls);
    ms_tls_destroy(NULL);
}

/* The filter, without a socket. */

static void exchange(msi_tls_stream *from, msi_tls_stream *to, size_t piece_bytes)
{
    ms_str sealed = msi_tls_stream_sealed(from);
    for (size_t at = 0; at < sealed.bytes; at += piece_bytes) {
        msi_tls_stream_feed(to, ms_str_slice(sealed, at, at + piece_bytes));
    }
    msi_tls_stream_sealed_taken(from);
}

static void a_stream_carries_bytes_in_pieces_of_any_size(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_tls *server_tls = NULL;
    ms_tls *client_tls = NULL;
    ms_tls_server_options options = {.certificate_file = chain_file, .key_file = key_file};
    assert_ok(ms_tls_create_server(&options, &server_tls, &st));
    assert_ok(ms_tls_create_client(&(ms_tls_client_options){.ca_file = ca_file}, &client_tls, &st));
    for (size_t piece = 1; piece < 5000; piece = piece * 7 + 1) {
        msi_tls_stream *server = NULL;
        msi_tls_stream *client = NULL;
        bool client_done = false;
        bool server_done = false;
        assert_ok(msi_tls_stream_create(server_tls, NULL, &server, &st));
        assert_ok(msi_tls_stream_create(client_tls, "server.test", &client, &st));
        while (!client_done || !server_done) {
            assert_ok(msi_tls_stream_handshake(client, &client_done, &st));
            exchange(client, server, piece);
            assert_ok(msi_tls_stream_handshake(server, &server_done, &st));
            exchange(server, client, piece);
        }
        assert_ok(msi_tls_stream_seal(client, ms_str_lit("over the wire"), &st));
        exchange(client, server, piece);
        char out[64];
        size_t bytes = 0;
        bool is_end = false;
        assert_ok(msi_tls_stream_open(server, out, sizeof(out), &bytes, &is_end, &st));
        assert_str_equal(((ms_str){out, bytes}), "over the wire");
        assert_ok(msi_tls_stream_open(server, out, sizeof(out), &bytes, &is_end, &st));
        assert_int_equal(bytes, 0);
        msi_tls_stream_end(client);
        exchange(client, server, piece);
        assert_ok(msi_tls_stream_open(server, out, sizeof(out), &bytes, &is_end, &st));
        assert_true(is_end);
        msi_tls_stream_feed(client, ms_str_lit("\x17\x03\x03\x00\x10garbage of 16 b."));
        assert_int_equal(msi_tls_stream_open(client, out, sizeof(out), &bytes, &is_end, &st),
                         MS_IO_ERROR);
        ms_status_clear(&st);
        msi_tls_stream_destroy(server);
        msi_tls_stream_destroy(client);
    }
    ms_tls_destroy(server_tls);
    ms_tls_destroy(client_tls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_go_over_tls),
        cmocka_unit_test(large_messages_go_over_tls_in_both_directions),
        cmocka_unit_test(a_server_that_cannot_be_verified_is_refused),
        cmocka_unit_test(a_client_without_tls_is_refused),
        cmocka_unit_test(a_server_without_tls_is_refused),
        cmocka_unit_test(a_handshake_that_does_not_end_times_out),
        cmocka_unit_test(a_handshake_that_does_not_end_holds_no_server_up),
        cmocka_unit_test(requests_for_new_keys_are_bounded),
        cmocka_unit_test(http2_must_be_agreed_on),
        cmocka_unit_test(files_that_cannot_be_used_are_refused),
        cmocka_unit_test(a_stream_carries_bytes_in_pieces_of_any_size),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
