/* SPDX-License-Identifier: Apache-2.0 */
/*
 * millstream version [-v]: the version, and with -v what may differ from one build or machine to
 * the next: compiler, libraries, processors, time zone.
 */
/* tidy: no-unit-test: tests/cli drives the program through its command line */
#include "cli/cli.h"

#include <stdio.h>

static const msi_flag flags[] = {
    {"-v", NULL, "build, libraries and time zone too", false},
};

static int run(const msi_command *command, int argc, char **argv)
{
    bool verbose = false;
    msi_args args = msi_args_make(command, argc, argv);
    while (msi_args_next(&args)) {
        if (args.flag == NULL) {
            return msi_usage_error(command, "unexpected \"%s\"", args.value);
        }
        verbose = true;
    }
    if (args.failed) {
        return MSI_EXIT_USAGE;
    }
    if (!verbose) {
        printf("millstream %s\n", MS_VERSION);
        return MSI_EXIT_OK;
    }
    char text[1024];
    ms_about(text, sizeof text);
    fputs(text, stdout);
    return MSI_EXIT_OK;
}

const msi_command msi_command_version = {
    .name = "version",
    .operands = "",
    .help = "print the version",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run,
};
