/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which Bigtable a table is in, and the life of those that a process has opened. Order of choice:
 * the table's own endpoint or key file; the script's setting; the flag; BIGTABLE_EMULATOR_HOST; the
 * embedded store. Each place is opened when a table of it is first prepared, or by an admin
 * command, is told once, and is closed with the engine.
 */
/* tidy: no-unit-test: tests/slt/bigtable and tests/cli run it on every kind of place */
#include "engine/bigtable.h"

#include "base/memory.h"
#include "bigtable/store/store.h"
#include "net/grpc_server.h"

#include <stdio.h>
#include <stdlib.h>

/* Where Google's client libraries look for credentials of a user. */
#define WELL_KNOWN_FILE "/.config/gcloud/application_default_credentials.json"

/* Choosing. */

static bool has_cloud_credentials(void)
{
    if (getenv("GOOGLE_APPLICATION_CREDENTIALS") != NULL) {
        return true;
    }
    const char *home = getenv("HOME");
    char path[MSI_PATH_BYTES];
    ms_status st = {0};
    ms_file_info info = {.kind = MS_FILE_KIND_NONE};
    if (home == NULL || strlen(home) + sizeof WELL_KNOWN_FILE > sizeof path) {
        return false;
    }
    snprintf(path, sizeof path, "%s%s", home, WELL_KNOWN_FILE);
    return ms_file_stat(path, &info, &st) == MS_OK && info.kind == MS_FILE_KIND_FILE;
}

/* "embedded", "cloud" or HOST:PORT. */
static ms_rc parse_backend(ms_str text, const char *source, msi_place *place, ms_status *st)
{
    if (ms_str_equals(text, ms_str_lit("embedded"))) {
        place->kind = MSI_PLACE_EMBEDDED;
        return MS_OK;
    }
    if (ms_str_equals(text, ms_str_lit("cloud"))) {
        place->kind = MSI_PLACE_CLOUD;
        return MS_OK;
    }
    if (ms_str_find_byte(text, ':', 0) == SIZE_MAX) {
        ms_status_set(st, MS_INVALID_OPTION, ms_span_none, "%s cannot be \"%.*s\"", source,
                      MS_STR_ARG(text));
        return ms_status_hint(st, "Write embedded, cloud or host:port.");
    }
    place->kind = MSI_PLACE_ENDPOINT;
    place->target = text;
    return MS_OK;
}

/* An address that is none is named as it is, before anything is said of where it leads. */
static ms_rc check_place(const msi_place *place, ms_status *st)
{
    return place->kind == MSI_PLACE_ENDPOINT ? ms_grpc_address_check(place->target, st) : MS_OK;
}

static ms_rc choose(const msi_bigtable *bigtable, const ms_bigtable_place *table, msi_place *place,
                    ms_status *st)
{
    *place = (msi_place){.kind = MSI_PLACE_EMBEDDED};
    if (table->emulator_endpoint.bytes > 0) {
        place->kind = MSI_PLACE_ENDPOINT;
        place->target = table->emulator_endpoint;
        place->is_named_by_table = true;
        return MS_OK;
    }
    if (table->key_file.bytes > 0) {
        place->kind = MSI_PLACE_CLOUD;
        place->key_file = table->key_file;
        return MS_OK;
    }
    ms_option_value backend = {0};
    if (bigtable->session != NULL) {
        const ms_settings *settings = bigtable->session->settings;
        backend = ms_settings_value(settings, MS_SETTING_BIGTABLE_BACKEND);
        place->tls_ca = ms_settings_value(settings, MS_SETTING_BIGTABLE_TLS_CA).text;
        place->token_file = ms_settings_value(settings, MS_SETTING_BIGTABLE_TOKEN_FILE).text;
    }
    if (backend.is_set) {
        return parse_backend(backend.text, "\"bigtable.backend\"", place, st);
    }
    const char *emulator = getenv("BIGTABLE_EMULATOR_HOST");
    if (emulator != NULL && emulator[0] != '\0') {
        return parse_backend(ms_str_cstr(emulator), "BIGTABLE_EMULATOR_HOST", place, st);
    }
    return MS_OK;
}

/* What was opened. */

