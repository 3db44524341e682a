/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What files of this folder and its tests share. Nobody else includes this header.
 */
#ifndef MS_BASE_BASE_PRIV_H
#define MS_BASE_BASE_PRIV_H

#include "millstream/base.h"

/* CRC-32C without the processor's instruction; ms_crc32c takes it where there is none. */
uint32_t msi_crc_software(uint32_t crc, ms_str bytes);

#endif
