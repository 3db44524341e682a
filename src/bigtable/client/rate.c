/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests are spaced evenly: each takes the next slot, and a slot that nobody took is lost, so
 * that a pause is not made up for by a burst.
 */
#include "bigtable/client/rate.h"

#define SECOND_NS INT64_C(1000000000)

#define FIRST_PER_SECOND 10.0
#define LEAST_PER_SECOND 0.1
#define MOST_PER_SECOND 100000.0
#define LEAST_FACTOR 0.7
#define MOST_FACTOR 1.3
#define FAILED_PERIOD_MICROS INT64_C(10000000)

static double between(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

static int64_t add(int64_t ns, int64_t more_ns)
{
    return ns < INT64_MAX - more_ns ? ns + more_ns : INT64_MAX;
}

int64_t msi_rate_take(msi_rate *rate, int64_t at_ns, int64_t until_ns)
{
    if (!rate->is_limited) {
        return at_ns;
    }
    int64_t begin_ns = at_ns > rate->next_ns ? at_ns : rate->next_ns;
    if (begin_ns < until_ns) {
        rate->next_ns = add(begin_ns, (int64_t)((double)SECOND_NS / rate->per_second));
    }
    return begin_ns;
}

static void change(msi_rate *rate, double factor, int64_t period_micros, int64_t now_ns)
{
    if (now_ns < rate->change_ns) {
        return;
    }
    double per_second = rate->per_second * between(factor, LEAST_FACTOR, MOST_FACTOR);
    rate->per_second = between(per_second, LEAST_PER_SECOND, MOST_PER_SECOND);
    rate->change_ns =
        period_micros < INT64_MAX / 1000 ? add(now_ns, period_micros * 1000) : INT64_MAX;
}

void msi_rate_set(msi_rate *rate, double factor, int64_t period_micros, int64_t now_ns)
{
    if (!(factor > 0) || period_micros <= 0) {
        return;
    }
    if (!rate->is_limited) {
        *rate = (msi_rate){.is_limited = true, .per_second = FIRST_PER_SECOND};
    }
    change(rate, factor, period_micros, now_ns);
}

void msi_rate_unset(msi_rate *rate, int64_t now_ns)
{
    if (now_ns >= rate->change_ns) {
        rate->is_limited = false;
    }
}

void msi_rate_failed(msi_rate *rate, ms_bt_code code, int64_t now_ns)
{
    if (rate->is_limited && (code == MS_BT_UNAVAILABLE || code == MS_BT_DEADLINE_EXCEEDED ||
                             code == MS_BT_RESOURCE_EXHAUSTED)) {
        change(rate, LEAST_FACTOR, FAILED_PERIOD_MICROS, now_ns);
    }
}