static bool is_same(const msi_place *a, const msi_place *b)
{
    return a->kind == b->kind && ms_str_equals(a->target, b->target) &&
           ms_str_equals(a->key_file, b->key_file) && ms_str_equals(a->tls_ca, b->tls_ca) &&
           ms_str_equals(a->token_file, b->token_file) &&
           a->is_named_by_table == b->is_named_by_table;
}

static msi_backend *find_backend(const msi_bigtable *bigtable, const msi_place *place)
{
    for (msi_backend *backend = bigtable->backends; backend != NULL; backend = backend->next) {
        if (is_same(&backend->place, place)) {
            return backend;
        }
    }
    return NULL;
}

static msi_backend *create_backend(msi_bigtable *bigtable, const msi_place *place)
{
    msi_backend *backend = ms_mem_calloc(1, sizeof(*backend));
    ms_arena_init(&backend->arena, 0);
    backend->place = *place;
    backend->place.target = ms_arena_copy_str(&backend->arena, place->target);
    backend->place.key_file = ms_arena_copy_str(&backend->arena, place->key_file);
    backend->place.tls_ca = ms_arena_copy_str(&backend->arena, place->tls_ca);
    backend->place.token_file = ms_arena_copy_str(&backend->arena, place->token_file);
    backend->next = bigtable->backends;
    bigtable->backends = backend;
    return backend;
}

static void destroy_backend(msi_bigtable *bigtable, msi_backend *backend)
{
    ms_status st = {0};
    /* Reads and writes that a job gave up come back to the workers, which still run. */
    ms_bt_client_drain(backend->client);
    ms_bt_client_destroy(backend->client);
    msi_remote_close(bigtable, backend);
    if (ms_bt_store_close(backend->store, &st) != MS_OK) {
        msi_engine_note(bigtable->engine, true, "bigtable: %s", st.message);
    }
    ms_arena_release(&backend->arena);
    ms_mem_free(backend);
}

/* The embedded store. */

static ms_rc check_store_is_there(const char *path, ms_status *st)
{
    ms_file_info info;
    MS_TRY(ms_file_stat(path, &info, st));
    if (info.kind == MS_FILE_KIND_DIR) {
        return MS_OK;
    }
    ms_status_set(st, MS_BIGTABLE_NOT_FOUND, ms_span_none,
                  "there is no embedded Bigtable in \"%s\"", path);
    return ms_status_hint(st, "It is made by the first INSERT with 'sink.create-disposition' = "
                              "'create-if-needed', or by millstream bigtable create-table.");
}

static ms_bt_sync_mode sync_mode(const msi_bigtable *bigtable)
{
    if (bigtable->session == NULL) {
        return MS_BT_SYNC_CHECKPOINT;
    }
    int64_t mode = ms_settings_value(bigtable->session->settings, MS_SETTING_BIGTABLE_SYNC).i64;
    return mode == 0 ? MS_BT_SYNC_GROUP : mode == 1 ? MS_BT_SYNC_CHECKPOINT : MS_BT_SYNC_OS;
}

