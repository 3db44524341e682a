/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backoff: 10 ms, doubled with every attempt without progress, at most a minute, each between three
 * and five quarters of that, so that clients that failed together do not come back together.
 */
#include "bigtable/client/retry.h"

#include "base/str.h"

/* Beyond this the doubled time is above the maximum anyway. */
#define DOUBLINGS_MAX 20u

void msi_retry_init(msi_retry *retry, const msi_retry_policy *policy, int64_t timeout_ns,
                    int64_t now_ns, uint64_t seed)
{
    int64_t total_ns = timeout_ns > 0 ? timeout_ns : policy->total_ns;
    memset(retry, 0, sizeof(*retry));
    retry->policy = policy;
    retry->deadline_ns =
        total_ns > 0 && now_ns < INT64_MAX - total_ns ? now_ns + total_ns : INT64_MAX;
    ms_env_random_init(&retry->random, seed);
}

int64_t msi_retry_begin(msi_retry *retry, int64_t now_ns)
{
    retry->attempts++;
    retry->is_unprocessed = false;
    int64_t attempt_ns = retry->policy->attempt_ns;
    int64_t deadline_ns = retry->deadline_ns;
    if (attempt_ns > 0 && now_ns < INT64_MAX - attempt_ns && now_ns + attempt_ns < deadline_ns) {
        deadline_ns = now_ns + attempt_ns;
    }
    return deadline_ns == INT64_MAX ? 0 : deadline_ns;
}

void msi_retry_progress(msi_retry *retry)
{
    retry->attempts = 1;
}

bool msi_retry_is_retryable(const msi_retry_policy *policy, ms_bt_code code)
{
    return code == MS_BT_UNAVAILABLE || code == MS_BT_DEADLINE_EXCEEDED ||
           (code == MS_BT_ABORTED && policy->retries_aborted);
}

static int64_t backoff_ns(msi_retry *retry)
{
    uint32_t doublings = retry->attempts > 0 ? retry->attempts - 1 : 0;
    int64_t base_ns =
        doublings < DOUBLINGS_MAX ? MSI_RETRY_INITIAL_NS << doublings : MSI_RETRY_MAX_NS;
    base_ns = base_ns < MSI_RETRY_MAX_NS ? base_ns : MSI_RETRY_MAX_NS;
    return base_ns * 3 / 4 +
           (int64_t)ms_env_random_below(&retry->random, (uint64_t)(base_ns / 2) + 1);
}

bool msi_retry_again(msi_retry *retry, ms_bt_code code, int64_t delay_ns, int64_t now_ns,
                     int64_t *wait_ns_out)
{
    *wait_ns_out = 0;
    /* A server that says when to come back wants to be asked again, whatever the code. */
    bool may_repeat = msi_retry_is_retryable(retry->policy, code) || delay_ns >= 0;
    uint32_t attempts_max = retry->policy->attempts_max;
    if (msi_retry_is_unbegun(retry, code) && attempts_max < MSI_RETRY_UNBEGUN_MAX) {
        attempts_max = MSI_RETRY_UNBEGUN_MAX;
    }
    if (!may_repeat || retry->attempts >= attempts_max) {
        return false;
    }
    int64_t wait_ns = delay_ns >= 0 ? delay_ns : backoff_ns(retry);
    if (retry->deadline_ns != INT64_MAX && wait_ns >= retry->deadline_ns - now_ns) {
        return false;
    }
    /* The caller adds it to the time. */
    int64_t longest_ns = now_ns > 0 ? INT64_MAX - now_ns : INT64_MAX;
    *wait_ns_out = wait_ns < longest_ns ? wait_ns : longest_ns;
    return true;
}
