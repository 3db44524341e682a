/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of HLL sketches: the input is the length of a state in two bytes, that state, and
 * another. What is read must be written so that it reads back the same; two sketches that merge
 * must give the same in either order.
 */
#include "base/memory.h"
#include "bigtable/model/hll.h"

/* A sketch of the highest precision. */
#define BUF_BYTES (32u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static bool is_small(const ms_bt_hll *hll)
{
    return hll->precision <= 16;
}

static void write_state(ms_bt_hll *hll, ms_buf *buf)
{
    ms_status st = {0};
    ms_buf_init(buf, BUF_BYTES);
    MS_ASSERT(ms_bt_hll_write(hll, buf, &st) == MS_OK);
}

/* Reads, writes, reads, writes: the second time is like the first. */
static void check_round_trip(ms_bt_hll *hll)
{
    ms_bt_status bt = {0};
    ms_buf first;
    ms_buf second;
    ms_bt_hll again;
    write_state(hll, &first);
    MS_ASSERT(ms_bt_hll_init(&again, ms_buf_view(&first), &bt) == MS_BT_OK);
    write_state(&again, &second);
    MS_ASSERT(ms_str_equals(ms_buf_view(&first), ms_buf_view(&second)));
    MS_ASSERT(ms_bt_hll_estimate(hll) == ms_bt_hll_estimate(&again));
    ms_bt_hll_release(&again);
    ms_buf_release(&first);
    ms_buf_release(&second);
}

/* a becomes what b counted too, and the other way round. */
static void check_merge(ms_str left, ms_str right)
{
    ms_bt_hll sketches[4];
    const ms_str states[4] = {left, right, left, right};
    ms_bt_status bt = {0};
    for (int i = 0; i < 4; i++) {
        MS_ASSERT(ms_bt_hll_init(&sketches[i], states[i], &bt) == MS_BT_OK);
    }
    ms_bt_code code = ms_bt_hll_merge(&sketches[0], &sketches[1], &bt);
    ms_bt_status_clear(&bt);
    MS_ASSERT(ms_bt_hll_merge(&sketches[3], &sketches[2], &bt) == code);
    if (code == MS_BT_OK) {
        ms_buf first;
        ms_buf second;
        write_state(&sketches[0], &first);
        write_state(&sketches[3], &second);
        MS_ASSERT(ms_str_equals(ms_buf_view(&first), ms_buf_view(&second)));
        ms_buf_release(&first);
        ms_buf_release(&second);
    }
    for (int i = 0; i < 4; i++) {
        ms_bt_hll_release(&sketches[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < 2) {
        return 0;
    }
    ms_str input = ms_str_make((const char *)data + 2, bytes - 2);
    size_t left_bytes = (size_t)data[0] << 8 | data[1];
    left_bytes = left_bytes > input.bytes ? input.bytes : left_bytes;
    ms_str states[2] = {ms_str_slice(input, 0, left_bytes),
                        ms_str_slice(input, left_bytes, input.bytes)};
    bool are_good = true;
    for (int i = 0; i < 2; i++) {
        ms_bt_hll hll;
        ms_bt_status bt = {0};
        if (ms_bt_hll_init(&hll, states[i], &bt) != MS_BT_OK) {
            are_good = false;
            continue;
        }
        MS_ASSERT(ms_bt_hll_add_int64(&hll, (int64_t)bytes, &bt) == MS_BT_OK);
        /* Large ones take all the time and have nothing of their own. */
        are_good = are_good && is_small(&hll);
        if (is_small(&hll)) {
            check_round_trip(&hll);
        }
        ms_bt_hll_release(&hll);
    }
    if (are_good) {
        check_merge(states[0], states[1]);
    }
    return 0;
}
