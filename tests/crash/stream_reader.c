/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the change stream of a table of a server, over gRPC, for tests of the command line.
 *
 *     stream_reader HOST:PORT projects/P/instances/I/tables/T TOKENS START [tail]
 *
 * Begins behind the tokens in the file TOKENS, or with changes from the microsecond START on where
 * there is no such file, and writes a line "change KEY VALUE" for every change: VALUE, in hex, is
 * that of its last mutation. Without tail it ends when it has come to the present. With tail it
 * follows until SIGTERM. Either way it leaves its tokens in TOKENS, and ends with "closed N", the
 * streams that splits and merges have closed for it. Any failure ends it with status 1.
 */
#include "store_follow.h"

#include "base/env.h"
#include "base/num.h"
#include "bigtable/client/grpc.h"
#include "net/loop.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define IDLE_NS INT64_C(1000000)

static volatile sig_atomic_t is_told_to_stop;

static void stop(int number)
{
    (void)number;
    is_told_to_stop = 1;
}

static void must(ms_rc rc, const ms_status *st)
{
    if (rc != MS_OK) {
        fprintf(stderr, "stream_reader: %s (%s)\n", st->message, st->detail);
        exit(1);
    }
}

static void print_change(void *arg, const ms_bt_change *change)
{
    (void)arg;
    char key[256];
    const ms_bt_change_mutation *last = &change->mutations[change->mutation_count - 1];
    printf("change %s ", ms_bt_bytes_text(change->row_key, key, sizeof(key)));
    for (size_t i = 0; i < last->value.bytes; i++) {
        printf("%02x", (unsigned)(unsigned char)last->value.ptr[i]);
    }
    printf("\n");
}

static void tail(follow *f, ms_parker *parker)
{
    follow_open(f, 0);
    while (!is_told_to_stop) {
        if (!follow_some(f)) {
            fflush(stdout);
            ms_parker_park(parker, IDLE_NS);
        }
    }
}

int main(int argc, char **argv)
{
    ms_status st = {0};
    ms_bt_status bt = {0};
    ms_bt_table_name table;
    int64_t start_micros = 0;
    bool tails = argc == 6 && strcmp(argv[5], "tail") == 0;
    if ((argc != 5 && !tails) || !ms_num_scan_i64(ms_str_cstr(argv[4]), &start_micros) ||
        ms_bt_table_name_parse(&table, ms_str_cstr(argv[2]), &bt) != MS_BT_OK) {
        fprintf(stderr, "usage: stream_reader HOST:PORT TABLE TOKENS START [tail]\n");
        return 2;
    }
    signal(SIGTERM, stop);
    ms_loop *loop = NULL;
    struct ms_bt_transport *transport = NULL;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_parker_init(&parker);
    ms_mailbox_init(&mailbox, &parker);
    must(ms_loop_create("reader", &loop, &st), &st);
    ms_bt_grpc_options options = {.loop = loop, .target = ms_str_cstr(argv[1])};
    must(ms_bt_grpc_create(&options, &transport, &st), &st);
    ms_bt_client *client = ms_bt_client_create(transport, NULL);
    follow f;
    follow_init(&f, client, &mailbox, &table, print_change, NULL);
    if (!follow_load(&f, argv[3]) && !follow_partitions(&f, start_micros, &parker)) {
        fprintf(stderr, "stream_reader: there is no table %s\n", argv[2]);
        return 1;
    }
    if (tails) {
        tail(&f, &parker);
    } else {
        follow_until(&f, ms_env_wall_us(), &parker);
    }
    follow_save(&f, argv[3]);
    printf("closed %" PRIu64 "\n", f.closed);
    follow_release(&f, &parker);
    ms_bt_client_destroy(client);
    ms_bt_grpc_destroy(transport);
    ms_loop_destroy(loop);
    ms_mailbox_release(&mailbox);
    return 0;
}
