/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap, and the accountant that says how much of it each part of a job may hold. No other file
 * calls malloc, realloc or free.
 *
 * Two kinds of failure, two families. Incidental memory (arenas, small tables at start-up) follows
 * from bounded input and never fails: ms_mem_alloc() and its kin end the process through
 * ms_mem_exhausted() when the machine has nothing left, and callers check nothing. Budgeted memory
 * (state, batches, buffers, caches) grows with data: its owner reserves bytes at an account first,
 * which can refuse with a named error, and then calls the ms_mem_try_ family, which returns NULL.
 *
 *     MS_TRY(ms_account_reserve(&op->account, bytes, st));
 *     char *slots = ms_mem_try_alloc(bytes);
 *     if (slots == NULL) {
 *         ms_account_unreserve(&op->account, bytes);
 *         return ms_mem_refuse(bytes, st);
 *     }
 *
 * Accounts form a tree: process, job, operator. A reservation counts at the account and at all its
 * ancestors, or nowhere. An account is a number of bytes, not a heap: it does not know what they
 * were for, and its owner gives back exactly what it took. Reservations pass the fault point
 * "memory.reserve".
 *
 * Ownership: memory belongs to the caller and goes back through ms_mem_free(). Thread: any, also
 * for accounts: they are atomics without a lock.
 */
#ifndef MS_BASE_MEMORY_H
#define MS_BASE_MEMORY_H

#include "base/status.h"

#include <stdatomic.h>

/* Incidental memory: never NULL. */

/* Uninitialized; bytes may be 0. */
void *ms_mem_alloc(size_t bytes) __attribute__((returns_nonnull, malloc, alloc_size(1)));

/* Zeroed; a product that overflows is exhaustion. */
void *ms_mem_calloc(size_t count, size_t bytes)
    __attribute__((returns_nonnull, malloc, alloc_size(1, 2)));

/* As realloc; ptr may be NULL. */
void *ms_mem_realloc(void *ptr, size_t bytes) __attribute__((returns_nonnull, alloc_size(2)));

/* Uninitialized, at a multiple of align, a power of two. */
void *ms_mem_alloc_aligned(size_t bytes, size_t align) __attribute__((returns_nonnull, malloc));

/* Takes what any function here returned, and NULL. */
void ms_mem_free(void *ptr);

/*
 * The one way out when the machine has no memory left: prints what was asked for (0: not known) and
 * ends the process at once with exit status 1. It is an error of the environment, not a bug, so it
 * leaves no core; nothing is flushed or closed, as at any other sudden end.
 */
_Noreturn void ms_mem_exhausted(size_t bytes);

/* Budgeted memory: NULL when there is none, and at the fault point "memory.try". */

void *ms_mem_try_alloc(size_t bytes) __attribute__((malloc, alloc_size(1))) MS_MUST_USE;
void *ms_mem_try_calloc(size_t count, size_t bytes)
    __attribute__((malloc, alloc_size(1, 2))) MS_MUST_USE;
void *ms_mem_try_alloc_aligned(size_t bytes, size_t align) __attribute__((malloc)) MS_MUST_USE;

/* As realloc: on NULL, ptr is as it was. */
void *ms_mem_try_realloc(void *ptr, size_t bytes) __attribute__((alloc_size(2))) MS_MUST_USE;

/* Reports that the system refused this many bytes: MS_NO_MEMORY. */
ms_rc ms_mem_refuse(size_t bytes, ms_status *st);

/* Inspection. */

/*
 * Calls of allocating functions so far in this process, by all threads. Tests take the difference
 * around a running pipeline: nothing is allocated per row.
 */
uint64_t ms_mem_allocation_count(void);

/* Bytes of the heap that are in use, whoever allocated them; UINT64_MAX where that is not known.
 * Takes the locks of the heap for a moment. */
uint64_t ms_mem_used_bytes(void);

/* Gives free pages of the heap back to the system. trim.h knows when. */
void ms_mem_trim(void);

/* The accountant. */

#define MS_ACCOUNT_NAME_BYTES 64
#define MS_ACCOUNT_UNLIMITED UINT64_MAX

/* Fields are private. The struct is public so that it can be embedded. */
typedef struct ms_account {
    struct ms_account *parent;
    char name[MS_ACCOUNT_NAME_BYTES];
    const char *setting;
    _Atomic uint64_t limit_bytes;
    _Atomic uint64_t used_bytes;
    _Atomic uint64_t peak_bytes;
    _Atomic uint32_t children;
} ms_account;

/*
 * Starts an account under parent (NULL: a root). The name is what an error says ("state of job
 * totals") and is copied, cut to MS_ACCOUNT_NAME_BYTES - 1. setting is the key of the setting that
 * raises the limit; it is borrowed for the account's life and may be NULL.
 */
void ms_account_init(ms_account *account, ms_account *parent, const char *name, const char *setting,
                     uint64_t limit_bytes);

/* Ends an account: all its bytes were given back and all its children ended, or it is a bug. */
void ms_account_release(ms_account *account);

/* A limit below what is in use only stops further reservations. */
void ms_account_set_limit(ms_account *account, uint64_t limit_bytes);

/*
 * Reserves bytes here and at every ancestor, or nowhere. The error, MS_NO_MEMORY, names the account
 * that is full and the setting that raises it.
 */
ms_rc ms_account_reserve(ms_account *account, uint64_t bytes, ms_status *st) MS_MUST_USE;

/* Same without a report, for an owner that reacts (spills, flushes, waits) instead of failing. */
bool ms_account_try_reserve(ms_account *account, uint64_t bytes) MS_MUST_USE;

/* Gives bytes back; giving back more than is in use is a bug. */
void ms_account_unreserve(ms_account *account, uint64_t bytes);

uint64_t ms_account_used_bytes(const ms_account *account);
uint64_t ms_account_peak_bytes(const ms_account *account);
uint64_t ms_account_limit_bytes(const ms_account *account);

#endif
