/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands of the program share: arguments, printing, signals. The program uses the public
 * headers alone (and base/), so that everything it can do an embedding program can do too.
 *
 * Exit status: 0 success, 1 a statement or job failed, 2 wrong usage, 128 + n ended by signal n.
 */
#ifndef MS_CLI_CLI_H
#define MS_CLI_CLI_H

#include "base/str.h"
#include "millstream/bigtable.h"
#include "millstream/millstream.h"

#define MSI_EXIT_OK 0
#define MSI_EXIT_FAILED 1
#define MSI_EXIT_USAGE 2

/* One option of a command. */
typedef struct msi_flag {
    const char *name; /* "--set" */
    const char *arg;  /* what it takes, for the usage; NULL: nothing */
    const char *help;
    bool unsupported; /* refused by name */
} msi_flag;

/* A command: a row of the table in main.c. */
typedef struct msi_command {
    const char *name;
    const char *operands; /* for the usage: "FILE.sql|-" */
    const char *help;
    const msi_flag *flags;
    size_t flag_count;
    int (*run)(const struct msi_command *command, int argc, char **argv);
    const char *example; /* of its arguments */

    /* Prints the usage for these arguments, of a command that has commands of its own; returns the
     * exit status. NULL: msi_print_usage does. */
    int (*help_on)(const struct msi_command *command, int argc, char **argv);
} msi_command;

extern const msi_command msi_command_run;
extern const msi_command msi_command_check;
extern const msi_command msi_command_explain;
extern const msi_command msi_command_bigtable;
extern const msi_command msi_command_serve;
extern const msi_command msi_command_version;

/* Reading arguments: call until it returns false. */
typedef struct msi_args {
    const msi_command *command;
    int argc;
    char **argv;
    int at;
    const msi_flag *flag; /* NULL: an operand */
    const char *value;    /* of the flag, or the operand */
    bool operands_only;   /* behind "--" */
    bool failed;          /* the mistake was printed */
} msi_args;

msi_args msi_args_make(const msi_command *command, int argc, char **argv);
bool msi_args_next(msi_args *args);

/* True when the flag at hand has this name. */
bool msi_args_is(const msi_args *args, const char *name);

/* The name that a misspelt word was meant to be, found among those that it is compared with. Starts
 * with edits as few as they must be: one more than may be wrong. */
typedef struct msi_nearest {
    const char *name; /* NULL: none is near */
    unsigned edits;
} msi_nearest;

#define MSI_NEAREST_NONE ((msi_nearest){.edits = 4})

void msi_nearest_compare(msi_nearest *nearest, const char *name, ms_str word);

/* Prints "millstream: <text>" and how to get help; returns MSI_EXIT_USAGE. */
int msi_usage_error(const msi_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void msi_print_usage(const msi_command *command);

/* Options that all commands with an engine take. */
typedef struct msi_common {
    const char *data_dir;
    bool quiet;
    bool json_errors;
    int output_errno; /* why msi_write_stdout returned false; 0: it has not */
    ms_engine *engine;
    ms_session *session;
    const ms_script *script; /* the one that runs, which warnings have places in; NULL: none */
    uint32_t statement;      /* of it */
} msi_common;

/* Sets a setting from a flag of its own, or prints why not and returns MSI_EXIT_USAGE. */
int msi_apply_setting(msi_common *common, const char *flag, const char *key, const char *value);

/* The flags --set KEY=VALUE and --define NAME=VALUE. */
int msi_apply_pair(msi_common *common, const msi_command *command, const char *flag,
                   const char *value);

/* Notices go to standard error; under --quiet only the essential ones. */
void msi_common_notice(void *arg, bool is_essential, const ms_status *notice);

/* Prints an error, a warning or a note on standard error. */
void msi_print_status(const msi_common *common, const ms_script *script, uint32_t statement,
                      const ms_status *st);

/*
 * Writes all bytes to standard output. arg: the msi_common, whose output_errno says why not when it
 * returns false.
 */
bool msi_write_stdout(void *arg, ms_str bytes);

/*
 * What a failed write to standard output means. A reader that has gone (EPIPE) wants no more: that
 * is no error. Anything else has lost a result.
 */
ms_rc msi_output_status(int errno_value, ms_status *st);

/* Reads a script: a file, or "-" for standard input, at most 16 MiB. */
ms_rc msi_read_script(const char *path, ms_buf *text, ms_status *st);

/* Signals. */

/*
 * Lets a thread of its own wait for SIGINT, SIGTERM and SIGHUP: the first stops the engine's jobs,
 * a second, or thirty seconds, cancels them. What has not ended two seconds later, such as a write
 * that nobody reads, ends with the process. Call before anything starts a thread.
 */
void msi_signals_start(ms_engine *engine);

/*
 * For commands that do nothing but serve: block before anything starts a thread; wait returns the
 * first signal that came, after which a second one ends the process, and calls meanwhile whenever
 * a period has passed without one.
 */
void msi_signals_block(void);
int msi_signals_wait(int64_t period_ns, void (*meanwhile)(void *arg), void *arg);

/* The engine is about to be closed: signals do nothing to it any more. */
void msi_signals_end(void);

/* The first signal that came; 0: none. */
int msi_signals_received(void);

/* True when the jobs were canceled by a second signal or by the bound on stopping. */
bool msi_signals_canceled(void);

#endif
