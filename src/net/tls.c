/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenSSL behind two memory BIOs. The rules: TLS 1.2 or later, no renegotiation, h2 by ALPN or no
 * connection, and on the client a chain that leads to a trusted certificate and fits the name.
 */
#include "net/tls.h"

#include "base/memory.h"
#include "net/tls_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

struct ms_tls {
    SSL_CTX *ctx;
    bool is_server;
};

struct msi_tls_stream {
    SSL *ssl;
    BIO *in;  /* owned by ssl */
    BIO *out; /* owned by ssl */
    ms_tls_obstacle obstacle;
};

static const unsigned char alpn_h2[] = {2, 'h', '2'};

/* The first error of OpenSSL's queue, which says more than the later ones, as the detail of a
 * message that is set; empties the queue. */
static ms_rc tell_why(ms_status *st)
{
    char text[256] = "no reason given";
    unsigned long error = ERR_get_error();
    if (error != 0) {
        const char *reason = ERR_reason_error_string(error);
        if (reason != NULL) {
            snprintf(text, sizeof(text), "%s", reason);
        } else {
            ERR_error_string_n(error, text, sizeof(text));
        }
    }
    ERR_clear_error();
    return ms_status_detail(st, "%s", text);
}

static ms_rc fail(ms_status *st, ms_rc code, const char *what)
{
    ms_status_set(st, code, ms_span_none, "%s", what);
    return tell_why(st);
}

/* Contexts. */

static ms_rc create(bool is_server, ms_tls **tls_out, ms_status *st)
{
    *tls_out = NULL;
    ERR_clear_error();
    SSL_CTX *ctx = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    if (ctx == NULL) {
        return fail(st, MS_IO_ERROR, "could not set up TLS");
    }
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    ms_tls *tls = ms_mem_alloc(sizeof(*tls));
    *tls = (ms_tls){.ctx = ctx, .is_server = is_server};
    *tls_out = tls;
    return MS_OK;
}

void ms_tls_destroy(ms_tls *tls)
{
    if (tls != NULL) {
        SSL_CTX_free(tls->ctx);
        ms_mem_free(tls);
    }
}

/* A file that cannot be read is reported as such, not as one that OpenSSL does not understand. */
static ms_rc check_readable(const char *path, ms_status *st)
{
    if (access(path, R_OK) != 0) {
        return ms_status_set_errno(st, errno, "could not read \"%s\"", path);
    }
    return MS_OK;
}

static ms_rc trust(ms_tls *tls, const char *ca_file, ms_status *st)
{
    if (ca_file == NULL) {
        if (SSL_CTX_set_default_verify_paths(tls->ctx) != 1) {
            return fail(st, MS_IO_ERROR, "could not load the system's certificates");
        }
        return MS_OK;
    }
    MS_TRY(check_readable(ca_file, st));
    if (SSL_CTX_load_verify_locations(tls->ctx, ca_file, NULL) != 1) {
        ms_status_set(st, MS_INVALID_OPTION, ms_span_none, "file \"%s\" holds no certificate",
                      ca_file);
        tell_why(st);
        return ms_status_hint(st, "The file must hold certificates in PEM form.");
    }
    return MS_OK;
}

ms_rc ms_tls_create_client(const ms_tls_client_options *options, ms_tls **tls_out, ms_status *st)
{
    MS_TRY(create(false, tls_out, st));
    SSL_CTX_set_verify((*tls_out)->ctx, SSL_VERIFY_PEER, NULL);
    /* The call returns 0 on success, unlike its neighbors. */
    int rc = SSL_CTX_set_alpn_protos((*tls_out)->ctx, alpn_h2, sizeof(alpn_h2));
    MS_ASSERT(rc == 0);
    if (trust(*tls_out, options->ca_file, st) != MS_OK) {
        ms_tls_destroy(*tls_out);
        *tls_out = NULL;
    }
    return st->code;
}

/* The server's choice among what a client offers. Without h2 the handshake fails with the alert
 * that RFC 7301 has for this. */
