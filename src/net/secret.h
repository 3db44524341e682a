/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A secret is a run of bytes that must not show up where bytes show up: in messages, logs, plans,
 * checkpoints or core files of freed memory. It has no text form; whoever prints one prints "***".
 * Its bytes are wiped when it is released or replaced. ms_secret_reveal is the only way to them, so
 * that a search for that word finds every place that may leak.
 *
 * Ownership: a secret owns its bytes. Thread: one at a time.
 */
#ifndef MS_NET_SECRET_H
#define MS_NET_SECRET_H

#include "base/str.h"

/* Fields are private. Zero-initialized: empty. */
typedef struct ms_secret {
    char *ptr;
    size_t bytes;
} ms_secret;

#define MS_SECRET_BYTES_MAX (1u << 20) /* a key file, with room to spare */

/* Copies the bytes in place of what was there. The caller wipes its own copy (ms_secret_wipe). At
 * most MS_SECRET_BYTES_MAX. */
void ms_secret_set(ms_secret *secret, ms_str bytes);

/* Replaces a secret by another, which becomes empty. */
void ms_secret_move(ms_secret *to, ms_secret *from);

/* Wipes and empties. An empty secret may be released, too. */
void ms_secret_release(ms_secret *secret);

static inline bool ms_secret_is_empty(const ms_secret *secret)
{
    return secret->bytes == 0;
}

/* The bytes, with a NUL behind them that is not counted; valid until the secret changes. For the
 * wire and for cryptography only. */
ms_str ms_secret_reveal(const ms_secret *secret);

/* Compares in a time that depends on the candidate's length only. An empty secret equals
 * nothing. */
bool ms_secret_equals(const ms_secret *secret, ms_str candidate);

/* What to print in place of a secret: "***". */
ms_str ms_secret_text(const ms_secret *secret);

/* Overwrites bytes that were a secret's, in a way that a compiler does not remove. */
void ms_secret_wipe(void *ptr, size_t bytes);

#endif
