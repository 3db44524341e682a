/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test proxy: our client behind the service by which Google's suite for client libraries
 * reaches the client that it tests. A case of the suite starts a server of its own, tells the proxy
 * its address with CreateClient, and asks for operations; the proxy carries them out with our
 * client and tells what came of them.
 *
 *     proxy *it = NULL;
 *     MS_TRY(proxy_create(ms_str_lit("127.0.0.1:9999"), &it, st));
 *     ... the suite runs ...
 *     proxy_destroy(it);
 *
 * What the client reports is in the status of a result. The proxy's own refusals are failures of
 * the call: a client that does not exist (NOT_FOUND) or was closed (FAILED_PRECONDITION), a request
 * that cannot be read (INVALID_ARGUMENT), and what is not built (UNIMPLEMENTED): ExecuteQuery, and
 * the security options of a client, which speaks plaintext to this machine only.
 *
 * Ownership: the proxy is its creator's. Thread: any but its loops.
 */
#ifndef MS_TESTS_CONFORMANCE_PROXY_PROXY_H
#define MS_TESTS_CONFORMANCE_PROXY_PROXY_H

#include "base/status.h"
#include "base/str.h"

typedef struct proxy proxy;

/* Listens at "host:port", which only this machine may reach; port 0 is any free one. Errors:
 * MS_INVALID_OPTION for another address, MS_IO_ERROR where nothing can listen. */
ms_rc proxy_create(ms_str listen, proxy **proxy_out, ms_status *st) MS_MUST_USE;
uint16_t proxy_port(const proxy *it);

/* Gives up what is under way. Takes NULL. */
void proxy_destroy(proxy *it);

#endif
