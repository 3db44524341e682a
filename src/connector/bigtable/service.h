/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the bigtable connector asks of the engine: a client for the backend that the session chose.
 * The engine binds one of these to the connector in the registry (ms_plan_env.service).
 *
 * Ownership: the engine owns service and client; both outlive every job. Thread: session for open.
 */
#ifndef MS_CONNECTOR_BIGTABLE_SERVICE_H
#define MS_CONNECTOR_BIGTABLE_SERVICE_H

#include "bigtable/client/client.h"

/* What a table says of where it is; at most one is set. Empty: the session decides. */
typedef struct ms_bigtable_place {
    ms_str emulator_endpoint; /* "host:port" */
    ms_str key_file;          /* of a service account, for Cloud */
} ms_bigtable_place;

typedef struct ms_bigtable_service ms_bigtable_service;
struct ms_bigtable_service {
    /*
     * The client of a place, made on first use: opens the embedded store, which may block, or reads
     * credentials. Called from prepare of a scan (for_write false) or sink, and by commands. Only
     * for_write makes a store where there is none. Errors: MS_DATA_DIR_IN_USE, MS_IO_ERROR,
     * MS_BIGTABLE_NOT_FOUND when there is no store to read, and so no instance either;
     * MS_INVALID_OPTION for an address or a key file that cannot be used.
     */
    ms_rc (*open)(ms_bigtable_service *service, const ms_bigtable_place *place, bool for_write,
                  ms_bt_client **client_out, ms_status *st);
};

#endif
