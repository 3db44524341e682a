/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest of a checkpoint as bytes: everything that is needed to go on, but the state files,
 * which it names. A checkpoint is complete when its manifest has its name in the directory.
 *
 *     magic "MSCK", u16 version
 *     u64 id, job name, plan text, SQL, varint rows read
 *     varint n, n operators      u64 node, varint subtask, u8 flags, [snapshot],
 *                                varint m, m files: name, u64 bytes, u32 CRC-32C
 *     varint n, n enumerators    u64 node, bytes
 *     varint n, n committables   u64 node, bytes
 *     u32 CRC-32C of all before
 *
 * Texts have their length in front as a varint. A later version adds fields at the end of a list's
 * element only under a new version number; a reader refuses versions it does not know.
 */
#include "runtime/runtime_priv.h"

#include "base/codec.h"

#define MANIFEST_VERSION 1u
#define FLAG_FINISHED 1u
#define FLAG_SNAPSHOT 2u

static const char manifest_magic[4] = {'M', 'S', 'C', 'K'};

/* ---- Writing ---- */

static ms_rc put_op(ms_buf *out, const msi_manifest_op *op, ms_status *st)
{
    uint32_t flags = (op->is_finished ? FLAG_FINISHED : 0) | (op->has_snapshot ? FLAG_SNAPSHOT : 0);
    MS_TRY(ms_codec_put_u64(out, op->node_id, st));
    MS_TRY(ms_codec_put_varint(out, op->subtask, st));
    MS_TRY(ms_codec_put_u8(out, (uint8_t)flags, st));
    if (op->has_snapshot) {
        MS_TRY(ms_codec_put_str(out, op->snapshot, st));
    }
    MS_TRY(ms_codec_put_varint(out, op->file_count, st));
    for (uint32_t i = 0; i < op->file_count; i++) {
        MS_TRY(ms_codec_put_str(out, op->files[i].name, st));
        MS_TRY(ms_codec_put_u64(out, op->files[i].bytes, st));
        MS_TRY(ms_codec_put_u32(out, op->files[i].crc, st));
    }
    return MS_OK;
}

static ms_rc put_blobs(ms_buf *out, const msi_manifest_blob *blobs, uint32_t count, ms_status *st)
{
    MS_TRY(ms_codec_put_varint(out, count, st));
    for (uint32_t i = 0; i < count; i++) {
        MS_TRY(ms_codec_put_u64(out, blobs[i].node_id, st));
        MS_TRY(ms_codec_put_str(out, blobs[i].bytes, st));
    }
    return MS_OK;
}

ms_rc msi_manifest_encode(const msi_manifest *manifest, ms_buf *out, ms_status *st)
{
    MS_TRY(ms_buf_append(out, (ms_str){manifest_magic, sizeof(manifest_magic)}, st));
    MS_TRY(ms_codec_put_u16(out, MANIFEST_VERSION, st));
    MS_TRY(ms_codec_put_u64(out, manifest->id, st));
    MS_TRY(ms_codec_put_str(out, manifest->job_name, st));
    MS_TRY(ms_codec_put_str(out, manifest->plan_text, st));
    MS_TRY(ms_codec_put_str(out, manifest->sql, st));
    MS_TRY(ms_codec_put_varint(out, manifest->rows_read, st));
    MS_TRY(ms_codec_put_varint(out, manifest->op_count, st));
    for (uint32_t i = 0; i < manifest->op_count; i++) {
        MS_TRY(put_op(out, &manifest->ops[i], st));
    }
    MS_TRY(put_blobs(out, manifest->enumerators, manifest->enumerator_count, st));
    MS_TRY(put_blobs(out, manifest->committables, manifest->committable_count, st));
    return ms_codec_put_u32(out, ms_crc32c(0, ms_buf_view(out)), st);
}

/* ---- Reading ---- */

/* The fewest bytes of an element: what its fields take when they are empty. */
#define OP_BYTES_MIN 11u
#define FILE_BYTES_MIN 13u
#define BLOB_BYTES_MIN 9u

