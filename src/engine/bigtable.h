/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Bigtables of a process: which place a table is in, and what was opened.
 *
 * Private to this folder. Thread: session.
 */
#ifndef MS_ENGINE_BIGTABLE_H
#define MS_ENGINE_BIGTABLE_H

#include "bigtable/store/store.h"
#include "engine/engine_priv.h"

struct ms_secret;

typedef enum msi_place_kind {
    MSI_PLACE_EMBEDDED,
    MSI_PLACE_ENDPOINT, /* an emulator, or millstream serve */
    MSI_PLACE_CLOUD
} msi_place_kind;

/* Behind the address that a server leaves in the lock of its data directory. */
#define MSI_NOTE_OF_TLS " tls"

typedef struct msi_place {
    msi_place_kind kind;
    ms_str target;          /* ENDPOINT: "host:port" */
    ms_str key_file;        /* CLOUD: of a service account; empty: default credentials */
    ms_str tls_ca;          /* of the session's settings */
    ms_str token_file;      /* likewise */
    bool needs_tls;         /* ENDPOINT: loopback, but not in plaintext */
    bool is_named_by_table; /* ENDPOINT: plaintext to any machine, as the table's author wants */
} msi_place;

/* A place that was opened. */
typedef struct msi_backend {
    struct msi_backend *next;
    msi_place place;
    ms_arena arena; /* its texts */
    ms_bt_client *client;
    ms_bt_store *store;                /* embedded */
    struct ms_bt_transport *transport; /* remote */
    struct ms_tls *tls;
    struct ms_credentials *credentials;
} msi_backend;

/* Opens the embedded store and locks the data directory, for whoever asks. Of the options path,
 * pool and create are filled in here. */
ms_rc msi_bigtable_open_store(msi_bigtable *bigtable, bool for_write, ms_bt_store_options options,
                              ms_bt_store **store_out, ms_status *st) MS_MUST_USE;

/* remote.c: fills backend->client and what it needs. Nothing is sent yet. */
ms_rc msi_remote_open(msi_bigtable *bigtable, const msi_place *place, msi_backend *backend,
                      ms_status *st) MS_MUST_USE;

/* Closes what a backend has of a remote place; its client is gone. */
void msi_remote_close(msi_bigtable *bigtable, msi_backend *backend);

/* What a token file holds, less the white space around it. The path ends in NUL. */
ms_rc msi_read_token(ms_str path, struct ms_secret *token, ms_status *st) MS_MUST_USE;

/* The network loop of the process, started on first use. */
ms_rc msi_remote_loop(msi_bigtable *bigtable, struct ms_loop **loop_out, ms_status *st) MS_MUST_USE;
void msi_remote_release(msi_bigtable *bigtable);

#endif
