/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of a session. Every known key is a row of one table with its type, range and
 * default; the value is checked when it is set. A script's SET beats a flag of the command line, a
 * flag beats the default; RESET takes a SET away.
 *
 *     ms_settings *settings = ms_settings_create();
 *     MS_TRY(ms_settings_set(settings, MS_SET_BY_SCRIPT, key, value, key_span, value_span, &note,
 *                            st));
 *     int64_t parallelism = ms_settings_value(settings, MS_SETTING_PARALLELISM).i64;
 *
 * Keys fall into four classes: known; Flink's keys that mean nothing here (accepted, with one
 * warning); misspelt under a first component that is ours or Flink's (an error with the nearest
 * key); anything else is kept as a job parameter for functions.
 *
 * Ownership: the settings copy all texts. Thread: that of the session.
 */
#ifndef MS_CATALOG_SESSION_H
#define MS_CATALOG_SESSION_H

#include "catalog/option.h"

/* The order is that of the table in session.c. */
typedef enum ms_setting {
    MS_SETTING_RUNTIME_MODE, /* 0 streaming, 1 batch */
    MS_SETTING_PARALLELISM,  /* 0: the number of cores */
    MS_SETTING_JOB_NAME,
    MS_SETTING_LOCAL_TIME_ZONE,     /* empty: the host's */
    MS_SETTING_CHECKPOINT_INTERVAL, /* ms; 0: off */
    MS_SETTING_CHECKPOINT_DIR,      /* empty: under the data directory */
    MS_SETTING_WATERMARK_INTERVAL,  /* ms */
    MS_SETTING_COALESCE,            /* 0 auto, 1 never */
    MS_SETTING_OVERFLOW,            /* 0 wrap, 1 error */
    MS_SETTING_NOT_NULL_ENFORCER,   /* 0 error */
    MS_SETTING_DML_SYNC,            /* true */
    MS_SETTING_OPTIMIZER,           /* 0 off, 1 on: the optimize rule group */
    MS_SETTING_BATCH_ROWS,
    MS_SETTING_RING_SLOTS,
    MS_SETTING_RECYCLE_BATCHES, /* 0: as many as all rings hold */
    MS_SETTING_MEMORY_LIMIT,    /* bytes of one job */
    MS_SETTING_BIGTABLE_BACKEND,
    MS_SETTING_BIGTABLE_TLS_CA,     /* PEM file; empty: the system's certificates */
    MS_SETTING_BIGTABLE_TOKEN_FILE, /* of a HOST:PORT; empty: no token */
    MS_SETTING_BIGTABLE_SYNC,       /* 0 group, 1 checkpoint, 2 os */
    MS_SETTING_RESULT_MAX_WIDTH,    /* characters of a column in tableau */
    MS_SETTING_COUNT
} ms_setting;

/* Who sets: a higher level hides a lower one. */
typedef enum ms_set_level { MS_SET_BY_FLAG, MS_SET_BY_SCRIPT, MS_SET_LEVEL_COUNT } ms_set_level;

/* What became of a key that was accepted. */
typedef enum ms_set_note {
    MS_SET_KNOWN,
    MS_SET_NO_EFFECT, /* Flink's, without meaning here: warn once */
    MS_SET_PARAMETER, /* kept for functions */
    MS_SET_MISSPELT   /* same, but likely meant to be ms_setting_nearest: warn */
} ms_set_note;

typedef struct ms_settings ms_settings;

ms_settings *ms_settings_create(void);
void ms_settings_destroy(ms_settings *settings);

/* The same values at the same levels, which change on their own from now on. */
ms_settings *ms_settings_copy(const ms_settings *settings);

/* Sets a key at a level. Errors: MS_UNKNOWN_OPTION with the nearest key, MS_INVALID_OPTION. */
ms_rc ms_settings_set(ms_settings *settings, ms_set_level level, ms_str key, ms_str value,
                      ms_span key_span, ms_span value_span, ms_set_note *note_out,
                      ms_status *st) MS_MUST_USE;

/*
 * Takes back what the script set: one key, which must be one that SET takes, or all (key.ptr NULL).
 */
ms_rc ms_settings_reset(ms_settings *settings, ms_str key, ms_span span, ms_status *st) MS_MUST_USE;

/* The value in force, parsed. */
ms_option_value ms_settings_value(const ms_settings *settings, ms_setting setting);

/* The key's text, as in messages. */
const char *ms_setting_key(ms_setting setting);

/* The known key that a text is a few letters away from; NULL: none. */
const char *ms_setting_nearest(ms_str key);

/* The value of any key that was set, for job parameters; ptr NULL when it was not. */
ms_str ms_settings_parameter(const ms_settings *settings, ms_str key);

/*
 * All keys that were set, at either level, with the value in force, sorted; the array is in arena.
 */
const ms_option *ms_settings_list(const ms_settings *settings, ms_arena *arena,
                                  uint32_t *count_out);

#endif
