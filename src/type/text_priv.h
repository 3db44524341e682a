/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing digits two at a time, for the text_*.c files.
 */
#ifndef MS_TYPE_TEXT_PRIV_H
#define MS_TYPE_TEXT_PRIV_H

#include <stdint.h>
#include <string.h>

static const char msi_digit_pairs[] = "00010203040506070809"
                                      "10111213141516171819"
                                      "20212223242526272829"
                                      "30313233343536373839"
                                      "40414243444546474849"
                                      "50515253545556575859"
                                      "60616263646566676869"
                                      "70717273747576777879"
                                      "80818283848586878889"
                                      "90919293949596979899";

/* Writes the two digits of a value below 100 and returns the end. */
static inline char *msi_put_pair(char *out, uint32_t value)
{
    memcpy(out, &msi_digit_pairs[value * 2], 2);
    return out + 2;
}

/* Writes exactly `digits` digits of a value that has no more, and returns the end. */
static inline char *msi_put_digits(char *out, uint64_t value, uint32_t digits)
{
    char *at = out + digits;
    while (at - out >= 2) {
        at -= 2;
        (void)msi_put_pair(at, (uint32_t)(value % 100));
        value /= 100;
    }
    if (at != out) {
        *out = (char)('0' + value);
    }
    return out + digits;
}

#endif
