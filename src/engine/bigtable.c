/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which Bigtable a process talks to, and the embedded store's life. The store is opened when a
 * table is first prepared for reading or writing, or by an admin command, and closed with the
 * engine.
 */
/* tidy: no-unit-test: tests/slt/bigtable runs it on the embedded store */
#include "engine/engine_priv.h"

#include "bigtable/store/store.h"

#include <stdio.h>
#include <stdlib.h>

/* Where Google's client libraries look for credentials of a user. */
#define WELL_KNOWN_FILE "/.config/gcloud/application_default_credentials.json"

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

/* Order of choice: script or flag, then the environment, then embedded. */
static ms_rc check_backend(const msi_bigtable *bigtable, ms_status *st)
{
    ms_option_value backend = {.text = ms_str_lit("embedded")};
    if (bigtable->session != NULL) {
        backend = ms_settings_value(bigtable->session->settings, MS_SETTING_BIGTABLE_BACKEND);
    }
    const char *emulator = getenv("BIGTABLE_EMULATOR_HOST");
    if (!backend.is_set && emulator != NULL && emulator[0] != '\0') {
        ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                      "BIGTABLE_EMULATOR_HOST is set, and endpoints are not supported yet");
        return ms_status_hint(st, "Unset it, or choose the embedded store with --bigtable "
                                  "embedded.");
    }
    if (ms_str_equals(backend.text, ms_str_lit("embedded"))) {
        return MS_OK;
    }
    ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                  "Bigtable backend \"%.*s\" is not supported yet", MS_STR_ARG(backend.text));
    return ms_status_hint(st, "Use embedded.");
}

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

static void tell(const msi_bigtable *bigtable)
{
    ms_engine *engine = bigtable->engine;
    if (has_cloud_credentials()) {
        msi_engine_note(engine, true,
                        "bigtable: embedded store in %s (Cloud credentials are there, but the "
                        "cloud backend is not built yet)",
                        engine->data_dir);
    } else {
        msi_engine_note(engine, true, "bigtable: embedded store in %s", engine->data_dir);
    }
}

static ms_rc open_service(ms_bigtable_service *service, bool for_write, ms_bt_client **client_out,
                          ms_status *st)
{
    msi_bigtable *bigtable = (msi_bigtable *)service;
    ms_engine *engine = bigtable->engine;
    *client_out = NULL;
    MS_TRY(check_backend(bigtable, st));
    if (bigtable->client == NULL) {
        char path[MSI_PATH_BYTES + 16];
        snprintf(path, sizeof path, "%s/bigtable", engine->data_dir);
        MS_TRY(for_write ? MS_OK : check_store_is_there(path, st));
        MS_TRY(msi_engine_lock_data(engine, st));
        MS_TRY(msi_engine_start(engine, st));
        ms_bt_store_options options = {
            .path = path, .pool = engine->iopool, .create = true, .sync_mode = sync_mode(bigtable)};
        MS_TRY(ms_bt_store_open(&options, &bigtable->store, st));
        bigtable->client = ms_bt_client_create(ms_bt_store_transport(bigtable->store), NULL);
        tell(bigtable);
    }
    *client_out = bigtable->client;
    return MS_OK;
}

void msi_bigtable_init(msi_bigtable *bigtable, ms_engine *engine)
{
    bigtable->service.open = open_service;
    bigtable->engine = engine;
}

void msi_bigtable_close(msi_bigtable *bigtable)
{
    ms_status st = {0};
    /* Reads and writes that a job gave up come back to the workers, which still run. */
    ms_bt_client_drain(bigtable->client);
    ms_bt_client_destroy(bigtable->client);
    if (ms_bt_store_close(bigtable->store, &st) != MS_OK) {
        ms_status warning = {0};
        ms_status_set(&warning, MS_STORE_NOT_SYNCED, ms_span_none,
                      "the log of the embedded store in %s could not be synced",
                      bigtable->engine->data_dir);
        ms_status_detail(&warning, "%s%s%s", st.message, st.detail[0] != '\0' ? ": " : "",
                         st.detail);
        ms_status_hint(&warning, "Writes since the last checkpoint or end of a job may be lost "
                                 "with the machine's power.");
        msi_engine_notice(bigtable->engine, true, &warning);
    }
    bigtable->client = NULL;
    bigtable->store = NULL;
}
