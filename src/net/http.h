/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP request and its answer, for token endpoints and the metadata server: small, rare, on a
 * thread of the I/O pool. libcurl does the work; it is opened when the first request is made, so
 * that programs that never make one do not load it.
 *
 * Certificates and host names are verified; redirects are not followed; only http and https.
 *
 * Thread: any that may block, several at a time.
 */
#ifndef MS_NET_HTTP_H
#define MS_NET_HTTP_H

#include "base/status.h"
#include "base/str.h"

typedef struct ms_http_request {
    const char *url;
    const char *const *headers; /* "Name: value" */
    size_t header_count;
    ms_str body; /* ptr NULL: GET, else POST of a form */
    int64_t timeout_ms;
} ms_http_request;

#define MS_HTTP_ANSWER_BYTES_MAX ((size_t)1 << 20)

/*
 * Makes the request. Any answer is MS_OK: its status and body are the caller's to judge. Errors:
 * MS_IO_ERROR, retriable, when no answer came. Messages name the host, never user, path or body.
 * Plaintext goes past any proxy. answer is appended to.
 */
ms_rc ms_http_call(const ms_http_request *request, long *status_out, ms_buf *answer,
                   ms_status *st) MS_MUST_USE;

#endif