ms_rc msi_bigtable_open_store(msi_bigtable *bigtable, bool for_write, ms_bt_store_options options,
                              ms_bt_store **store_out, ms_status *st)
{
    ms_engine *engine = bigtable->engine;
    char path[MSI_PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/bigtable", engine->data_dir);
    MS_TRY(for_write ? MS_OK : check_store_is_there(path, st));
    MS_TRY(msi_engine_lock_data(engine, st));
    MS_TRY(msi_engine_start(engine, st));
    options.path = path;
    options.pool = engine->iopool;
    options.create = true;
    return ms_bt_store_open(&options, store_out, st);
}

/* Another process has the store: a server says in the lock where it listens. */
static ms_rc open_at_holder(msi_bigtable *bigtable, msi_backend *backend, ms_status *st)
{
    ms_str endpoint = ms_str_cstr(bigtable->engine->lock_endpoint);
    if (endpoint.bytes == 0) {
        return st->code;
    }
    ms_status_clear(st);
    ms_str tls = ms_str_lit(MSI_NOTE_OF_TLS);
    bool by_tls = ms_str_ends_with(endpoint, tls);
    endpoint.bytes -= by_tls ? tls.bytes : 0;
    msi_place place = {.kind = MSI_PLACE_ENDPOINT,
                       .target = endpoint,
                       .token_file = backend->place.token_file,
                       .needs_tls = by_tls};
    place.tls_ca = by_tls ? backend->place.tls_ca : place.tls_ca;
    MS_TRY(msi_remote_open(bigtable, &place, backend, st));
    msi_engine_note(bigtable->engine, true,
                    "bigtable: embedded store in %s, through its server at %.*s",
                    bigtable->engine->data_dir, MS_STR_ARG(endpoint));
    return MS_OK;
}

static ms_rc open_embedded(msi_bigtable *bigtable, bool for_write, msi_backend *backend,
                           ms_status *st)
{
    ms_engine *engine = bigtable->engine;
    ms_bt_store_options options = {.sync_mode = sync_mode(bigtable)};
    ms_rc rc = msi_bigtable_open_store(bigtable, for_write, options, &backend->store, st);
    if (rc == MS_DATA_DIR_IN_USE) {
        return open_at_holder(bigtable, backend, st);
    }
    if (rc == MS_BIGTABLE_NOT_FOUND) {
        msi_engine_note(engine, true, "bigtable: embedded store in %s, which is not there yet",
                        engine->data_dir);
    }
    if (rc != MS_OK) {
        return rc;
    }
    backend->client = ms_bt_client_create(ms_bt_store_transport(backend->store), NULL);
    msi_engine_note(engine, true, "bigtable: embedded store in %s%s", engine->data_dir,
                    has_cloud_credentials()
                        ? " (Cloud credentials are there: --bigtable cloud uses them)"
                        : "");
    return MS_OK;
}

/* Opening. */

static void tell_remote(const msi_bigtable *bigtable, const msi_place *place)
{
    if (place->kind == MSI_PLACE_ENDPOINT) {
        msi_engine_note(bigtable->engine, true, "bigtable: %.*s%s", MS_STR_ARG(place->target),
                        place->is_named_by_table ? ", as the table says" : "");
    } else if (place->key_file.bytes > 0) {
        msi_engine_note(bigtable->engine, true, "bigtable: Cloud, with the key file %.*s",
                        MS_STR_ARG(place->key_file));
    } else {
        msi_engine_note(bigtable->engine, true, "bigtable: Cloud, with default credentials");
    }
}

static ms_rc open_backend(msi_bigtable *bigtable, const msi_place *place, bool for_write,
                          msi_backend *backend, ms_status *st)
{
    if (place->kind == MSI_PLACE_EMBEDDED) {
        return open_embedded(bigtable, for_write, backend, st);
    }
    MS_TRY(msi_engine_start(bigtable->engine, st));
    MS_TRY(msi_remote_open(bigtable, place, backend, st));
    tell_remote(bigtable, place);
    return MS_OK;
}

static ms_rc open_service(ms_bigtable_service *service, const ms_bigtable_place *table,
                          bool for_write, ms_bt_client **client_out, ms_status *st)
{
    msi_bigtable *bigtable = (msi_bigtable *)service;
    msi_place place;
    *client_out = NULL;
    MS_TRY(choose(bigtable, table, &place, st));
    MS_TRY(check_place(&place, st));
    msi_backend *backend = find_backend(bigtable, &place);
    if (backend == NULL) {
        backend = create_backend(bigtable, &place);
        if (open_backend(bigtable, &place, for_write, backend, st) != MS_OK) {
            bigtable->backends = backend->next;
            destroy_backend(bigtable, backend);
            return st->code;
        }
    }
    *client_out = backend->client;
    return MS_OK;
}

/* Life. */

void msi_bigtable_init(msi_bigtable *bigtable, ms_engine *engine)
{
    bigtable->service.open = open_service;
    bigtable->engine = engine;
}

void msi_bigtable_close(msi_bigtable *bigtable)
{
    while (bigtable->backends != NULL) {
        msi_backend *backend = bigtable->backends;
        bigtable->backends = backend->next;
        destroy_backend(bigtable, backend);
    }
    msi_remote_release(bigtable);
}
