/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones. A zone is a list of moments at which a new offset begins:
 *
 *     from_s[0] = INT64_MIN   from_s[1]   from_s[2]   ...
 *     offset_s[0]             offset_s[1] offset_s[2] ...
 *
 * read from a file of the system's database, and continued by the rule in its last line for more
 * than 400 years. The calendar repeats after 400 years to the weekday, and so do the rules; an
 * instant behind the list is looked up in the last 400 years of it.
 *
 * The file is read with plain system calls: a database that is read once, like a locale or a
 * certificate store, is part of the program's installation and not of a run.
 */
#include "type/zone.h"

#include "type/time.h"
#include "type/tz_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_DIRECTORY "/usr/share/zoneinfo"
#define FILE_BYTES_MAX (256u << 10) /* the largest file of the database has under 4 KiB */
#define NAME_BYTES_MAX 128u
#define OFFSET_MAX_S (18 * 3600) /* as java.time.ZoneOffset */
#define DAY_S INT64_C(86400)
#define CYCLE_S (146097 * DAY_S) /* 400 years */
#define LOCAL_MAX_S (INT64_C(1) << 62)

struct ms_zone {
    ms_str name;
    uint32_t count;
    bool cyclic; /* the last 400 years of the list repeat for ever */
    const int64_t *from_s;
    const int32_t *offset_s;
};

static const int64_t utc_from[] = {INT64_MIN};
static const int32_t utc_offset[] = {0};
static const ms_zone utc_zone = {
    .name = {"UTC", 3},
    .count = 1,
    .from_s = utc_from,
    .offset_s = utc_offset,
};

const ms_zone *ms_zone_utc(void)
{
    return &utc_zone;
}

ms_str ms_zone_name(const ms_zone *zone)
{
    return zone->name;
}

bool ms_zone_is_fixed(const ms_zone *zone, int32_t *offset_seconds_out)
{
    if (zone->count != 1) {
        return false;
    }
    *offset_seconds_out = zone->offset_s[0];
    return true;
}

/* Fixed offsets. */

/* Reads one or two digits (exactly two where wide) off the front. */
static bool take_number(ms_str *text, bool wide, int32_t *number_out)
{
    int32_t number = 0;
    size_t digits = 0;
    while (digits < 2 && digits < text->bytes && text->ptr[digits] >= '0' &&
           text->ptr[digits] <= '9') {
        number = number * 10 + (text->ptr[digits] - '0');
        digits++;
    }
    if (digits == 0 || (wide && digits < 2)) {
        return false;
    }
    *text = ms_str_slice(*text, digits, text->bytes);
    *number_out = number;
    return true;
}

/* +h, +hh, +hh:mm, +hhmm, +hh:mm:ss, +hhmmss, and the same with a minus. */
static bool parse_offset(ms_str text, int32_t *offset_out)
{
    if (text.bytes < 2 || (text.ptr[0] != '+' && text.ptr[0] != '-')) {
        return false;
    }
    bool negative = text.ptr[0] == '-';
    ms_str rest = ms_str_slice(text, 1, text.bytes);
    int32_t part[3] = {0, 0, 0};
    if (!take_number(&rest, false, &part[0])) {
        return false;
    }
    bool colons = rest.bytes > 0 && rest.ptr[0] == ':';
    bool two_digits = text.bytes - rest.bytes == 3;
    for (int i = 1; i < 3 && rest.bytes > 0; i++) {
        if (colons) {
            if (rest.ptr[0] != ':') {
                return false;
            }
            rest = ms_str_slice(rest, 1, rest.bytes);
        }
        if (!two_digits || !take_number(&rest, true, &part[i])) {
            return false;
        }
    }
    int32_t offset = part[0] * 3600 + part[1] * 60 + part[2];
    if (rest.bytes > 0 || part[1] > 59 || part[2] > 59 || offset > OFFSET_MAX_S) {
        return false;
    }
    *offset_out = negative ? -offset : offset;
    return true;
}

static bool parse_fixed(ms_str name, int32_t *offset_out)
{
    if (ms_str_equals(name, ms_str_lit("Z"))) {
        *offset_out = 0;
        return true;
    }
    static const char *const prefixes[] = {"UTC", "GMT", "UT"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        ms_str prefix = ms_str_cstr(prefixes[i]);
        if (ms_str_starts_with(name, prefix)) {
            name = ms_str_slice(name, prefix.bytes, name.bytes);
            *offset_out = 0;
            return name.bytes == 0 || parse_offset(name, offset_out);
        }
    }
    return parse_offset(name, offset_out);
}

