/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way home of a pooled batch: between batch.c, which counts references, and pool.c, which has
 * the memory.
 */
#ifndef MS_TYPE_BATCH_PRIV_H
#define MS_TYPE_BATCH_PRIV_H

#include "type/batch.h"
#include "type/type_priv.h"

/*
 * Resets a batch whose last reference is given up and hands it to its pool. The caller must not
 * touch it again. Thread: any.
 */
void msi_pool_return(ms_batch *batch);

/* True when some column of the pool's batches has elements of lists, at any depth. */
bool msi_pool_has_lists(const ms_batch_pool *pool);

#endif