static int choose_alpn(SSL *ssl, const unsigned char **chosen, unsigned char *chosen_bytes,
                       const unsigned char *offered, unsigned int offered_bytes, void *arg)
{
    (void)ssl;
    (void)arg;
    unsigned int at = 0;
    while (at < offered_bytes && at + 1u + offered[at] <= offered_bytes) {
        if (offered[at] == 2 && offered[at + 1] == 'h' && offered[at + 2] == '2') {
            *chosen = offered + at + 1;
            *chosen_bytes = 2;
            return SSL_TLSEXT_ERR_OK;
        }
        at += 1u + offered[at];
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

int msi_tls_no_passphrase(char *buf, int size, int rwflag, void *arg)
{
    (void)buf;
    (void)size;
    (void)rwflag;
    (void)arg;
    return -1;
}

static ms_rc load_identity(ms_tls *tls, const ms_tls_server_options *options, ms_status *st)
{
    MS_TRY(check_readable(options->certificate_file, st));
    MS_TRY(check_readable(options->key_file, st));
    SSL_CTX_set_default_passwd_cb(tls->ctx, msi_tls_no_passphrase);
    if (SSL_CTX_use_certificate_chain_file(tls->ctx, options->certificate_file) != 1) {
        ms_status_set(st, MS_INVALID_OPTION, ms_span_none, "certificate file \"%s\" cannot be used",
                      options->certificate_file);
        return tell_why(st);
    }
    if (SSL_CTX_use_PrivateKey_file(tls->ctx, options->key_file, SSL_FILETYPE_PEM) != 1) {
        ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                      "key file \"%s\" cannot be used with the certificate", options->key_file);
        return tell_why(st);
    }
    if (SSL_CTX_check_private_key(tls->ctx) != 1) {
        return fail(st, MS_INVALID_OPTION, "key and certificate do not belong together");
    }
    return MS_OK;
}

/* An encrypted key would make OpenSSL ask on the terminal. */
static int no_password(char *buffer, int size, int for_writing, void *arg)
{
    (void)buffer;
    (void)size;
    (void)for_writing;
    (void)arg;
    return -1;
}

ms_rc ms_tls_create_server(const ms_tls_server_options *options, ms_tls **tls_out, ms_status *st)
{
    MS_TRY(create(true, tls_out, st));
    SSL_CTX *ctx = (*tls_out)->ctx;
    SSL_CTX_set_alpn_select_cb(ctx, choose_alpn, NULL);
    SSL_CTX_set_default_passwd_cb(ctx, no_password);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    if (load_identity(*tls_out, options, st) != MS_OK) {
        ms_tls_destroy(*tls_out);
        *tls_out = NULL;
    }
    return st->code;
}

bool msi_tls_is_server(const ms_tls *tls)
{
    return tls->is_server;
}

/* Streams. */

/* Demands that the certificate is for this name; SNI carries host names only. */
static bool expect_name(SSL *ssl, const char *name)
{
    unsigned char address[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1) {
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    }
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    /* What SSL_set_tlsext_host_name stands for, which drops a const on the way. */
    return SSL_set1_host(ssl, name) == 1 &&
           SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                    (void *)(uintptr_t)name) == 1;
}

ms_rc msi_tls_stream_create(ms_tls *tls, const char *name, msi_tls_stream **stream_out,
                            ms_status *st)
{
    *stream_out = NULL;
    ERR_clear_error();
    SSL *ssl = SSL_new(tls->ctx);
    BIO *in = BIO_new(BIO_s_mem());
    BIO *out = BIO_new(BIO_s_mem());
    if (ssl == NULL || in == NULL || out == NULL) {
        SSL_free(ssl);
        BIO_free(in);
        BIO_free(out);
        return fail(st, MS_IO_ERROR, "could not set up TLS for a connection");
    }
    BIO_set_mem_eof_return(in, -1); /* empty means: not yet */
    SSL_set_bio(ssl, in, out);
    if (tls->is_server) {
        SSL_set_accept_state(ssl);
    } else {
        SSL_set_connect_state(ssl);
        if (!expect_name(ssl, name)) {
            SSL_free(ssl);
            return fail(st, MS_IO_ERROR, "a server's name cannot be verified");
        }
    }
    msi_tls_stream *stream = ms_mem_alloc(sizeof(*stream));
    *stream = (msi_tls_stream){.ssl = ssl, .in = in, .out = out};
    *stream_out = stream;
    return MS_OK;
}

void msi_tls_stream_destroy(msi_tls_stream *stream)
{
    if (stream != NULL) {
        SSL_free(stream->ssl);
        ms_mem_free(stream);
    }
}

void msi_tls_stream_feed(msi_tls_stream *stream, ms_str bytes)
{
    MS_ASSERT(bytes.bytes <= INT_MAX);
    int taken = BIO_write(stream->in, bytes.ptr, (int)bytes.bytes);
    if (taken != (int)bytes.bytes) {
        ms_mem_exhausted(bytes.bytes);
    }
}