static const ms_zone *make_fixed(ms_arena *arena, ms_str name, int32_t offset)
{
    ms_zone *zone = ms_arena_new(arena, ms_zone);
    int32_t *offsets = ms_arena_new(arena, int32_t);
    offsets[0] = offset;
    *zone = (ms_zone){
        .name = ms_arena_copy_str(arena, name),
        .count = 1,
        .from_s = utc_from,
        .offset_s = offsets,
    };
    return zone;
}

/* The database. */

static ms_str database_directory(void)
{
    const char *directory = getenv("TZDIR");
    return ms_str_cstr(directory != NULL && directory[0] != '\0' ? directory : DEFAULT_DIRECTORY);
}

/* Names of regions: what java.time takes, and nothing that leads out of the directory. */
static bool is_region_name(ms_str name)
{
    if (name.bytes == 0 || name.bytes > NAME_BYTES_MAX) {
        return false;
    }
    for (size_t i = 0; i < name.bytes; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        bool other = (c >= '0' && c <= '9') || c == '/' || c == '_' || c == '-' || c == '+';
        if (!letter && (i == 0 || !other)) {
            return false;
        }
    }
    return true;
}

/* Reads at most bytes of a file into the arena; an empty text when that is not possible. */
static ms_str read_file(ms_arena *arena, ms_str directory, ms_str name, size_t bytes_max)
{
    ms_str path = ms_arena_format(arena, "%.*s/%.*s", MS_STR_ARG(directory), MS_STR_ARG(name));
    int file = open(path.ptr, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return (ms_str){0};
    }
    char *buffer = ms_arena_alloc(arena, bytes_max, 1);
    size_t bytes = 0;
    while (bytes < bytes_max) {
        ssize_t got = read(file, buffer + bytes, bytes_max - bytes);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        bytes += (size_t)got;
    }
    close(file);
    return ms_str_make(buffer, bytes);
}

static ms_rc refuse(ms_str name, const char *why, ms_status *st)
{
    ms_status_set(st, MS_INVALID_OPTION, ms_span_none, "the time zone \"%.*s\" is not known",
                  MS_STR_ARG(name));
    ms_status_detail(st, "%s in %.*s", why, MS_STR_ARG(database_directory()));
    return ms_status_hint(st, "Use a region such as Europe/Berlin, UTC, or an offset such as "
                              "GMT+08:00; regions need the package tzdata.");
}

static ms_rc make_region(ms_arena *arena, ms_str name, const ms_zone **zone_out, ms_status *st)
{
    if (!is_region_name(name)) {
        return refuse(name, "no such name can be", st);
    }
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    ms_str file = read_file(&scratch, database_directory(), name, FILE_BYTES_MAX);
    msi_tz_table table;
    bool found = file.bytes > 0;
    bool read = found && msi_tz_read(file, arena, &table);
    ms_arena_release(&scratch);
    if (!read) {
        return refuse(name, found ? "the file of this name is no time zone" : "no such file", st);
    }
    ms_zone *zone = ms_arena_new(arena, ms_zone);
    *zone = (ms_zone){
        .name = ms_arena_copy_str(arena, name),
        .count = table.count,
        .cyclic = table.cyclic,
        .from_s = table.from_s,
        .offset_s = table.offset_s,
    };
    *zone_out = zone;
    return MS_OK;
}

ms_rc ms_zone_make(ms_arena *arena, ms_str name, const ms_zone **zone_out, ms_status *st)
{
    *zone_out = NULL;
    int32_t offset = 0;
    if (parse_fixed(name, &offset)) {
        *zone_out = make_fixed(arena, name, offset);
        return MS_OK;
    }
    return make_region(arena, name, zone_out, st);
}

ms_str ms_zone_host_name(ms_arena *arena)
{
    const char *variable = getenv("TZ");
    if (variable != NULL && variable[0] != '\0') {
        return ms_arena_copy_str(arena, ms_str_cstr(variable + (variable[0] == ':')));
    }
    char target[PATH_MAX];
    ssize_t bytes = readlink("/etc/localtime", target, sizeof(target) - 1);
    if (bytes > 0) {
        target[bytes] = '\0';
        const char *marker = strstr(target, "zoneinfo/");
        if (marker != NULL) {
            return ms_arena_copy_str(arena, ms_str_cstr(marker + strlen("zoneinfo/")));
        }
    }
    return ms_str_lit("UTC");
}

