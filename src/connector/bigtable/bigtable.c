/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connector's entry in the registry.
 */
/* tidy: no-unit-test: a table of pointers, used by the tests of scan and sink */
#include "connector/bigtable/bigtable.h"

#include "connector/bigtable/options.h"
#include "connector/bigtable/scan.h"
#include "connector/bigtable/sink.h"

const ms_connector ms_connector_bigtable = {
    .name = "bigtable",
    .options = msi_bt_options,
    .option_count = MSI_BT_OPTION_COUNT,
    .scan_create = msi_bt_scan_create,
    .sink_create = msi_bt_sink_create,
};
