/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of a run: millstream serve in this process, over a data directory of its own, so that
 * nothing but gRPC leads from the sessions to the store. Its calls are counted, since a mode in
 * which nobody calls would pass as well.
 */
#include "slt_run.h"

#include "engine/engine_test.h"

#include <stdio.h>

static bool open_server(slt_run *r, const char *listen)
{
    ms_status st = {0};
    char data_dir[600];
    snprintf(data_dir, sizeof data_dir, "%s/served", r->tmp);
    ms_engine_options engine = {.struct_bytes = sizeof engine, .data_dir = data_dir, .workers = 1};
    ms_bigtable_serve_options options = {.struct_bytes = sizeof options, .listen = listen};
    bool ok = ms_engine_open(&engine, &r->server_engine, &st) == MS_OK &&
              ms_bigtable_serve(r->server_engine, &options, &r->server, &st) == MS_OK;
    if (!ok) {
        fprintf(stderr, "%s\n", st.message);
        return false;
    }
    snprintf(r->backend, sizeof r->backend, "%s", ms_bigtable_server_address(r->server));
    r->calls.servers++;
    return true;
}

bool slt_server_start(slt_run *r)
{
    r->backend[0] = '\0';
    return r->mode->server == SLT_SERVER_NONE || open_server(r, "127.0.0.1:0");
}

void slt_server_stop(slt_run *r)
{
    ms_status st = {0};
    if (r->server != NULL) {
        r->calls.received += ms_bigtable_server_call_count(r->server);
    }
    if (ms_bigtable_server_stop(r->server, 0, &st) != MS_OK) {
        fprintf(stderr, "%s: %s\n", r->file->path, st.message);
        r->failures++;
    }
    ms_engine_close(r->server_engine);
    r->server = NULL;
    r->server_engine = NULL;
}

bool slt_server_restart(slt_run *r)
{
    if (r->mode->server != SLT_SERVER_MANY || r->server == NULL) {
        return true; /* that of a child is its parent's */
    }
    char listen[sizeof r->backend];
    snprintf(listen, sizeof listen, "%s", r->backend);
    slt_server_stop(r);
    return open_server(r, listen);
}
