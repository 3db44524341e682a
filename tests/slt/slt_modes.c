/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modes: a few that cover the pairs of settings, or all combinations; each with the store in
 * the process and behind a server.
 */
#include "slt.h"

#include <stdio.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

/* Every two settings meet in every combination, but for those of a crash with rows 2048, in which
 * most inputs would be one batch. */
static const slt_mode few[] = {
    {"", 2048, 1, 0, 64, 0, false, true, SLT_TEAR_NONE, SLT_SERVER_NONE, false},
    {"", 1, 2, 0, 2, 2, false, true, SLT_TEAR_NONE, SLT_SERVER_NONE, false},
    {"", 7, 1, 0, 2, 2, true, false, SLT_TEAR_NONE, SLT_SERVER_NONE, false},
    {"", 2048, 2, 0, 2, 2, true, true, SLT_TEAR_NONE, SLT_SERVER_NONE, false},
    {"", 7, 2, 0, 64, 0, false, false, SLT_TEAR_NONE, SLT_SERVER_NONE, false},
    {"", 1, 1, 0, 64, 0, true, true, SLT_TEAR_NONE, SLT_SERVER_NONE, false},
    {"", 2048, 4, 0, 2, 2, false, false, SLT_TEAR_NONE, SLT_SERVER_NONE, false},
    {"", 7, 4, 0, 64, 0, true, true, SLT_TEAR_NONE, SLT_SERVER_NONE, false},
    {"", 1, 4, 0, 2, 2, true, false, SLT_TEAR_NONE, SLT_SERVER_NONE, false},
    {"", 1, 1, 2, 2, 2, false, true, SLT_TEAR_CANCEL, SLT_SERVER_NONE, false},
    {"", 7, 2, 4, 64, 0, true, false, SLT_TEAR_CANCEL, SLT_SERVER_NONE, false},
    {"", 7, 4, 1, 2, 2, false, true, SLT_TEAR_KILL, SLT_SERVER_NONE, false},
    {"", 1, 2, 1, 64, 0, true, true, SLT_TEAR_COMMIT, SLT_SERVER_NONE, false},
};

static void name_mode(slt_mode *mode)
{
    static const char *const tears[] = {
        [SLT_TEAR_NONE] = "",
        [SLT_TEAR_CANCEL] = ", canceled",
        [SLT_TEAR_KILL] = ", killed",
        [SLT_TEAR_COMMIT] = ", killed before commit",
    };
    static const char *const servers[] = {
        [SLT_SERVER_NONE] = "",
        [SLT_SERVER_ONE] = ", gRPC",
        [SLT_SERVER_MANY] = ", gRPC, servers",
    };
    char other[16] = "";
    if (mode->tear != SLT_TEAR_NONE) {
        snprintf(other, sizeof other, " and %u", mode->other_parallelism);
    }
    snprintf(mode->name, sizeof mode->name, "rows %u, parallel %u%s%s%s%s%s%s", mode->batch_rows,
             mode->parallelism, other, mode->ring_slots == 2 ? ", rings 2" : "",
             mode->is_batch ? ", batch" : "", mode->optimizer ? "" : ", rules off",
             tears[mode->tear], servers[mode->server]);
}

static void add(slt_mode *modes, uint32_t *count, slt_mode mode)
{
    MS_ASSERT(*count < SLT_MODES_MAX);
    mode.is_first = *count == 0 ||
                    (mode.server != SLT_SERVER_NONE && modes[*count - 1].server == SLT_SERVER_NONE);
    name_mode(&mode);
    modes[(*count)++] = mode;
}

/* The settings that both kinds of modes have; bits choose among two each. */
static slt_mode with_bits(uint32_t bits, uint32_t rows, uint32_t parallelism)
{
    bool narrow = (bits & 1) != 0;
    return (slt_mode){.batch_rows = rows,
                      .parallelism = parallelism,
                      .ring_slots = narrow ? 2 : 64,
                      .exchange_batches = narrow ? 2 : 0,
                      .is_batch = (bits & 2) != 0,
                      .optimizer = (bits & 4) == 0};
}

static void add_plain(slt_mode *modes, uint32_t *count)
{
    static const uint32_t rows[] = {2048, 7, 1};
    static const uint32_t parallelism[] = {1, 2, 4};
    for (uint32_t i = 0; i < COUNT(rows) * COUNT(parallelism) * 8; i++) {
        uint32_t rest = i / 8;
        add(modes, count, with_bits(i % 8, rows[rest % 3], parallelism[rest / 3]));
    }
}

static void add_torn(slt_mode *modes, uint32_t *count)
{
    static const uint32_t rows[] = {7, 1};
    static const uint32_t pairs[][2] = {{1, 2}, {2, 1}, {2, 4}, {4, 1}};
    static const slt_tear tears[] = {SLT_TEAR_CANCEL, SLT_TEAR_KILL, SLT_TEAR_COMMIT};
    for (uint32_t i = 0; i < COUNT(rows) * COUNT(pairs) * COUNT(tears) * 8; i++) {
        uint32_t rest = i / 8;
        const uint32_t *pair = pairs[rest / COUNT(rows) % COUNT(pairs)];
        slt_mode mode = with_bits(i % 8, rows[rest % COUNT(rows)], pair[0]);
        mode.other_parallelism = pair[1];
        mode.tear = tears[rest / (COUNT(rows) * COUNT(pairs))];
        add(modes, count, mode);
    }
}

/* Every third mode has several servers: of the few, such as end jobs in each of the ways of one
 * process. */
static void add_served(slt_mode *modes, uint32_t *count)
{
    uint32_t plain = *count;
    for (uint32_t i = 0; i < plain; i++) {
        slt_mode mode = modes[i];
        mode.server = i % 3 == 0 ? SLT_SERVER_MANY : SLT_SERVER_ONE;
        add(modes, count, mode);
    }
}

uint32_t slt_modes(bool all, slt_mode *modes)
{
    uint32_t count = 0;
    if (all) {
        add_plain(modes, &count);
        add_torn(modes, &count);
    }
    for (uint32_t i = 0; !all && i < COUNT(few); i++) {
        add(modes, &count, few[i]);
    }
    add_served(modes, &count);
    return count;
}

bool slt_runs_in(const slt_exempt *exempt, const slt_mode *mode)
{
    return !(mode->is_batch ? exempt->batch : exempt->streaming) &&
           (mode->parallelism == 1 || !exempt->parallel) && (mode->optimizer || !exempt->rules) &&
           (mode->is_first || !exempt->modes) && (mode->server == SLT_SERVER_NONE || !exempt->grpc);
}
