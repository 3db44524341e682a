/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only caller of the system's allocator, and the accountant. There is no pool or cache here:
 * arenas and batches recycle memory above this file, so that what is left for the allocator is rare
 * and large, which is what it is good at.
 */
#include "base/memory.h"

#include "base/env.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#if __GLIBC_PREREQ(2, 33)
#define HAS_MALLINFO2
#endif
#endif

/*
 * Order relaxed: the counter is a statistic, read by tests after the threads that they started were
 * joined or stand still.
 */
static _Atomic uint64_t allocation_count;

static void count_allocation(void)
{
    atomic_fetch_add_explicit(&allocation_count, 1, memory_order_relaxed);
}

/* malloc(0) may return NULL, which must not read as exhaustion. */
static size_t at_least_one(size_t bytes)
{
    return bytes == 0 ? 1 : bytes;
}

static void *heap_calloc(size_t count, size_t bytes)
{
    size_t total = 0;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        return NULL;
    }
    count_allocation();
    return calloc(1, at_least_one(total));
}

static void *heap_aligned(size_t bytes, size_t align)
{
    MS_ASSERT(align != 0 && (align & (align - 1)) == 0);
    count_allocation();
    void *ptr = NULL;
    size_t at_least = align < sizeof(void *) ? sizeof(void *) : align;
    return posix_memalign(&ptr, at_least, at_least_one(bytes)) == 0 ? ptr : NULL;
}

void ms_mem_exhausted(size_t bytes)
{
    char what[64] = "";
    if (bytes != 0) {
        snprintf(what, sizeof what, " (%zu bytes were asked for)", bytes);
    }
    fprintf(stderr, "millstream: the machine has no memory left%s\n", what);
    fflush(stderr);
    _Exit(EXIT_FAILURE);
}

void *ms_mem_alloc(size_t bytes)
{
    count_allocation();
    void *ptr = malloc(at_least_one(bytes));
    if (ptr == NULL) {
        ms_mem_exhausted(bytes);
    }
    return ptr;
}

void *ms_mem_calloc(size_t count, size_t bytes)
{
    void *ptr = heap_calloc(count, bytes);
    if (ptr == NULL) {
        ms_mem_exhausted(bytes);
    }
    return ptr;
}

void *ms_mem_realloc(void *ptr, size_t bytes)
{
    count_allocation();
    void *moved = realloc(ptr, at_least_one(bytes));
    if (moved == NULL) {
        ms_mem_exhausted(bytes);
    }
    return moved;
}

void *ms_mem_alloc_aligned(size_t bytes, size_t align)
{
    void *ptr = heap_aligned(bytes, align);
    if (ptr == NULL) {
        ms_mem_exhausted(bytes);
    }
    return ptr;
}

void ms_mem_free(void *ptr)
{
    free(ptr);
}

/* Whether an injected fault refuses this allocation. */
static bool is_refused(void)
{
    return ms_env_fault("memory.try");
}

void *ms_mem_try_alloc(size_t bytes)
{
    if (is_refused()) {
        return NULL;
    }
    count_allocation();
    return malloc(at_least_one(bytes));
}

void *ms_mem_try_calloc(size_t count, size_t bytes)
{
    return is_refused() ? NULL : heap_calloc(count, bytes);
}

void *ms_mem_try_alloc_aligned(size_t bytes, size_t align)
{
    return is_refused() ? NULL : heap_aligned(bytes, align);
}

void *ms_mem_try_realloc(void *ptr, size_t bytes)
{
    if (is_refused()) {
        return NULL;
    }
    count_allocation();
    return realloc(ptr, at_least_one(bytes));
}

ms_rc ms_mem_refuse(size_t bytes, ms_status *st)
{
    ms_status_set(st, MS_NO_MEMORY, ms_span_none, "could not allocate %zu bytes", bytes);
    return ms_status_hint(st, "Free memory on this machine, or lower the memory settings.");
}

uint64_t ms_mem_allocation_count(void)
{
    return atomic_load_explicit(&allocation_count, memory_order_relaxed);
}

uint64_t ms_mem_used_bytes(void)
{
#ifdef HAS_MALLINFO2
    struct mallinfo2 info = mallinfo2();
    return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
#else
    return UINT64_MAX;
#endif
}

