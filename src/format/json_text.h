/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings as JSON: for the json format and for results.
 *
 * Ownership: nothing is kept. Thread: any.
 */
#ifndef MS_FORMAT_JSON_TEXT_H
#define MS_FORMAT_JSON_TEXT_H

#include "base/str.h"

/*
 * Appends text in quotes: ", \ and control characters escaped (\b \f \n \r \t, else \u00XX in upper
 * case), everything else as it is. Bytes that are not UTF-8 become U+FFFD, one for each.
 */
ms_rc ms_json_append_string(ms_buf *out, ms_str text, ms_status *st) MS_MUST_USE;

#endif
