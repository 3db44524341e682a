/* SPDX-License-Identifier: Apache-2.0 */
/*
 * millstream serve: the embedded Bigtable over gRPC, until a signal comes.
 */
/* tidy: no-unit-test: tests/cli drives the program through its command line */
#include "cli/cli.h"

#include "base/num.h"
#include "base/trim.h"
#include "millstream/bigtable.h"

#include <stdio.h>
#include <sys/resource.h>

#define DRAIN_MS 10000                          /* calls under way get this long to end */
#define GC_INTERVAL_MS_MAX INT64_C(31536000000) /* a year */
#define DESCRIPTORS 8192 /* 4096 of the store, 1024 of connections, and some */

static const msi_flag flags[] = {
    {"--listen", "HOST:PORT", "where to listen (default 127.0.0.1:8086; port 0: any)", false},
    {"--data-dir", "DIR", "where the embedded Bigtable lives", false},
    {"--tls-cert", "FILE", "certificate chain in PEM; needed beyond loopback", false},
    {"--tls-key", "FILE", "its private key", false},
    {"--token-file", "FILE", "what clients must send; needed beyond loopback", false},
    {"--gc-interval", "DURATION",
     "how often garbage is collected (default 1h; 0s: only when it is asked for)", false},
    {"--quiet", NULL, "no notes on standard error", false},
};

/* The store has files open, and each client a socket: more of them than programs usually get. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < DESCRIPTORS) {
        limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max : DESCRIPTORS;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void look(void *arg)
{
    ms_trim_look(arg);
}

static int serve(msi_common *common, const ms_bigtable_serve_options *options)
{
    ms_status st = {0};
    ms_bigtable_server *server = NULL;
    ms_engine_options engine = {.struct_bytes = sizeof engine,
                                .data_dir = common->data_dir,
                                .notice = msi_common_notice,
                                .notice_arg = common};
    int status = MSI_EXIT_OK;
    if (ms_engine_open(&engine, &common->engine, &st) != MS_OK ||
        ms_bigtable_serve(common->engine, options, &server, &st) != MS_OK) {
        status = MSI_EXIT_FAILED;
    } else {
        /* For those who start it and wait: the one line on standard output. */
        printf("millstream: serving Bigtable at %s\n", ms_bigtable_server_address(server));
        fflush(stdout);
        ms_trim trim = {0};
        look(&trim);
        (void)msi_signals_wait(MS_TRIM_PERIOD_NS, look, &trim);
        status =
            ms_bigtable_server_stop(server, DRAIN_MS, &st) == MS_OK ? MSI_EXIT_OK : MSI_EXIT_FAILED;
    }
    if (!ms_status_is_ok(&st)) {
        msi_print_status(common, NULL, 0, &st);
    }
    ms_engine_close(common->engine);
    return status;
}

/* 0s is none to the user; in the options 0 is the default. */
static bool read_interval(const char *text, int64_t *ms_out)
{
    ms_status st = {0};
    int64_t ms = 0;
    if (ms_num_parse_duration_ms(ms_str_cstr(text), &ms, &st) != MS_OK || ms < 0 ||
        ms > GC_INTERVAL_MS_MAX) {
        return false;
    }
    *ms_out = ms == 0 ? -1 : ms;
    return true;
}

static int run(const msi_command *command, int argc, char **argv)
{
    msi_common common = {0};
    ms_bigtable_serve_options options = {.struct_bytes = sizeof options};
    msi_args args = msi_args_make(command, argc, argv);
    while (msi_args_next(&args)) {
        if (args.flag == NULL) {
            return msi_usage_error(command, "unexpected \"%s\"", args.value);
        }
        options.listen = msi_args_is(&args, "--listen") ? args.value : options.listen;
        options.tls_cert = msi_args_is(&args, "--tls-cert") ? args.value : options.tls_cert;
        options.tls_key = msi_args_is(&args, "--tls-key") ? args.value : options.tls_key;
        options.token_file = msi_args_is(&args, "--token-file") ? args.value : options.token_file;
        if (msi_args_is(&args, "--gc-interval") &&
            !read_interval(args.value, &options.gc_interval_ms)) {
            return msi_usage_error(command,
                                   "\"%s\" is no interval; write a duration such as 10m, or 0s "
                                   "for none",
                                   args.value);
        }
        common.data_dir = msi_args_is(&args, "--data-dir") ? args.value : common.data_dir;
        common.quiet |= msi_args_is(&args, "--quiet");
    }
    if (args.failed) {
        return MSI_EXIT_USAGE;
    }
    msi_signals_block();
    raise_descriptors();
    return serve(&common, &options);
}

const msi_command msi_command_serve = {
    .name = "serve",
    .operands = "",
    .help = "serve the embedded Bigtable over gRPC",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run,
    .example = "--listen 127.0.0.1:8086 --data-dir data",
};
