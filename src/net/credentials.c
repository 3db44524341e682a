/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all credentials have in common. One fetch runs at a time; it works on fields of its own
 * (job, fetched, fetch_status), which the loop reads when its mail has come.
 */
#include "net/credentials.h"

#include "base/env.h"
#include "base/memory.h"

/* Waiting. */

static void ring_init(ms_credentials_wait *ring)
{
    ring->next = ring;
    ring->prev = ring;
}

static void unlink_wait(ms_credentials_wait *wait)
{
    wait->prev->next = wait->next;
    wait->next->prev = wait->prev;
    wait->next = NULL;
    wait->prev = NULL;
}

/* Wakes those who wait now; who asks again from within ready is for the next fetch. */
static void wake_all(ms_credentials *credentials, ms_str authorization, const ms_status *st)
{
    if (credentials->waiting.next == &credentials->waiting) {
        return;
    }
    ms_credentials_wait batch = credentials->waiting;
    batch.next->prev = &batch;
    batch.prev->next = &batch;
    ring_init(&credentials->waiting);
    while (batch.next != &batch) {
        ms_credentials_wait *wait = batch.next;
        unlink_wait(wait);
        wait->ready(wait, authorization, st);
    }
}

/* Fetching. */

static void release_token(ms_credentials_token *token)
{
    ms_secret_release(&token->authorization);
    token->expires_wall_ms = 0;
}

static void free_credentials(ms_credentials *credentials)
{
    release_token(&credentials->token);
    release_token(&credentials->fetched);
    credentials->class_of->destroy(credentials);
}

/* On a thread of the pool. */
static void run_fetch(ms_iojob *job)
{
    ms_credentials *credentials = MS_MAIL_OWNER(job, ms_credentials, job);
    ms_status_clear(&credentials->fetch_status);
    (void)credentials->class_of->fetch(credentials, &credentials->fetched,
                                       &credentials->fetch_status);
}

/* The outcome of a fetch, on the loop. */
static void settle(ms_credentials *credentials)
{
    credentials->is_fetching = false;
    if (credentials->is_destroyed) {
        free_credentials(credentials);
        return;
    }
    if (credentials->fetch_status.code == MS_OK) {
        ms_secret_move(&credentials->token.authorization, &credentials->fetched.authorization);
        credentials->token.expires_wall_ms = credentials->fetched.expires_wall_ms;
        ms_status_clear(&credentials->failure);
    } else {
        release_token(&credentials->fetched);
        credentials->failure = credentials->fetch_status;
        credentials->failed_at_ns = ms_env_mono_ns();
    }
    ms_status outcome = credentials->failure;
    ms_str authorization = {0};
    if (outcome.code == MS_OK) {
        authorization = ms_secret_reveal(&credentials->token.authorization);
    }
    wake_all(credentials, authorization, &outcome);
}

static void fetched(ms_mail *mail)
{
    ms_iojob *job = MS_MAIL_OWNER(mail, ms_iojob, mail);
    settle(MS_MAIL_OWNER(job, ms_credentials, job));
}

/* Starts a fetch, unless one runs. False: the pool refused it; that is the failure then. */
static bool start_fetch(ms_credentials *credentials)
{
    if (credentials->is_fetching) {
        return true;
    }
    credentials->job = (ms_iojob){.run = run_fetch, .reply_to = ms_loop_mailbox(credentials->loop)};
    credentials->job.mail.deliver = fetched;
    ms_status_clear(&credentials->failure);
    if (ms_iopool_submit(credentials->pool, &credentials->job, &credentials->failure) != MS_OK) {
        credentials->failed_at_ns = ms_env_mono_ns();
        return false;
    }
    credentials->is_fetching = true;
    return true;
}

/* How long the value in use is good for; INT64_MIN when there is none. */
static int64_t remaining_ms(const ms_credentials *credentials)
{
    if (ms_secret_is_empty(&credentials->token.authorization)) {
        return INT64_MIN;
    }
    if (credentials->token.expires_wall_ms == INT64_MAX) {
        return INT64_MAX;
    }
    return credentials->token.expires_wall_ms - ms_env_wall_ms();
}