ms_str ms_zone_database_version(ms_arena *arena)
{
    /* The compact form of the database begins with a line "# version 2024a". */
    static const char prefix[] = "# version ";
    ms_str head = read_file(arena, database_directory(), ms_str_lit("tzdata.zi"), 64);
    if (!ms_str_starts_with(head, ms_str_cstr(prefix))) {
        return ms_str_lit("");
    }
    size_t end = ms_str_find_byte(head, '\n', 0);
    return ms_str_slice(head, sizeof(prefix) - 1, end == SIZE_MAX ? sizeof(prefix) - 1 : end);
}

/* Looking up. */

ms_zone_cursor ms_zone_cursor_make(const ms_zone *zone)
{
    ms_zone_cursor cursor = {.zone = zone};
    ms_zone_cursor_seek(&cursor, 0);
    return cursor;
}

void ms_zone_cursor_seek(ms_zone_cursor *cursor, int64_t utc_s)
{
    const ms_zone *zone = cursor->zone;
    int64_t end_s = zone->from_s[zone->count - 1];
    int64_t shift_s = 0;
    if (zone->cyclic && utc_s >= end_s) {
        shift_s = ((utc_s - end_s) / CYCLE_S + 1) * CYCLE_S;
        utc_s -= shift_s;
    }
    /* The last moment that is not after the instant: from_s[low] <= utc_s < from_s[high]. */
    uint32_t low = 0;
    uint32_t high = zone->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (zone->from_s[middle] <= utc_s) {
            low = middle;
        } else {
            high = middle;
        }
    }
    cursor->offset_s = zone->offset_s[low];
    cursor->from_s = low == 0 ? INT64_MIN : ms_time_add_ms(zone->from_s[low], shift_s);
    cursor->until_s = high == zone->count ? INT64_MAX : ms_time_add_ms(zone->from_s[high], shift_s);
}

int32_t ms_zone_offset_of_local(ms_zone_cursor *cursor, int64_t local_s)
{
    /*
     * Offsets are under a day, so that the interval that holds the day before begins before the
     * local time does. From there, the first interval that has not ended yet at this local time is
     * the answer: it contains it (and is the earlier one in an overlap), or it begins after it,
     * when the local time lies in the gap before it and takes the offset before the gap.
     */
    if (local_s > LOCAL_MAX_S || local_s < -LOCAL_MAX_S) {
        local_s = local_s < 0 ? -LOCAL_MAX_S : LOCAL_MAX_S; /* the sums below stay in range */
    }
    if (local_s - DAY_S < cursor->from_s || local_s - cursor->offset_s >= cursor->until_s) {
        ms_zone_cursor_seek(cursor, local_s - DAY_S);
    }
    int32_t offset = cursor->offset_s;
    while (local_s - cursor->offset_s >= cursor->until_s) {
        ms_zone_cursor_seek(cursor, cursor->until_s);
        if (local_s - cursor->offset_s < cursor->from_s) {
            return offset;
        }
        offset = cursor->offset_s;
    }
    return offset;
}

int64_t ms_zone_local_from_utc_us(ms_zone_cursor *cursor, int64_t utc_us)
{
    int64_t offset_s = ms_zone_offset_at(cursor, ms_time_floor_div(utc_us, 1000000));
    return ms_time_add_ms(utc_us, offset_s * 1000000);
}

int64_t ms_zone_utc_from_local_us(ms_zone_cursor *cursor, int64_t local_us)
{
    int64_t offset_s = ms_zone_offset_of_local(cursor, ms_time_floor_div(local_us, 1000000));
    return ms_time_subtract_ms(local_us, offset_s * 1000000);
}

int64_t ms_zone_local_from_utc_ms(ms_zone_cursor *cursor, int64_t utc_ms)
{
    int64_t offset_s = ms_zone_offset_at(cursor, ms_time_floor_div(utc_ms, 1000));
    return ms_time_add_ms(utc_ms, offset_s * 1000);
}

int64_t ms_zone_utc_from_local_ms(ms_zone_cursor *cursor, int64_t local_ms)
{
    int64_t offset_s = ms_zone_offset_of_local(cursor, ms_time_floor_div(local_ms, 1000));
    return ms_time_subtract_ms(local_ms, offset_s * 1000);
}
