/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a channel or a server needs to speak TLS: certificates, keys and the rules by which the peer
 * is verified, loaded once and shared by all connections. TLS 1.2 and 1.3; ALPN offers and demands
 * h2. A client always verifies the chain and the name; there is no switch that turns it off.
 *
 *     ms_tls *tls = NULL;
 *     MS_TRY(ms_tls_create_client(&(ms_tls_client_options){.ca_file = "ca.pem"}, &tls, st));
 *
 * Ownership: the creator's; it outlives the channels and servers that use it. Thread: any.
 */
#ifndef MS_NET_TLS_H
#define MS_NET_TLS_H

#include "base/status.h"

typedef struct ms_tls ms_tls;

/* Why a client and a server do not come together, where waiting would not change it. */
typedef enum ms_tls_obstacle {
    MS_TLS_OBSTACLE_NONE,
    MS_TLS_OBSTACLE_CERTIFICATE, /* the server's was not accepted */
    MS_TLS_OBSTACLE_TLS,         /* the server speaks TLS only, and the client plaintext */
    MS_TLS_OBSTACLE_PLAINTEXT    /* the server speaks no TLS */
} ms_tls_obstacle;

typedef struct ms_tls_client_options {
    const char *ca_file; /* PEM; the only certificates trusted. NULL: the system's store */
} ms_tls_client_options;

/*
 * Errors: MS_FILE_NOT_FOUND or MS_IO_ERROR when the file cannot be read, MS_INVALID_OPTION when it
 * holds no certificate.
 */
ms_rc ms_tls_create_client(const ms_tls_client_options *options, ms_tls **tls_out,
                           ms_status *st) MS_MUST_USE;

typedef struct ms_tls_server_options {
    const char *certificate_file; /* PEM: the server's certificate, then its chain */
    const char *key_file;         /* PEM, not encrypted */
} ms_tls_server_options;

/* Errors: as above, and MS_INVALID_OPTION when key and certificate do not belong together. */
ms_rc ms_tls_create_server(const ms_tls_server_options *options, ms_tls **tls_out,
                           ms_status *st) MS_MUST_USE;

/* NULL is allowed. */
void ms_tls_destroy(ms_tls *tls);

#endif
