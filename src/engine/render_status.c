/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors, warnings and notes as text with carets, or as one JSON object on a line.
 */
#include "engine/engine_priv.h"
#include "engine/render.h"
#include "format/json_text.h"

#define RENDER_BYTES                                                                               \
    (16u << 10) /* message, detail, hint and a window of the source line, escaped */

static const ms_source *source_of(const ms_status *st, const ms_script *script)
{
    bool has_place = script != NULL && (st->span.start != 0 || st->span.end != 0);
    return has_place ? msi_script_source(script) : NULL;
}

static const char *severity(const ms_status *st)
{
    return st->code == MS_OK ? "note" : ms_rc_is_warning(st->code) ? "warning" : "error";
}

static ms_rc text_form(const ms_status *st, const ms_script *script, ms_buf *out, ms_status *inner)
{
    if (st->code != MS_OK) {
        MS_TRY(ms_buf_format(out, inner, "%s[%s]: ", severity(st), ms_rc_name(st->code)));
    }
    MS_TRY(ms_buf_format(out, inner, "%s\n", st->message));
    const ms_source *source = source_of(st, script);
    if (source != NULL) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        ms_rc rc = ms_buf_append(out, ms_source_render(source, st->span, &arena), inner);
        ms_arena_release(&arena);
        MS_TRY(rc);
    }
    if (st->detail[0] != '\0') {
        MS_TRY(ms_buf_format(out, inner, "detail: %s\n", st->detail));
    }
    if (st->hint[0] != '\0') {
        MS_TRY(ms_buf_format(out, inner, "hint: %s\n", st->hint));
    }
    return MS_OK;
}

static ms_rc member(ms_buf *out, const char *name, const char *value, ms_status *inner)
{
    MS_TRY(ms_buf_format(out, inner, "\"%s\":", name));
    if (value[0] == '\0') {
        return ms_buf_append(out, ms_str_lit("null"), inner);
    }
    return ms_json_append_string(out, ms_str_cstr(value), inner);
}

static ms_rc json_place(const ms_status *st, const ms_script *script, uint32_t statement,
                        ms_buf *out, ms_status *inner)
{
    const ms_source *source = source_of(st, script);
    if (source == NULL) {
        MS_TRY(
            ms_buf_append(out, ms_str_lit(",\"file\":null,\"line\":null,\"column\":null"), inner));
    } else {
        ms_source_place place = ms_source_locate(source, st->span.start);
        MS_TRY(ms_buf_append(out, ms_str_lit(",\"file\":"), inner));
        MS_TRY(ms_json_append_string(out, source->name, inner));
        MS_TRY(ms_buf_format(out, inner, ",\"line\":%u,\"column\":%u", place.line, place.column));
    }
    return ms_buf_format(out, inner, ",\"statement\":%u}}\n", statement + 1);
}

static ms_rc json_form(const ms_status *st, const ms_script *script, uint32_t statement,
                       ms_buf *out, ms_status *inner)
{
    MS_TRY(ms_buf_format(out, inner, "{\"%s\":{", severity(st)));
    MS_TRY(member(out, "code", ms_rc_name(st->code), inner));
    MS_TRY(ms_buf_append_byte(out, ',', inner));
    MS_TRY(member(out, "sqlstate", ms_rc_sqlstate(st->code), inner));
    MS_TRY(ms_buf_append_byte(out, ',', inner));
    MS_TRY(member(out, "message", st->message, inner));
    MS_TRY(ms_buf_append_byte(out, ',', inner));
    MS_TRY(member(out, "detail", st->detail, inner));
    MS_TRY(ms_buf_append_byte(out, ',', inner));
    MS_TRY(member(out, "hint", st->hint, inner));
    return json_place(st, script, statement, out, inner);
}

size_t ms_status_render(const ms_status *st, const ms_script *script, uint32_t statement,
                        ms_error_format format, char *out, size_t size)
{
    if (size == 0) {
        return 0;
    }
    ms_status inner = {0};
    ms_buf buf;
    ms_buf_init(&buf, RENDER_BYTES);
    ms_rc rc = format == MS_ERROR_JSON ? json_form(st, script, statement, &buf, &inner)
                                       : text_form(st, script, &buf, &inner);
    (void)rc; /* a text beyond the limit is shown as far as it goes */
    size_t bytes = buf.bytes < size - 1 ? buf.bytes : size - 1;
    if (bytes > 0) {
        memcpy(out, buf.ptr, bytes);
    }
    out[bytes] = '\0';
    ms_buf_release(&buf);
    return bytes;
}