/* A record of one alert: fatal, protocol_version. */
static const unsigned char alert_of_version[] = {21, 3, 1, 0, 2, 2, 70};

/* What OpenSSL makes of first bytes that are no TLS record. */
static bool is_no_tls(int reason)
{
    return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST;
}

/* A certificate that was not accepted is the reason worth telling. */
static ms_rc fail_handshake(msi_tls_stream *stream, ms_status *st)
{
    long verified = SSL_get_verify_result(stream->ssl);
    if (verified != X509_V_OK) {
        ERR_clear_error();
        stream->obstacle = MS_TLS_OBSTACLE_CERTIFICATE;
        ms_status_set(st, MS_IO_ERROR, ms_span_none, "the server's certificate was not accepted");
        return ms_status_detail(st, "%s", X509_verify_cert_error_string(verified));
    }
    if (!is_no_tls(ERR_GET_REASON(ERR_peek_error()))) {
        return fail(st, MS_IO_ERROR, "the TLS handshake failed");
    }
    if (SSL_is_server(stream->ssl) == 1) {
        /* OpenSSL is silent to such a peer; this tells it what it has come to. */
        (void)BIO_write(stream->out, alert_of_version, sizeof(alert_of_version));
        return fail(st, MS_IO_ERROR, "the client does not speak TLS");
    }
    stream->obstacle = MS_TLS_OBSTACLE_PLAINTEXT;
    return fail(st, MS_IO_ERROR, "the server does not speak TLS");
}

ms_tls_obstacle msi_tls_stream_obstacle(const msi_tls_stream *stream)
{
    return stream->obstacle;
}

ms_rc msi_tls_stream_handshake(msi_tls_stream *stream, bool *done_out, ms_status *st)
{
    *done_out = false;
    ERR_clear_error();
    int rc = SSL_do_handshake(stream->ssl);
    if (rc != 1) {
        int error = SSL_get_error(stream->ssl, rc);
        return error == SSL_ERROR_WANT_READ ? MS_OK : fail_handshake(stream, st);
    }
    const unsigned char *protocol = NULL;
    unsigned int bytes = 0;
    SSL_get0_alpn_selected(stream->ssl, &protocol, &bytes);
    if (bytes != 2 || memcmp(protocol, "h2", 2) != 0) {
        return ms_status_set(st, MS_IO_ERROR, ms_span_none,
                             "the TLS peer does not speak HTTP/2 (no ALPN h2)");
    }
    *done_out = true;
    return MS_OK;
}

ms_rc msi_tls_stream_open(msi_tls_stream *stream, char *out, size_t capacity, size_t *bytes_out,
                          bool *is_end_out, ms_status *st)
{
    *is_end_out = false;
    *bytes_out = 0;
    ERR_clear_error();
    int rc = SSL_read_ex(stream->ssl, out, capacity, bytes_out);
    if (rc == 1) {
        return MS_OK;
    }
    *bytes_out = 0;
    int error = SSL_get_error(stream->ssl, rc);
    if (error == SSL_ERROR_WANT_READ) {
        return MS_OK;
    }
    if (error == SSL_ERROR_ZERO_RETURN) {
        *is_end_out = true;
        return MS_OK;
    }
    return fail(st, MS_IO_ERROR, "TLS data cannot be read");
}

ms_rc msi_tls_stream_seal(msi_tls_stream *stream, ms_str bytes, ms_status *st)
{
    size_t written = 0;
    ERR_clear_error();
    if (bytes.bytes > 0 && (SSL_write_ex(stream->ssl, bytes.ptr, bytes.bytes, &written) != 1 ||
                            written != bytes.bytes)) {
        return fail(st, MS_IO_ERROR, "TLS data cannot be written");
    }
    return MS_OK;
}

void msi_tls_stream_end(msi_tls_stream *stream)
{
    ERR_clear_error();
    (void)SSL_shutdown(stream->ssl);
    ERR_clear_error();
}

ms_str msi_tls_stream_sealed(msi_tls_stream *stream)
{
    char *data = NULL;
    long bytes = BIO_get_mem_data(stream->out, &data);
    return (ms_str){data, bytes > 0 ? (size_t)bytes : 0};
}

void msi_tls_stream_sealed_taken(msi_tls_stream *stream)
{
    (void)BIO_reset(stream->out);
}
