/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack, because what was used last is what the processor still has at hand.
 */
#include "os/spare.h"

#include "base/limits.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#endif

#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

/* The link stays in bounds: the list reads it. */
static void set_in_bounds(const ms_spares *spares, ms_spare *spare, bool is_in_bounds)
{
#ifdef HAS_ASAN
    size_t bytes = spares->object_bytes - sizeof(*spare);
    is_in_bounds ? __asan_unpoison_memory_region(spare + 1, bytes)
                 : __asan_poison_memory_region(spare + 1, bytes);
#else
    (void)spares;
    (void)spare;
    (void)is_in_bounds;
#endif
}

void ms_spares_init(ms_spares *spares, uint32_t count_max, size_t object_bytes)
{
    *spares = (ms_spares){.count_max = count_max, .object_bytes = object_bytes};
    ms_mutex_init(&spares->mutex, MS_RANK_SPARES);
}

void ms_spares_release(ms_spares *spares, void (*free_object)(ms_spare *spare))
{
    for (ms_spare *spare = ms_spares_take(spares); spare != NULL; spare = ms_spares_take(spares)) {
        free_object(spare);
    }
    ms_mutex_release(&spares->mutex);
}

ms_spare *ms_spares_take(ms_spares *spares)
{
    ms_mutex_lock(&spares->mutex);
    ms_spare *spare = spares->first;
    if (spare != NULL) {
        spares->first = spare->next;
        spares->count--;
        set_in_bounds(spares, spare, true);
    }
    ms_mutex_unlock(&spares->mutex);
    return spare;
}

bool ms_spares_give(ms_spares *spares, ms_spare *spare)
{
    ms_mutex_lock(&spares->mutex);
    bool is_kept = spares->count < spares->count_max;
    if (is_kept) {
        spare->next = spares->first;
        spares->first = spare;
        spares->count++;
        set_in_bounds(spares, spare, false);
    }
    ms_mutex_unlock(&spares->mutex);
    return is_kept;
}
