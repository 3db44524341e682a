/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version of Millstream and of its C interfaces.
 */
#ifndef MS_MILLSTREAM_VERSION_H
#define MS_MILLSTREAM_VERSION_H

#define MS_VERSION_MAJOR 0
#define MS_VERSION_MINOR 1
#define MS_VERSION_PATCH 0
#define MS_VERSION "0.1.0"

#endif
