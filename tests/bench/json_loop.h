/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The yardstick of bench_json: what it takes to read bids from lines of JSON with simdjson alone.
 *
 * Ownership: the loop owns its parser and its rows. Thread: main.
 */
#ifndef MS_TESTS_BENCH_JSON_LOOP_H
#define MS_TESTS_BENCH_JSON_LOOP_H

#include "digest.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct json_loop json_loop;

json_loop *json_loop_create(void);
void json_loop_destroy(json_loop *loop);

/*
 * Reads auction, bidder, price, channel, url, ts and extra of every line, copying the strings. text
 * has 64 readable bytes behind it. ts_is_text: ts is a string, copied like the others, else a
 * number. With sum, adds every value to it, ts excepted when it is text. False when a line is
 * malformed.
 */
bool json_loop_run(json_loop *loop, const char *text, size_t bytes, bool ts_is_text, digest *sum);

#ifdef __cplusplus
}
#endif

#endif
