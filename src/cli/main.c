/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program: finds the command and runs it.
 */
/* tidy: no-unit-test: tests/cli drives the program through its command line */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const msi_command *const commands[] = {
    &msi_command_run,      &msi_command_check, &msi_command_explain,
    &msi_command_bigtable, &msi_command_serve, &msi_command_version,
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

/* Commands of the contract that are not built yet. */
static const char *const refused[] = {"state", "node"};

static void print_help(void)
{
    printf("usage: millstream COMMAND ...\n\ncommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        printf("  %-10s %s\n", commands[i]->name, commands[i]->help);
    }
    printf("\nmillstream help COMMAND says more about one.\n");
}

static int unknown_command(const char *name)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (strcmp(name, refused[i]) == 0) {
            fprintf(stderr, "millstream: command \"%s\" is not built yet\n", name);
            return MSI_EXIT_USAGE;
        }
    }
    msi_nearest near = MSI_NEAREST_NONE;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        msi_nearest_compare(&near, commands[i]->name, ms_str_cstr(name));
    }
    fprintf(stderr, "millstream: there is no command \"%s\"%s%s%s\ntry: millstream --help\n", name,
            near.name != NULL ? "; did you mean \"" : "", near.name != NULL ? near.name : "",
            near.name != NULL ? "\"?" : "");
    return MSI_EXIT_USAGE;
}

/* Among the options; behind "--" it is an operand. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

static const msi_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i]->name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static int help_on(const msi_command *command, int argc, char **argv)
{
    if (command->help_on != NULL) {
        return command->help_on(command, argc, argv);
    }
    msi_print_usage(command);
    return MSI_EXIT_OK;
}

/* millstream help [COMMAND ...]: what "millstream COMMAND ... --help" prints. */
static int run_help(int argc, char **argv)
{
    if (argc == 0) {
        print_help();
        return MSI_EXIT_OK;
    }
    const msi_command *command = find_command(argv[0]);
    return command != NULL ? help_on(command, argc - 1, argv + 1) : unknown_command(argv[0]);
}

/*
 * A closed standard descriptor would be given to the next file that is opened, and results would be
 * written into it. /dev/null takes its place, opened the wrong way round: reading standard input or
 * writing standard output goes on to fail.
 */
static bool occupy_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
            if (open("/dev/null", mode) != fd) {
                return false;
            }
        }
    }
    return true;
}

/* What printf has left in its buffer: results may still be lost here. */
static int end_output(int status)
{
    bool failed_before = ferror(stdout) != 0;
    errno = 0;
    bool failed = fflush(stdout) != 0;
    int errno_value = failed ? errno : failed_before ? EIO : 0;
    const msi_common common = {0};
    ms_status st = {0};
    if (status != MSI_EXIT_OK || msi_output_status(errno_value, &st) == MS_OK) {
        return status;
    }
    msi_print_status(&common, NULL, 0, &st);
    return MSI_EXIT_FAILED;
}

static int run_program(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "millstream: the shell is not built yet; run a script with "
                        "\"millstream run FILE.sql\"\ntry: millstream --help\n");
        return MSI_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        return run_help(argc - 2, argv + 2);
    }
    const msi_command *command = find_command(strcmp(name, "--version") == 0 ? "version" : name);
    if (command == NULL) {
        return unknown_command(name);
    }
    return asks_for_help(argc - 2, argv + 2) ? help_on(command, argc - 2, argv + 2)
                                             : command->run(command, argc - 2, argv + 2);
}

int main(int argc, char **argv)
{
    if (!occupy_standard_descriptors()) {
        return MSI_EXIT_FAILED; /* there may be nowhere to say so */
    }
    signal(SIGPIPE, SIG_IGN); /* a writer sees EPIPE, and ends quietly */
    signal(SIGXFSZ, SIG_IGN); /* a writer sees EFBIG, and reports it */
    return end_output(run_program(argc, argv));
}
