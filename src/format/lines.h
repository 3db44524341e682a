/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far an input that comes in portions has whole lines, without looking at a byte twice: a line
 * that is longer than many portions costs no more than its length.
 *
 *     size_t whole = msi_lines_whole(&lines, input);      so many bytes of whole lines
 *     ... decode some of input[0, whole) ...
 *     msi_lines_consume(&lines, consumed);                the next input begins behind
 *
 * Private to this folder. Thread: one at a time. Starts as zeros, as for another file.
 */
#ifndef MS_FORMAT_LINES_H
#define MS_FORMAT_LINES_H

#include "base/str.h"

typedef struct msi_lines {
    size_t whole;          /* bytes of whole lines in front */
    size_t searched;       /* bytes in front that were looked at */
    uint64_t bytes_looked; /* in all, for tests */
} msi_lines;

size_t msi_lines_whole(msi_lines *lines, ms_str input);
void msi_lines_consume(msi_lines *lines, size_t bytes);

#endif