void ms_mem_trim(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

/*
 * Accounts. All orders are relaxed: the numbers guard no other memory. What a reservation protects,
 * the memory itself, is handed from thread to thread by whoever owns it.
 */

void ms_account_init(ms_account *account, ms_account *parent, const char *name, const char *setting,
                     uint64_t limit_bytes)
{
    account->parent = parent;
    account->setting = setting;
    snprintf(account->name, sizeof(account->name), "%s", name);
    atomic_init(&account->limit_bytes, limit_bytes);
    atomic_init(&account->used_bytes, 0);
    atomic_init(&account->peak_bytes, 0);
    atomic_init(&account->children, 0);
    if (parent != NULL) {
        atomic_fetch_add_explicit(&parent->children, 1, memory_order_relaxed);
    }
}

void ms_account_release(ms_account *account)
{
    MS_ASSERT(ms_account_used_bytes(account) == 0);
    MS_ASSERT(atomic_load_explicit(&account->children, memory_order_relaxed) == 0);
    if (account->parent != NULL) {
        atomic_fetch_sub_explicit(&account->parent->children, 1, memory_order_relaxed);
        account->parent = NULL;
    }
}

void ms_account_set_limit(ms_account *account, uint64_t limit_bytes)
{
    atomic_store_explicit(&account->limit_bytes, limit_bytes, memory_order_relaxed);
}

static void raise_peak(ms_account *account, uint64_t used_bytes)
{
    uint64_t peak = atomic_load_explicit(&account->peak_bytes, memory_order_relaxed);
    while (used_bytes > peak &&
           !atomic_compare_exchange_weak_explicit(&account->peak_bytes, &peak, used_bytes,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* Takes bytes at this one account. */
static bool take_here(ms_account *account, uint64_t bytes)
{
    uint64_t limit = atomic_load_explicit(&account->limit_bytes, memory_order_relaxed);
    uint64_t used = atomic_load_explicit(&account->used_bytes, memory_order_relaxed);
    do {
        if (used > limit || bytes > limit - used) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&account->used_bytes, &used, used + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    raise_peak(account, used + bytes);
    return true;
}

static void give_back_here(ms_account *account, uint64_t bytes)
{
    uint64_t before = atomic_fetch_sub_explicit(&account->used_bytes, bytes, memory_order_relaxed);
    MS_ASSERT(before >= bytes);
}

/* Takes bytes from account up to the root. Returns NULL, or the account that is full. */
static ms_account *take_all(ms_account *account, uint64_t bytes)
{
    for (ms_account *at = account; at != NULL; at = at->parent) {
        if (!take_here(at, bytes)) {
            for (ms_account *undo = account; undo != at; undo = undo->parent) {
                give_back_here(undo, bytes);
            }
            return at;
        }
    }
    return NULL;
}

bool ms_account_try_reserve(ms_account *account, uint64_t bytes)
{
    return !ms_env_fault("memory.reserve") && take_all(account, bytes) == NULL;
}

ms_rc ms_account_reserve(ms_account *account, uint64_t bytes, ms_status *st)
{
    const ms_account *full = ms_env_fault("memory.reserve") ? account : take_all(account, bytes);
    if (full == NULL) {
        return MS_OK;
    }
    ms_status_set(st, MS_NO_MEMORY, ms_span_none, "the memory budget of %s is used up", full->name);
    ms_status_detail(st, "%llu of %llu bytes are in use, %llu more were asked for by %s",
                     (unsigned long long)ms_account_used_bytes(full),
                     (unsigned long long)ms_account_limit_bytes(full), (unsigned long long)bytes,
                     account->name);
    if (full->setting != NULL) {
        ms_status_hint(st, "Raise the setting '%s'.", full->setting);
    }
    return st->code;
}

void ms_account_unreserve(ms_account *account, uint64_t bytes)
{
    for (ms_account *at = account; at != NULL; at = at->parent) {
        give_back_here(at, bytes);
    }
}

uint64_t ms_account_used_bytes(const ms_account *account)
{
    return atomic_load_explicit(&account->used_bytes, memory_order_relaxed);
}

uint64_t ms_account_peak_bytes(const ms_account *account)
{
    return atomic_load_explicit(&account->peak_bytes, memory_order_relaxed);
}

uint64_t ms_account_limit_bytes(const ms_account *account)
{
    return atomic_load_explicit(&account->limit_bytes, memory_order_relaxed);
}