static void get_op(ms_codec_reader *reader, ms_arena *arena, msi_manifest_op *op)
{
    op->node_id = ms_codec_reader_u64(reader);
    op->subtask = (uint32_t)ms_codec_reader_varint(reader);
    uint8_t flags = ms_codec_reader_u8(reader);
    op->is_finished = (flags & FLAG_FINISHED) != 0;
    op->has_snapshot = (flags & FLAG_SNAPSHOT) != 0;
    if (op->has_snapshot) {
        op->snapshot = ms_codec_reader_str(reader);
    }
    op->file_count = (uint32_t)ms_codec_reader_count(reader, FILE_BYTES_MIN);
    msi_state_file *files = ms_arena_array(arena, msi_state_file, op->file_count);
    for (uint32_t i = 0; i < op->file_count; i++) {
        files[i].name = ms_codec_reader_str(reader);
        files[i].bytes = ms_codec_reader_u64(reader);
        files[i].crc = ms_codec_reader_u32(reader);
    }
    op->files = files;
}

static const msi_manifest_blob *get_blobs(ms_codec_reader *reader, ms_arena *arena,
                                          uint32_t *count_out)
{
    *count_out = (uint32_t)ms_codec_reader_count(reader, BLOB_BYTES_MIN);
    msi_manifest_blob *blobs = ms_arena_array(arena, msi_manifest_blob, *count_out);
    for (uint32_t i = 0; i < *count_out; i++) {
        blobs[i].node_id = ms_codec_reader_u64(reader);
        blobs[i].bytes = ms_codec_reader_str(reader);
    }
    return blobs;
}

/* The bytes without their CRC, which was checked. */
static ms_rc check_frame(ms_str bytes, ms_str *body_out, ms_status *st)
{
    size_t body = bytes.bytes < 4 ? 0 : bytes.bytes - 4;
    *body_out = (ms_str){bytes.ptr, body};
    if (body < sizeof(manifest_magic) + 2 ||
        memcmp(bytes.ptr, manifest_magic, sizeof(manifest_magic)) != 0) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none, "a file is not a manifest");
    }
    if (ms_codec_load_u32(bytes.ptr + body) != ms_crc32c(0, *body_out)) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none, "a manifest fails its check");
    }
    uint16_t version = ms_codec_load_u16(bytes.ptr + sizeof(manifest_magic));
    if (version != MANIFEST_VERSION) {
        return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                             "a manifest has version %u; this program reads version %u", version,
                             MANIFEST_VERSION);
    }
    return MS_OK;
}

ms_rc msi_manifest_decode(ms_str bytes, ms_arena *arena, msi_manifest *manifest_out, ms_status *st)
{
    *manifest_out = (msi_manifest){0};
    ms_str body;
    MS_TRY(check_frame(bytes, &body, st));
    ms_codec_reader reader =
        ms_codec_reader_make(ms_str_slice(body, sizeof(manifest_magic) + 2, body.bytes));
    msi_manifest manifest = {.id = ms_codec_reader_u64(&reader)};
    manifest.job_name = ms_codec_reader_str(&reader);
    manifest.plan_text = ms_codec_reader_str(&reader);
    manifest.sql = ms_codec_reader_str(&reader);
    manifest.rows_read = ms_codec_reader_varint(&reader);
    manifest.op_count = (uint32_t)ms_codec_reader_count(&reader, OP_BYTES_MIN);
    msi_manifest_op *ops = ms_arena_array(arena, msi_manifest_op, manifest.op_count);
    for (uint32_t i = 0; i < manifest.op_count; i++) {
        get_op(&reader, arena, &ops[i]);
    }
    manifest.ops = ops;
    manifest.enumerators = get_blobs(&reader, arena, &manifest.enumerator_count);
    manifest.committables = get_blobs(&reader, arena, &manifest.committable_count);
    MS_TRY(ms_codec_reader_finish(&reader, "a manifest", st));
    *manifest_out = manifest;
    return MS_OK;
}
