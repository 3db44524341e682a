/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an address to a connected socket: the name is resolved, then its addresses are tried in
 * turn, each for its share of the time that is left.
 *
 * Ownership: the connector frees itself after done, or after a cancel. Thread: loop.
 */
#ifndef MS_NET_CONNECT_PRIV_H
#define MS_NET_CONNECT_PRIV_H

#include "net/address_priv.h"
#include "net/loop_priv.h"

typedef struct msi_connector msi_connector;

typedef struct msi_connect_options {
    const msi_address *address; /* copied */
    int64_t timeout_ns;
    bool only_local; /* addresses of other machines are not tried */

    /* Once, in a later turn. fd is the callee's; -1: failed, and st says why. */
    void (*done)(void *arg, int fd, const ms_status *st);
    void *arg;
} msi_connect_options;

msi_connector *msi_connect(ms_loop *loop, const msi_connect_options *options);

/* done will not be called. */
void msi_connect_cancel(msi_connector *connector);

#endif
