/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bigtables on the other side of a network: Cloud, an emulator, a server of ours. Opening one makes
 * a channel, which connects with the first call.
 */
/* tidy: no-unit-test: tests/slt/bigtable and tests/cli run it against a server */
#include "engine/bigtable.h"

#include "bigtable/client/grpc.h"
#include "net/credentials.h"
#include "net/credentials_cloud.h"
#include "net/grpc_server.h"
#include "net/tls.h"

#define CLOUD_DATA "bigtable.googleapis.com:443"
#define CLOUD_ADMIN "bigtableadmin.googleapis.com:443"
#define DATA_SCOPE "https://www.googleapis.com/auth/bigtable.data"
#define ADMIN_SCOPE "https://www.googleapis.com/auth/bigtable.admin"
#define TOKEN_BYTES_MAX 65536u

ms_rc msi_remote_loop(msi_bigtable *bigtable, ms_loop **loop_out, ms_status *st)
{
    if (bigtable->loop == NULL) {
        MS_TRY(ms_loop_create("network", &bigtable->loop, st));
    }
    *loop_out = bigtable->loop;
    return MS_OK;
}

void msi_remote_release(msi_bigtable *bigtable)
{
    ms_loop_destroy(bigtable->loop);
    bigtable->loop = NULL;
}

/* Endpoints. */

/* What a header can carry, and nobody pastes together with something else. */
static bool is_token(ms_str text)
{
    for (size_t i = 0; i < text.bytes; i++) {
        if (text.ptr[i] < '!' || text.ptr[i] > '~') {
            return false;
        }
    }
    return true;
}

ms_rc msi_read_token(ms_str path, ms_secret *token, ms_status *st)
{
    ms_buf bytes;
    ms_buf_init(&bytes, TOKEN_BYTES_MAX);
    ms_rc rc = ms_file_read_all(path.ptr, &bytes, st);
    if (rc == MS_OK) {
        ms_str text = ms_str_trim(ms_buf_view(&bytes));
        ms_secret_set(token, text);
        if (text.bytes == 0) {
            rc = ms_status_set(st, MS_INVALID_OPTION, ms_span_none, "token file \"%.*s\" is empty",
                               MS_STR_ARG(path));
        } else if (!is_token(text)) {
            rc = ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                               "token file \"%.*s\" is not one word of visible characters",
                               MS_STR_ARG(path));
        }
    }
    ms_secret_wipe(bytes.ptr, bytes.bytes);
    ms_buf_release(&bytes);
    return rc;
}

static const char hint_of_tls[] =
    "Set 'bigtable.tls-ca' to the file of certificates to trust, and 'bigtable.token-file' to the "
    "file of the server's token.";

/* What a user may have to change. A table's endpoint is plaintext without a token, whatever else is
 * set. */
static ms_bt_grpc_hints hints_of(const msi_place *place)
{
    static const char by_backend[] =
        "A table's 'emulator-endpoint' is plaintext without a token. Name this server by "
        "'bigtable.backend', with 'bigtable.tls-ca' and 'bigtable.token-file'.";
    if (place->is_named_by_table) {
        return (ms_bt_grpc_hints){.tls = by_backend, .token = by_backend};
    }
    return (ms_bt_grpc_hints){
        .certificate = "The certificate, or one that has signed it, must be in the file that "
                       "'bigtable.tls-ca' names, and be for the host that was asked.",
        .tls = hint_of_tls,
        .plaintext = "The server was started without a certificate: leave 'bigtable.tls-ca' out, "
                     "or start it with --tls-cert and --tls-key.",
        .token = place->token_file.bytes > 0
                     ? "The token in the file that 'bigtable.token-file' names is not the server's."
                     : "Set 'bigtable.token-file' to the file of the server's token.",
    };
}

static ms_rc open_endpoint(const msi_place *place, msi_backend *backend, ms_loop *loop,
                           ms_bt_grpc_options *options, ms_status *st)
{
    options->target = place->target;
    options->hints = hints_of(place);
    if (place->is_named_by_table) {
        options->allow_plaintext = true;
        return MS_OK;
    }
    bool is_loopback = ms_grpc_address_is_loopback(place->target);
    bool has_tls = place->tls_ca.bytes > 0;
    if ((!is_loopback || place->needs_tls) && !has_tls) {
        ms_status_set(st, MS_MISSING_OPTION, ms_span_none, "\"%.*s\" is %sreached by TLS only",
                      MS_STR_ARG(place->target), is_loopback ? "" : "another machine, which is ");
        return ms_status_hint(st, "%s", hint_of_tls);
    }
    if (has_tls) {
        MS_TRY(ms_tls_create_client(&(ms_tls_client_options){.ca_file = place->tls_ca.ptr},
                                    &backend->tls, st));
    }
    if (place->token_file.bytes > 0) {
        ms_secret token = {0};
        ms_rc rc = msi_read_token(place->token_file, &token, st);
        if (rc == MS_OK) {
            backend->credentials = ms_credentials_create_static(loop, &token);
        }
        ms_secret_release(&token);
        MS_TRY(rc);
    }
    return MS_OK;
}

/* Cloud. */

static ms_rc open_cloud(msi_bigtable *bigtable, const msi_place *place, msi_backend *backend,
                        ms_loop *loop, ms_bt_grpc_options *options, ms_status *st)
{
    options->target = ms_str_lit(CLOUD_DATA);
    options->admin_target = ms_str_lit(CLOUD_ADMIN);
    options->hints.certificate = place->tls_ca.bytes > 0
                                     ? "Leave 'bigtable.tls-ca' out: the system's certificates are "
                                       "trusted then."
                                     : "Set 'bigtable.tls-ca' to the file of certificates to trust "
                                       "in place of the system's.";
    ms_tls_client_options tls = {.ca_file = place->tls_ca.bytes > 0 ? place->tls_ca.ptr : NULL};
    MS_TRY(ms_tls_create_client(&tls, &backend->tls, st));
    ms_credentials_cloud_options credentials = {
        .loop = loop,
        .pool = bigtable->engine->iopool,
        .key_file = place->key_file.bytes > 0 ? place->key_file.ptr : NULL,
        .scopes = DATA_SCOPE " " ADMIN_SCOPE,
    };
    return ms_credentials_create_cloud(&credentials, &backend->credentials, st);
}

/* Life. */

static ms_rc open_transport(msi_bigtable *bigtable, const msi_place *place, msi_backend *backend,
                            ms_status *st)
{
    ms_loop *loop = NULL;
    MS_TRY(msi_remote_loop(bigtable, &loop, st));
    ms_bt_grpc_options options = {.loop = loop};
    MS_TRY(place->kind == MSI_PLACE_CLOUD ? open_cloud(bigtable, place, backend, loop, &options, st)
                                          : open_endpoint(place, backend, loop, &options, st));
    options.tls = backend->tls;
    options.credentials = backend->credentials;
    return ms_bt_grpc_create(&options, &backend->transport, st);
}

ms_rc msi_remote_open(msi_bigtable *bigtable, const msi_place *place, msi_backend *backend,
                      ms_status *st)
{
    MS_TRY(open_transport(bigtable, place, backend, st));
    backend->client = ms_bt_client_create(backend->transport, NULL);
    return MS_OK;
}

static void destroy_credentials(void *arg)
{
    ms_credentials_destroy(arg);
}

void msi_remote_close(msi_bigtable *bigtable, msi_backend *backend)
{
    ms_bt_grpc_destroy(backend->transport);
    if (backend->credentials != NULL) {
        ms_loop_call(bigtable->loop, destroy_credentials, backend->credentials);
    }
    ms_tls_destroy(backend->tls);
}
