/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an operation is tried again: a pure function of what happened so far, so that every rule can
 * be tested without a network or a clock.
 *
 * Ownership: a value. Thread: one at a time.
 */
#ifndef MS_BIGTABLE_CLIENT_RETRY_H
#define MS_BIGTABLE_CLIENT_RETRY_H

#include "base/env.h"
#include "bigtable/model/status.h"

/* Attempts of an operation that is not repeated, as long as no server has begun with any. */
#define MSI_RETRY_UNBEGUN_MAX 10u

/* The values that Google's Java client has. */
#define MSI_RETRY_INITIAL_NS INT64_C(10000000)
#define MSI_RETRY_MAX_NS INT64_C(60000000000)

typedef struct msi_retry_policy {
    int64_t attempt_ns;    /* time of one attempt; 0: only the total counts */
    int64_t total_ns;      /* time of all together; 0: no limit */
    uint32_t attempts_max; /* without progress; 1: nothing is repeated */
    bool retries_aborted;  /* ABORTED may be repeated: nothing was changed */
} msi_retry_policy;

typedef struct msi_retry {
    const msi_retry_policy *policy;
    uint32_t attempts;   /* begun since the last progress */
    bool is_unprocessed; /* the last attempt failed, and the server has certainly not begun with it:
                          * set behind it by whoever is told, until the next begins */
    int64_t deadline_ns; /* of all attempts; INT64_MAX: none */
    ms_env_random random;
} msi_retry;

/* timeout_ns 0: the policy's. now_ns is of the monotonic clock. */
void msi_retry_init(msi_retry *retry, const msi_retry_policy *policy, int64_t timeout_ns,
                    int64_t now_ns, uint64_t seed);

/* An attempt begins: its deadline, 0 for none. */
int64_t msi_retry_begin(msi_retry *retry, int64_t now_ns);

/* The attempt brought something: counting of attempts starts anew. */
void msi_retry_progress(msi_retry *retry);

/*
 * An attempt failed. True: another one may begin after *wait_ns_out. False: the failure is final.
 * delay_ns is what the server asked for, below 0 when it did not.
 */
bool msi_retry_again(msi_retry *retry, ms_bt_code code, int64_t delay_ns, int64_t now_ns,
                     int64_t *wait_ns_out);

/* May a request be repeated after this code at all? */
bool msi_retry_is_retryable(const msi_retry_policy *policy, ms_bt_code code);

/* May also a request be repeated that must not be carried out twice? */
static inline bool msi_retry_is_unbegun(const msi_retry *retry, ms_bt_code code)
{
    return retry->is_unprocessed && code == MS_BT_UNAVAILABLE;
}

#endif
