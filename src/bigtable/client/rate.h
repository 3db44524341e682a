/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast requests of MutateRows may begin, where the service says so: a pure function of what it
 * said and when, so that every rule can be tested without a network or a clock.
 *
 * A cluster that is loaded answers with a factor and a period. The factor, between 0.7 and 1.3,
 * multiplies the rate, which starts at ten requests a second and stays between one in ten seconds
 * and 100,000 a second; it is good for the period, within which nothing more changes. A request
 * that ran out of time, found nobody or was refused for want of resources counts as the lowest
 * factor for ten seconds. When the period is over and an answer has no factor, the limit is gone.
 * These are the rules of Google's Java client; the service grows its clusters meanwhile.
 *
 * Ownership: a value; zeroed, it limits nothing. Thread: one at a time.
 */
#ifndef MS_BIGTABLE_CLIENT_RATE_H
#define MS_BIGTABLE_CLIENT_RATE_H

#include "bigtable/model/status.h"

typedef struct msi_rate {
    bool is_limited;
    double per_second;
    int64_t next_ns;   /* before which no request begins */
    int64_t change_ns; /* before which the rate stays */
} msi_rate;

/* The moment, at_ns or later, at which a request that is ready at at_ns may begin; the next one
 * comes after it. Not before until_ns: the request cannot wait so long, and delays no other. Times
 * are of the monotonic clock. */
int64_t msi_rate_take(msi_rate *rate, int64_t at_ns, int64_t until_ns);

/* The service has said how fast. What makes no sense, a factor or period that is not above zero, is
 * ignored. */
void msi_rate_set(msi_rate *rate, double factor, int64_t period_micros, int64_t now_ns);

/* A request was answered, and nothing said. */
void msi_rate_unset(msi_rate *rate, int64_t now_ns);

/* A request as a whole failed with this code. */
void msi_rate_failed(msi_rate *rate, ms_bt_code code, int64_t now_ns);

#endif
