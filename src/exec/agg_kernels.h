/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops of the aggregates: leaf functions over one data array, compiled at -O3. Each goes
 * over data[pos[0]], data[pos[1]], ... data[pos[count - 1]], or over data[0 .. count) when pos is
 * NULL; NULLs were taken out of pos by the caller.
 *
 * Integers are summed exactly: up to MS_BATCH_ROWS_MAX values of 32 bits fit 64 bits, of 64 bits
 * fit 128. Floats are summed in the order given, because their sums depend on it.
 *
 * Ownership: nothing is kept. Thread: any.
 */
#ifndef MS_EXEC_AGG_KERNELS_H
#define MS_EXEC_AGG_KERNELS_H

#include "type/vec.h"

int64_t msi_sum_i8(const int8_t *data, const uint16_t *pos, uint32_t count);
int64_t msi_sum_i16(const int16_t *data, const uint16_t *pos, uint32_t count);
int64_t msi_sum_i32(const int32_t *data, const uint16_t *pos, uint32_t count);
ms_i128 msi_sum_i64(const int64_t *data, const uint16_t *pos, uint32_t count);

/* Adds sign * value for each value; false when the sum leaves 128 bits. */
bool msi_sum_i128(ms_i128 *sum, ms_i128 sign, const ms_i128 *data, const uint16_t *pos,
                  uint32_t count);

/* sum + sign * value, value after value. */
float msi_sum_f32(float sum, float sign, const float *data, const uint16_t *pos, uint32_t count);
double msi_sum_f32_wide(double sum, double sign, const float *data, const uint16_t *pos,
                        uint32_t count);
double msi_sum_f64(double sum, double sign, const double *data, const uint16_t *pos,
                   uint32_t count);

/*
 * The best of `best` and the values: a value replaces it when it is strictly smaller (min) or
 * larger (max).
 */
int64_t msi_min_u8(int64_t best, const uint8_t *data, const uint16_t *pos, uint32_t count);
int64_t msi_max_u8(int64_t best, const uint8_t *data, const uint16_t *pos, uint32_t count);
int64_t msi_min_i8(int64_t best, const int8_t *data, const uint16_t *pos, uint32_t count);
int64_t msi_max_i8(int64_t best, const int8_t *data, const uint16_t *pos, uint32_t count);
int64_t msi_min_i16(int64_t best, const int16_t *data, const uint16_t *pos, uint32_t count);
int64_t msi_max_i16(int64_t best, const int16_t *data, const uint16_t *pos, uint32_t count);
int64_t msi_min_i32(int64_t best, const int32_t *data, const uint16_t *pos, uint32_t count);
int64_t msi_max_i32(int64_t best, const int32_t *data, const uint16_t *pos, uint32_t count);
int64_t msi_min_i64(int64_t best, const int64_t *data, const uint16_t *pos, uint32_t count);
int64_t msi_max_i64(int64_t best, const int64_t *data, const uint16_t *pos, uint32_t count);
ms_i128 msi_min_i128(ms_i128 best, const ms_i128 *data, const uint16_t *pos, uint32_t count);
ms_i128 msi_max_i128(ms_i128 best, const ms_i128 *data, const uint16_t *pos, uint32_t count);
double msi_min_f32(double best, const float *data, const uint16_t *pos, uint32_t count);
double msi_max_f32(double best, const float *data, const uint16_t *pos, uint32_t count);
double msi_min_f64(double best, const double *data, const uint16_t *pos, uint32_t count);
double msi_max_f64(double best, const double *data, const uint16_t *pos, uint32_t count);

/* The same for views and long timestamps; sign 1 for max, -1 for min. */
ms_view msi_best_view(ms_view best, int sign, const ms_view *data, const uint16_t *pos,
                      uint32_t count);
ms_ts16 msi_best_ts16(ms_ts16 best, int sign, const ms_ts16 *data, const uint16_t *pos,
                      uint32_t count);

/*
 * Keeps the positions of rows that are TRUE in a BOOLEAN vector; returns how many. rows NULL:
 * first, first + 1, ... May work in place.
 */
uint32_t msi_keep_true(const ms_vec *flags, const uint16_t *rows, uint32_t first, uint32_t count,
                       uint16_t *out);

/* The positions in data of the rows that are not NULL; returns how many. As above. */
uint32_t msi_keep_values(const ms_vec *vec, const uint16_t *rows, uint32_t first, uint32_t count,
                         uint16_t *out);

#endif
