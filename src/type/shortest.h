/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C face of shortest.cc: the shortest decimal digits of a floating-point number, and the number
 * nearest to a decimal text. Layouts are made in text_number.c. Private to this folder.
 *
 * Ownership: values only. Thread: any.
 */
#ifndef MS_TYPE_SHORTEST_H
#define MS_TYPE_SHORTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MSI_SHORTEST_DIGITS 17

/* The number is d1.d2...dn * 10^exponent; d1 is '0' for zero alone. */
typedef struct msi_shortest {
    char digits[MSI_SHORTEST_DIGITS];
    int32_t count;
    int32_t exponent;
} msi_shortest;

/* The shortest digits that read back as the number; it is finite and not negative. */
void msi_shortest_f64(double value, msi_shortest *digits_out);
void msi_shortest_f32(float value, msi_shortest *digits_out);

/*
 * Reads all of a text of the form digits[.digits][e[sign]digits], or with hex set the same in
 * hexadecimal with a binary exponent behind p. Too large reads as infinity, too small as zero.
 * False when the text has another form.
 */
bool msi_shortest_read_f64(const char *text, size_t bytes, bool hex, double *value_out);
bool msi_shortest_read_f32(const char *text, size_t bytes, bool hex, float *value_out);

#ifdef __cplusplus
}
#endif

#endif
