/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only the last line feed matters, so that new bytes are searched from their end.
 */
#include "format/lines.h"

size_t msi_lines_whole(msi_lines *lines, ms_str input)
{
    MS_ASSERT(input.bytes >= lines->searched);
    size_t fresh = input.bytes - lines->searched;
    const char *from = input.ptr + lines->searched;
    const char *feed = fresh > 0 ? memrchr(from, '\n', fresh) : NULL;
    lines->whole = feed != NULL ? (size_t)(feed - input.ptr) + 1 : lines->whole;
    lines->searched = input.bytes;
    lines->bytes_looked += fresh;
    return lines->whole;
}

void msi_lines_consume(msi_lines *lines, size_t bytes)
{
    lines->whole -= bytes < lines->whole ? bytes : lines->whole;
    lines->searched -= bytes < lines->searched ? bytes : lines->searched;
}
