/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admin commands of a session: a call at a time, waited for on a mailbox of its own.
 *
 * Private to this folder. Thread: the session's.
 */
#ifndef MS_ENGINE_ADMIN_H
#define MS_ENGINE_ADMIN_H

#include "bigtable/client/admin.h"
#include "engine/engine_priv.h"

/* Who types a command waits for it: a server that cannot be reached, or accepts and does not speak,
 * is given up when the first connect that has taken this long fails. Jobs are more patient. */
#define MSI_ADMIN_REACH_MS 15000
#define MSI_ADMIN_LOOK_MS 60000 /* of a look at what is there, which is little */

typedef struct msi_admin {
    ms_parker parker;
    ms_mailbox mailbox;
    ms_arena arena;
    ms_bt_client *client; /* NULL: the embedded store is not there, and what is read of it fails */
    ms_bt_table_name name;
} msi_admin;

/* Opens the session's Bigtable; release also after a failure. When nothing is to be written, an
 * embedded store that is not there is one in which there is nothing: it succeeds without client. */
ms_rc msi_admin_init(msi_admin *a, ms_session *session, bool for_write, ms_status *st) MS_MUST_USE;
void msi_admin_release(msi_admin *a);

/* Splits and checks PROJECT/INSTANCE, with a third part of this name ("TABLE"); NULL: without. */
ms_rc msi_admin_path(ms_str path, const char *last, ms_bt_table_name *name_out,
                     ms_status *st) MS_MUST_USE;

/* The done of calls that are waited for. */
void msi_admin_done(ms_bt_call *call, void *arg);

#endif
