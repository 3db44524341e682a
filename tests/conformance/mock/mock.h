/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Bigtable server that says what a test tells it to say, so that a client can be shown every
 * answer that the service may give: failures with and without particulars, streams that break, and
 * silence. It knows no method: each request takes the next answer of the script, whatever it asks.
 *
 *     static const mock_answer script[] = {
 *         {.code = MS_BT_UNAVAILABLE, .trailers = {{cookie, value}}},
 *         {.messages = {row}},
 *     };
 *     mock *server = mock_create(script, 2);
 *     ... a client asks mock_target(server) ...
 *     assert_int_equal(mock_request_count(server), 2);
 *     assert_str_equal(mock_request_at(server, 1)->path, "/google.bigtable.v2.Bigtable/ReadRows");
 *     mock_destroy(server);
 *
 * A request that finds no answer left fails with FAILED_PRECONDITION, which no client repeats, and
 * is counted like the others.
 *
 * Ownership: the script is borrowed until mock_destroy. Thread: the test's, which is not a loop's.
 * Fails the running test when something of the system fails.
 */
#ifndef MS_TESTS_CONFORMANCE_MOCK_MOCK_H
#define MS_TESTS_CONFORMANCE_MOCK_MOCK_H

#include "bigtable/model/status.h"
#include "net/grpc.h"

#define MOCK_MESSAGES_MAX 4
#define MOCK_TRAILERS_MAX 3
#define MOCK_REQUESTS_MAX 64u /* more are answered, but not recorded */

typedef struct mock_answer {
    ms_str when;     /* only for a request that has these bytes in it; empty: for any */
    int64_t wait_ms; /* before anything is sent */
    ms_str messages[MOCK_MESSAGES_MAX]; /* up to the first that is NULL */
    ms_bt_code code;
    const char *text;                         /* NULL: none */
    bool has_retry_info;                      /* RetryInfo among the details, */
    int64_t retry_delay_ms;                   /* with this */
    ms_grpc_pair trailers[MOCK_TRAILERS_MAX]; /* up to the first without a key */
    bool is_silent; /* after the messages nothing comes: code and trailers are never sent */
} mock_answer;

typedef struct mock_request {
    ms_str path;
    ms_grpc_metadata metadata;
    ms_str message;
    int64_t at_ns; /* of the monotonic clock */
} mock_request;

typedef struct mock mock;

/* Listens on a free port of this machine. */
mock *mock_create(const mock_answer *script, size_t count);

/* Takes NULL. */
void mock_destroy(mock *server);

/* "127.0.0.1:40312" */
ms_str mock_target(const mock *server);

/* From now on answers are held back until this many requests are there at the same time. */
void mock_gather(mock *server, size_t count);

/* Requests so far, in the order in which they came. Those that are there stay as they are. */
size_t mock_request_count(const mock *server);
const mock_request *mock_request_at(const mock *server, size_t index);

/* Returns when so many requests have come in all, resp. were given up by the client or with their
 * connection. */
void mock_wait_requests(mock *server, size_t count);
void mock_wait_canceled(mock *server, size_t count);

/* Closes all connections, after a GOAWAY and whatever they carry, and takes new ones. */
void mock_break_connections(mock *server);

#endif
