/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials give each call its authorization header. Where the value comes from is the class's
 * matter: nothing at all, a fixed token, or a token that is fetched, lasts for a while and is
 * fetched again. This file does what all have in common: it keeps the value, fetches it once for
 * all calls that wait, renews it before it expires, and remembers a failure for a moment.
 *
 *     value still good for long      given at once
 *     expires within 5 minutes       given at once, and renewed meanwhile
 *     expires within 10 seconds,     the call waits for the fetch
 *     or there is none
 *     the last fetch failed less     the same failure at once
 *     than a second ago
 *
 * A class is a table of functions; an implementation begins with an ms_credentials:
 *
 *     typedef struct jwt_credentials {
 *         ms_credentials base;
 *         ms_secret key;
 *     } jwt_credentials;
 *
 *     static const ms_credentials_class jwt_class = {.name = "service account",
 *                                                    .fetch = sign_jwt, .destroy = destroy_jwt};
 *     ...
 *     ms_credentials_init(&jwt->base, &jwt_class, loop, pool);
 *
 * Ownership: the creator's; destroyed after the channels that use it. Thread: loop, where it says
 * nothing else.
 */
#ifndef MS_NET_CREDENTIALS_H
#define MS_NET_CREDENTIALS_H

#include "net/loop.h"
#include "net/secret.h"
#include "os/iopool.h"

typedef struct ms_credentials ms_credentials;

/* What a fetch brings. */
typedef struct ms_credentials_token {
    ms_secret authorization; /* the header's whole value: "Bearer ..." */
    int64_t expires_wall_ms; /* by ms_env_wall_ms(); INT64_MAX: never */
} ms_credentials_token;

typedef struct ms_credentials_class {
    const char *name; /* for messages: "service account", "metadata server" */

    /*
     * Gets a new token. Runs on a thread of the I/O pool, one at a time for each credentials, and
     * may take a round trip or two (bounded by its own timeout). Fields that it uses are not
     * touched by others meanwhile. NULL: the class has no token to fetch.
     */
    ms_rc (*fetch)(ms_credentials *credentials, ms_credentials_token *token_out, ms_status *st);

    /* Frees the implementation; the base has been released. No fetch is running. */
    void (*destroy)(ms_credentials *credentials);
} ms_credentials_class;

/* One who waits for a value. Fields but ready are private. */
typedef struct ms_credentials_wait {
    struct ms_credentials_wait *next;
    struct ms_credentials_wait *prev;

    /* The wait is over: authorization is valid until this returns. On failure st is not OK and
     * authorization is empty. */
    void (*ready)(struct ms_credentials_wait *wait, ms_str authorization, const ms_status *st);
} ms_credentials_wait;

/* Fields are private. Public so that implementations can embed it. */
struct ms_credentials {
    const ms_credentials_class *class_of;
    ms_loop *loop;
    ms_iopool *pool;
    ms_credentials_token token;  /* loop: the one in use */
    ms_credentials_wait waiting; /* loop: ring */
    ms_status failure;           /* loop: of the last fetch */
    int64_t failed_at_ns;
    bool is_fetching;
    bool is_destroyed; /* loop: goes when the fetch that runs has come back */
    ms_iojob job;
    ms_credentials_token fetched; /* job */
    ms_status fetch_status;       /* job */
};

#define MS_CREDENTIALS_RENEW_MS 300000       /* expires within this: renewed while still used */
#define MS_CREDENTIALS_STALE_MS 10000        /* expires within this: not used */
#define MS_CREDENTIALS_FAILURE_NS 1000000000 /* a failure answers at once for this long */

/* For implementations: starts the base. pool may be NULL when the class has no fetch. The loop and
 * the pool are borrowed. Thread: any. */
void ms_credentials_init(ms_credentials *credentials, const ms_credentials_class *class_of,
                         ms_loop *loop, ms_iopool *pool);

typedef enum ms_credentials_answer {
    MS_CREDENTIALS_READY,   /* *authorization_out is valid until the next turn; empty: no header */
    MS_CREDENTIALS_PENDING, /* wait->ready comes later */
    MS_CREDENTIALS_FAILED   /* st says why */
} ms_credentials_answer;

/* Asks for the value of the authorization header. wait is the caller's memory until ready was
 * called or the wait was canceled. */
ms_credentials_answer ms_credentials_get(ms_credentials *credentials, ms_credentials_wait *wait,
                                         ms_str *authorization_out, ms_status *st) MS_MUST_USE;

/* Takes a wait back: ready is not called. */
void ms_credentials_cancel_wait(ms_credentials *credentials, ms_credentials_wait *wait);

/*
 * The server refused this value (UNAUTHENTICATED): it is not given out again, if it is still the
 * one in use. A class without fetch keeps its value: there is no other.
 */
void ms_credentials_reject(ms_credentials *credentials, ms_str authorization);

/* The class's name. Thread: any. */
const char *ms_credentials_name(const ms_credentials *credentials);

/* Nobody waits any more. When a fetch runs, the memory goes after it. NULL is allowed. */
void ms_credentials_destroy(ms_credentials *credentials);

/* Implementations that need nothing else. Thread: any. */

/* No authorization header. */
ms_credentials *ms_credentials_create_none(ms_loop *loop);

/* Always "Bearer <token>". The token is copied. */
ms_credentials *ms_credentials_create_static(ms_loop *loop, const ms_secret *token);

#endif
