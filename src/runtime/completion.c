/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion tokens: what an operator or the coordinator hands to a call that ends later. The call
 * ends on any thread; its result travels as a mail to the worker of the owner, where it is
 * delivered, or dropped when the owner has closed in between.
 *
 * Only the owner's worker reads and writes the owner and the list, so that closing and a late
 * completion never meet half way. The one thing that threads share is is_done, which decides who
 * comes first.
 */
#include "runtime/runtime_priv.h"

#include "base/log.h"

/* Tokens kept after their use, so that a call that completes twice does no harm soon after. */
#define SPENT_MAX 64u

static const ms_status success = {.code = MS_OK};

static void token_destroy(msi_token *token)
{
    ms_mem_free(token->failure);
    ms_mem_free(token);
}

static void deliver_token(ms_mail *mail)
{
    msi_token *token = MS_MAIL_OWNER(mail, msi_token, mail);
    msi_workers_token_gone(token->worker);
    if (token->owner == NULL) {
        token_destroy(token);
        return;
    }
    token->deliver(token);
}

/* Thread: any. */
static void token_done(ms_completion *completion, ms_rc rc, const ms_status *st)
{
    msi_token *token = (msi_token *)completion;
    /* Order relaxed: the mail hands over what is written below; this only picks one caller. */
    if (atomic_exchange_explicit(&token->is_done, true, memory_order_relaxed)) {
        ms_log(MS_LOG_WARN, "runtime", "completion", "a call was completed twice; rc=%s",
               ms_rc_name(rc));
        return;
    }
    token->rc = rc;
    if (rc != MS_OK) {
        token->failure = ms_mem_calloc(1, sizeof(ms_status));
        if (st != NULL && st->code != MS_OK) {
            *token->failure = *st;
        } else {
            token->failure->code = rc;
        }
    }
    ms_mailbox_push(msi_worker_mailbox(token->worker), &token->mail);
}

msi_token *msi_token_make(msi_token_list *list, msi_worker *worker, void *owner,
                          void (*deliver)(msi_token *token))
{
    msi_token *token = ms_mem_calloc(1, sizeof(msi_token));
    token->completion.done = token_done;
    token->mail.deliver = deliver_token;
    atomic_init(&token->is_done, false);
    token->worker = worker;
    token->deliver = deliver;
    token->owner = owner;
    token->next = list->first;
    if (list->first != NULL) {
        list->first->prev = token;
    }
    list->first = token;
    list->count++;
    msi_workers_token_made(worker);
    return token;
}

static void unlink_token(msi_token_list *list, msi_token *token)
{
    if (token->prev != NULL) {
        token->prev->next = token->next;
    } else {
        list->first = token->next;
    }
    if (token->next != NULL) {
        token->next->prev = token->prev;
    }
    list->count--;
}

static void destroy_oldest_spent(msi_token_list *list)
{
    msi_token *oldest = list->spent;
    list->spent = oldest->next;
    list->spent_count--;
    token_destroy(oldest);
}

void msi_token_free(msi_token_list *list, msi_token *token)
{
    unlink_token(list, token);
    token->next = NULL;
    if (list->spent == NULL) {
        list->spent = token;
    } else {
        list->newest_spent->next = token;
    }
    list->newest_spent = token;
    list->spent_count++;
    if (list->spent_count > SPENT_MAX) {
        destroy_oldest_spent(list);
    }
}

void msi_token_detach_all(msi_token_list *list)
{
    for (msi_token *token = list->first; token != NULL; token = token->next) {
        token->owner = NULL;
    }
    while (list->spent != NULL) {
        destroy_oldest_spent(list);
    }
    *list = (msi_token_list){0};
}

const ms_status *msi_token_status(const msi_token *token)
{
    return token->failure != NULL ? token->failure : &success;
}
