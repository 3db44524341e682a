/* SPDX-License-Identifier: Apache-2.0 */
/*
 * include/millstream/bigtable.h: the embedded Bigtable as a server of this process.
 */
/* tidy: no-unit-test: tests/cli and tests/conformance run millstream serve */
#include "engine/bigtable.h"

#include "base/memory.h"
#include "bigtable/server/server.h"
#include "engine/engine_test.h"
#include "millstream/bigtable.h"
#include "net/grpc_server.h"
#include "net/loop.h"
#include "net/secret.h"
#include "net/tls.h"

#include <stdio.h>

#define LISTEN_DEFAULT "127.0.0.1:8086"
#define LOOPS_MAX 8
#define NS_PER_MS INT64_C(1000000)

struct ms_bigtable_server {
    ms_engine *engine;
    ms_bt_store *store;
    ms_bt_server *server;
    ms_grpc_listener *listener; /* until the server has it */
    ms_tls *tls;
    ms_secret token;
    ms_loop *loops[LOOPS_MAX];
    int loop_count;
    char address[MS_LOCKFILE_NOTE_BYTES];
};

/* The store's reads and writes take most of the time and run on the pool. */
static int loops_wanted(void)
{
    int wanted = ms_thread_cpu_count() / 2;
    return wanted < 1 ? 1 : wanted > LOOPS_MAX ? LOOPS_MAX : wanted;
}

static ms_rc start_loops(ms_bigtable_server *server, ms_status *st)
{
    int wanted = loops_wanted();
    while (server->loop_count < wanted) {
        char name[24];
        snprintf(name, sizeof name, "serve %d", server->loop_count);
        MS_TRY(ms_loop_create(name, &server->loops[server->loop_count], st));
        server->loop_count++;
    }
    return MS_OK;
}

static ms_rc load_secrets(ms_bigtable_server *server, const ms_bigtable_serve_options *options,
                          ms_status *st)
{
    if ((options->tls_cert == NULL) != (options->tls_key == NULL)) {
        ms_status_set(st, MS_MISSING_OPTION, ms_span_none, "a certificate and its key go together");
        return ms_status_hint(st, "Give both --tls-cert and --tls-key.");
    }
    if (options->tls_cert != NULL) {
        ms_tls_server_options tls = {.certificate_file = options->tls_cert,
                                     .key_file = options->tls_key};
        MS_TRY(ms_tls_create_server(&tls, &server->tls, st));
    }
    return options->token_file == NULL
               ? MS_OK
               : msi_read_token(ms_str_cstr(options->token_file), &server->token, st);
}

/* "HOST:" in front of the port, as it can be connected to: a wildcard stands for loopback too. */
static ms_str reachable_host(ms_str host)
{
    if (ms_str_equals(host, ms_str_lit("0.0.0.0:"))) {
        return ms_str_lit("127.0.0.1:");
    }
    return ms_str_equals(host, ms_str_lit("[::]:")) ? ms_str_lit("[::1]:") : host;
}

/* Those who find the data directory locked read there where to go, and whether by TLS. */
static ms_rc tell_address(ms_bigtable_server *server, ms_str listen, ms_status *st)
{
    ms_str host = listen;
    char port[8] = "";
    if (!ms_str_starts_with(listen, ms_str_lit("unix:"))) {
        while (host.bytes > 0 && host.ptr[host.bytes - 1] != ':') {
            host.bytes--;
        }
        snprintf(port, sizeof port, "%u", (unsigned)ms_bt_server_port(server->server));
    }
    snprintf(server->address, sizeof server->address, "%.*s%s", MS_STR_ARG(host), port);
    char note[MS_LOCKFILE_NOTE_BYTES];
    snprintf(note, sizeof note, "%.*s%s%s", MS_STR_ARG(reachable_host(host)), port,
             server->tls != NULL ? MSI_NOTE_OF_TLS : "");
    return ms_lockfile_set_note(server->engine->lock, ms_str_cstr(note), st);
}

static ms_rc open_server(ms_bigtable_server *server, const ms_bigtable_serve_options *options,
                         ms_status *st)
{
    ms_str listen = ms_str_cstr(options->listen != NULL ? options->listen : LISTEN_DEFAULT);
    MS_TRY(load_secrets(server, options, st));
    MS_TRY(ms_bt_server_check_address(
        listen, server->tls != NULL && !ms_secret_is_empty(&server->token), st));
    /* First of all, so that a port that is taken leaves no store behind. */
    MS_TRY(ms_grpc_listen(listen, &server->listener, st));
    ms_bt_store_options store = {.sync_mode = MS_BT_SYNC_GROUP,
                                 .gc_period_ms = options->gc_interval_ms};
    MS_TRY(msi_bigtable_open_store(&server->engine->bigtable, true, store, &server->store, st));
    MS_TRY(start_loops(server, st));
    ms_grpc_listener *listener = server->listener;
    server->listener = NULL;
    MS_TRY(ms_bt_server_create(&(ms_bt_server_options){.loops = server->loops,
                                                       .loop_count = server->loop_count,
                                                       .listen = listen,
                                                       .listener = listener,
                                                       .store = server->store,
                                                       .tls = server->tls,
                                                       .token = ms_secret_is_empty(&server->token)
                                                                    ? NULL
                                                                    : &server->token},
                               &server->server, st));
    return tell_address(server, listen, st);
}

static ms_rc close_server(ms_bigtable_server *server, int64_t drain_ms, ms_status *st)
{
    ms_bt_server_destroy(server->server, drain_ms * NS_PER_MS);
    ms_grpc_listener_close(server->listener);
    for (int i = 0; i < server->loop_count; i++) {
        ms_loop_destroy(server->loops[i]);
    }
    ms_rc rc = ms_bt_store_close(server->store, st);
    ms_tls_destroy(server->tls);
    ms_secret_release(&server->token);
    ms_mem_free(server);
    return rc;
}

ms_rc ms_bigtable_serve(ms_engine *engine, const ms_bigtable_serve_options *options,
                        ms_bigtable_server **server_out, ms_status *st)
{
    *server_out = NULL;
    ms_bigtable_server *server = ms_mem_calloc(1, sizeof *server);
    server->engine = engine;
    if (open_server(server, options, st) != MS_OK) {
        ms_status ignored = {0};
        (void)close_server(server, 0, &ignored);
        return st->code;
    }
    *server_out = server;
    return MS_OK;
}

const char *ms_bigtable_server_address(const ms_bigtable_server *server)
{
    return server->address;
}

uint64_t ms_bigtable_server_call_count(const ms_bigtable_server *server)
{
    return ms_bt_server_call_count(server->server);
}

ms_rc ms_bigtable_server_stop(ms_bigtable_server *server, int64_t drain_ms, ms_status *st)
{
    return server == NULL ? MS_OK : close_server(server, drain_ms, st);
}