static bool failed_just_now(const ms_credentials *credentials)
{
    return credentials->failure.code != MS_OK &&
           ms_env_mono_ns() - credentials->failed_at_ns < MS_CREDENTIALS_FAILURE_NS;
}

/* Use. */

void ms_credentials_init(ms_credentials *credentials, const ms_credentials_class *class_of,
                         ms_loop *loop, ms_iopool *pool)
{
    MS_ASSERT(class_of->fetch == NULL || pool != NULL);
    *credentials = (ms_credentials){.class_of = class_of, .loop = loop, .pool = pool};
    ring_init(&credentials->waiting);
}

ms_credentials_answer ms_credentials_get(ms_credentials *credentials, ms_credentials_wait *wait,
                                         ms_str *authorization_out, ms_status *st)
{
    *authorization_out = ms_secret_reveal(&credentials->token.authorization);
    if (credentials->class_of->fetch == NULL) {
        return MS_CREDENTIALS_READY;
    }
    int64_t left_ms = remaining_ms(credentials);
    if (left_ms > MS_CREDENTIALS_STALE_MS) {
        if (left_ms <= MS_CREDENTIALS_RENEW_MS && !failed_just_now(credentials)) {
            (void)start_fetch(credentials); /* if it fails, there is time to try again */
        }
        return MS_CREDENTIALS_READY;
    }
    *authorization_out = (ms_str){0};
    if (!credentials->is_fetching && (failed_just_now(credentials) || !start_fetch(credentials))) {
        *st = credentials->failure;
        return MS_CREDENTIALS_FAILED;
    }
    wait->next = &credentials->waiting;
    wait->prev = credentials->waiting.prev;
    wait->prev->next = wait;
    credentials->waiting.prev = wait;
    return MS_CREDENTIALS_PENDING;
}

void ms_credentials_cancel_wait(ms_credentials *credentials, ms_credentials_wait *wait)
{
    (void)credentials;
    if (wait->prev != NULL) {
        unlink_wait(wait);
    }
}

void ms_credentials_reject(ms_credentials *credentials, ms_str authorization)
{
    if (credentials->class_of->fetch != NULL &&
        ms_secret_equals(&credentials->token.authorization, authorization)) {
        release_token(&credentials->token);
    }
}

const char *ms_credentials_name(const ms_credentials *credentials)
{
    return credentials->class_of->name;
}

void ms_credentials_destroy(ms_credentials *credentials)
{
    if (credentials == NULL) {
        return;
    }
    MS_ASSERT(credentials->waiting.next == &credentials->waiting);
    if (credentials->is_fetching) {
        credentials->is_destroyed = true;
        return;
    }
    free_credentials(credentials);
}

/* None, and a fixed token. */

static void destroy_plain(ms_credentials *credentials)
{
    ms_mem_free(credentials);
}

static const ms_credentials_class none_class = {.name = "none", .destroy = destroy_plain};
static const ms_credentials_class static_class = {.name = "token", .destroy = destroy_plain};

static ms_credentials *create_plain(const ms_credentials_class *class_of, ms_loop *loop)
{
    ms_credentials *credentials = ms_mem_alloc(sizeof(*credentials));
    ms_credentials_init(credentials, class_of, loop, NULL);
    return credentials;
}

ms_credentials *ms_credentials_create_none(ms_loop *loop)
{
    return create_plain(&none_class, loop);
}

ms_credentials *ms_credentials_create_static(ms_loop *loop, const ms_secret *token)
{
    ms_credentials *credentials = create_plain(&static_class, loop);
    ms_str secret = ms_secret_reveal(token);
    size_t bytes = secret.bytes + 7;
    char *text = ms_mem_alloc(bytes);
    memcpy(text, "Bearer ", 7);
    memcpy(text + 7, secret.ptr, secret.bytes);
    ms_secret_set(&credentials->token.authorization, (ms_str){text, bytes});
    credentials->token.expires_wall_ms = INT64_MAX;
    ms_secret_wipe(text, bytes);
    ms_mem_free(text);
    return credentials;
}
