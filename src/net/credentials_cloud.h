/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials of Google Cloud: the key file of a service account, or what an application finds by
 * default, in this order: the file that GOOGLE_APPLICATION_CREDENTIALS names; the file that gcloud
 * leaves (application_default_credentials.json under CLOUDSDK_CONFIG, or ~/.config/gcloud); the
 * metadata server of the machine (GCE_METADATA_HOST, or metadata.google.internal).
 *
 *     service_account    tokens are signed here, without a request
 *     authorized_user    tokens are fetched with the refresh token
 *     metadata server    tokens are fetched from it
 *
 * Other types of files are refused by name. Files are read once, at creation; whether there is a
 * metadata server shows with the first fetch.
 *
 * Ownership and thread: as net/credentials.h; create any.
 */
#ifndef MS_NET_CREDENTIALS_CLOUD_H
#define MS_NET_CREDENTIALS_CLOUD_H

#include "net/credentials.h"

typedef struct ms_credentials_cloud_options {
    ms_loop *loop;
    ms_iopool *pool;
    const char *key_file; /* of a service account; NULL: what is found by default */
    const char *scopes;   /* separated by spaces; static */
} ms_credentials_cloud_options;

/* Errors: MS_FILE_NOT_FOUND or MS_IO_ERROR for a file that cannot be read, MS_INVALID_OPTION for
 * one that holds no credentials. No message has any of what a file holds, but for its type. */
ms_rc ms_credentials_create_cloud(const ms_credentials_cloud_options *options,
                                  ms_credentials **credentials_out, ms_status *st) MS_MUST_USE;

/* Would the default be found in a file? For notices. Reads no secret. */
bool ms_credentials_cloud_has_file(void);

#endif
