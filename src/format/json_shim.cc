/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simdjson behind json_shim.h.
 *
 * The flat decoder parses many lines with one pass of simdjson's first stage and walks the
 * documents on demand. Lines usually have their fields in one order, so the field that came at this
 * place in the line before is tried first; a name is looked up in a table only when that fails. A
 * row counts only when the pass shows that its document is one line and nothing more. A line that
 * the pass cannot take is walked alone, which decides whether the line is bad or only the pass was
 * misled by it; the next pass is then no longer than what this one has brought, so that odd input
 * costs no more than its length.
 *
 * A value that is walked is checked to its last byte. What the walk skips (the values of fields
 * that are no columns) is only checked to be balanced and UTF-8.
 *
 * Exceptions are of memory alone and end at the functions that C calls.
 */
#include "format/json_shim.h"

#include <cstring>
#include <new>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

using namespace simdjson;

namespace
{

constexpr uint32_t no_column = UINT32_MAX;
/* One pass of the first stage: what it read is still in the second cache when the walk comes. */
constexpr size_t pass_bytes_max = 128u << 10;
constexpr size_t pass_bytes_min = 4u << 10; /* less is not worth a pass */
constexpr size_t heap_run_bytes = 16u << 10;

/* The layout of ms_view (type/vec.h). */
struct view {
    uint32_t bytes;
    char inline_bytes[12];
};

struct expected_field {
    std::string raw_name; /* as written between the quotes */
    uint32_t column;
};

/* A value of a document, its children behind it. */
struct tree {
    msi_json_kind kind;
    uint32_t count;        /* of children */
    uint32_t end;          /* behind the last of its descendants */
    std::string_view name; /* of a member */
    std::string_view text; /* of a string, or the token as written */
    const char *start;     /* of an array or object, in the document */
};

enum class step { ok, malformed, value, missing, too_many };

struct walk {
    msi_json_column *columns;
    const msi_json_sink *sink;
    uint32_t row;
    uint32_t set; /* columns of the row at hand */
    uint32_t bad_column;
};

} /* namespace */

struct msi_json_flat {
    ondemand::parser many;
    ondemand::parser single;
    std::unordered_map<std::string_view, uint32_t> by_name;
    std::vector<std::string> names;
    std::vector<expected_field> order; /* of the line before */
    std::vector<uint64_t> seen;        /* the attempt in which the column was last set */
    uint64_t attempt;
    size_t pass_bytes;       /* of the next pass */
    std::string padded;      /* a line alone */
    std::vector<tree> trees; /* of a nested value at hand */
    std::string compact;
    bool fail_on_missing;
    bool null_on_error;
    char *heap_at;
    char *heap_end;
};

namespace
{

void put_string(msi_json_flat *flat, const walk &w, uint32_t column, std::string_view text)
{
    view *out = static_cast<view *>(w.columns[column].data) + w.row;
    out->bytes = static_cast<uint32_t>(text.size());
    if (text.size() <= 12) {
        std::memset(out->inline_bytes, 0, 12);
        std::memcpy(out->inline_bytes, text.data(), text.size());
        return;
    }
    if (static_cast<size_t>(flat->heap_end - flat->heap_at) < text.size()) {
        size_t want = text.size() > heap_run_bytes ? text.size() : heap_run_bytes;
        size_t got = 0;
        flat->heap_at = w.sink->heap(w.sink->arg, want, &got);
        flat->heap_end = flat->heap_at + got;
    }
    char *at = flat->heap_at;
    std::memcpy(at, text.data(), text.size());
    flat->heap_at += text.size();
    std::memcpy(out->inline_bytes, text.data(), 4);
    std::memcpy(out->inline_bytes + 4, &at, sizeof at);
}

std::string_view trimmed(std::string_view token)
{
    while (!token.empty() && std::strchr(" \t\r\n", token.back()) != nullptr) {
        token.remove_suffix(1);
    }
    return token;
}

size_t skip_digits(std::string_view text, size_t at)
{
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
        at++;
    }
    return at;
}

/* The grammar of JSON, whatever the size of the number. */
bool is_number(std::string_view text)
{
    size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
    size_t digits = skip_digits(text, at);
    if (digits == at || (text[at] == '0' && digits > at + 1)) {
        return false;
    }
    at = digits;
    if (at < text.size() && text[at] == '.') {
        digits = skip_digits(text, at + 1);
        if (digits == at + 1) {
            return false;
        }
        at = digits;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        at += at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-') ? 2 : 1;
        digits = skip_digits(text, at);
        if (digits == at) {
            return false;
        }
        at = digits;
    }
    return at == text.size();
}

/* Trees. */

bool grow(std::vector<tree> &trees, ondemand::value value, std::string_view name, unsigned depth);

bool grow_array(std::vector<tree> &trees, ondemand::value &value, uint32_t *count, unsigned depth)
{
    ondemand::array array;
    if (value.get_array().get(array) != SUCCESS) {
        return false;
    }
    for (auto &&item : array) {
        ondemand::value child;
        if (std::move(item).get(child) != SUCCESS || !grow(trees, child, {}, depth)) {
            return false;
        }
        ++*count;
    }
    return true;
}

bool grow_object(std::vector<tree> &trees, ondemand::value &value, uint32_t *count, unsigned depth)
{
    ondemand::object object;
    if (value.get_object().get(object) != SUCCESS) {
        return false;
    }
    for (auto &&item : object) {
        ondemand::field field;
        std::string_view name;
        if (std::move(item).get(field) != SUCCESS || field.unescaped_key().get(name) != SUCCESS ||
            !grow(trees, field.value(), name, depth)) {
            return false;
        }
        ++*count;
    }
    return true;
}

bool grow_scalar(ondemand::value &value, ondemand::json_type type, tree *out)
{
    bool truth = false;
    out->text = trimmed(value.raw_json_token());
    switch (type) {
    case ondemand::json_type::string:
        out->kind = MSI_JSON_KIND_STRING;
        return value.get_string().get(out->text) == SUCCESS;
    case ondemand::json_type::number:
        out->kind = MSI_JSON_KIND_NUMBER;
        return is_number(out->text);
    case ondemand::json_type::boolean:
        out->kind = MSI_JSON_KIND_BOOL;
        return value.get_bool().get(truth) == SUCCESS;
    default:
        out->kind = MSI_JSON_KIND_NULL;
        return out->text == "null";
    }
}

/* After grow has failed: whether there was just too much of it. */
bool is_full(const std::vector<tree> &trees)
{
    return trees.size() == MSI_JSON_VALUES_MAX;
}

/* Appends a value with all below it; false when it is no JSON, or too much. */
bool grow(std::vector<tree> &trees, ondemand::value value, std::string_view name, unsigned depth)
{
    ondemand::json_type type;
    if (depth == MSI_JSON_DEPTH_MAX || is_full(trees) || value.type().get(type) != SUCCESS) {
        return false;
    }
    size_t at = trees.size();
    tree own = {MSI_JSON_KIND_NULL, 0, 0, name, {}, value.raw_json_token().data()};
    trees.push_back(own);
    bool ok = false;
    if (type == ondemand::json_type::array) {
        own.kind = MSI_JSON_KIND_ARRAY;
        ok = grow_array(trees, value, &own.count, depth + 1);
    } else if (type == ondemand::json_type::object) {
        own.kind = MSI_JSON_KIND_OBJECT;
        ok = grow_object(trees, value, &own.count, depth + 1);
    } else {
        ok = grow_scalar(value, type, &own);
    }
    own.end = static_cast<uint32_t>(trees.size());
    trees[at] = own;
    return ok;
}

/* The text of an array or object that was walked, without blanks outside strings. */
std::string_view compact_text(const char *start, std::string *compact)
{
    const char *at = start;
    unsigned depth = 0;
    bool in_string = false;
    do {
        if (in_string) {
            in_string = *at != '"';
            at += *at == '\\' ? 1 : 0;
        } else {
            in_string = *at == '"';
            depth += *at == '{' || *at == '[' ? 1 : 0;
            depth -= *at == '}' || *at == ']' ? 1 : 0;
        }
        at++;
    } while (depth > 0);
    size_t bytes = 0;
    size_t length = static_cast<size_t>(at - start);
    compact->resize(length);
    if (simdjson::minify(start, length, &(*compact)[0], bytes) != SUCCESS) {
        bytes = 0;
    }
    return std::string_view(compact->data(), bytes);
}

step hand_over(const walk &w, uint32_t column, std::string_view text, msi_json_token token)
{
    bool fits = w.sink->text(w.sink->arg, column, w.row, text.data(), text.size(), token);
    return fits ? step::ok : step::value;
}

/* Hands a value of any kind over as text. */
step take_text(msi_json_flat *flat, const walk &w, uint32_t column, ondemand::value &value)
{
    flat->trees.clear();
    if (!grow(flat->trees, value, {}, 0)) {
        return is_full(flat->trees) ? step::too_many : step::malformed;
    }
    const tree &root = flat->trees[0];
    std::string_view text = root.text;
    msi_json_token token = MSI_JSON_TOKEN_STRING;
    switch (root.kind) {
    case MSI_JSON_KIND_NULL:
        w.sink->set_null(w.sink->arg, column, w.row);
        return step::ok;
    case MSI_JSON_KIND_STRING:
        break;
    case MSI_JSON_KIND_NUMBER:
        token = MSI_JSON_TOKEN_NUMBER;
        break;
    case MSI_JSON_KIND_BOOL:
        token = MSI_JSON_TOKEN_BOOL;
        break;
    case MSI_JSON_KIND_ARRAY:
    case MSI_JSON_KIND_OBJECT:
        token = MSI_JSON_TOKEN_NESTED;
        text = compact_text(root.start, &flat->compact);
        break;
    }
    if (w.columns[column].op == MSI_JSON_STRING) {
        put_string(flat, w, column, text);
        return step::ok;
    }
    return hand_over(w, column, text, token);
}

step take_value(msi_json_flat *flat, const walk &w, uint32_t column, ondemand::value &value)
{
    msi_json_column &to = w.columns[column];
    switch (to.op) {
    case MSI_JSON_STRING: {
        std::string_view text;
        if (value.get_string().get(text) == SUCCESS) {
            put_string(flat, w, column, text);
            return step::ok;
        }
        break;
    }
    case MSI_JSON_I64: {
        int64_t i = 0;
        if (value.get_int64().get(i) == SUCCESS) {
            static_cast<int64_t *>(to.data)[w.row] = i;
            return step::ok;
        }
        break;
    }
    case MSI_JSON_I32: {
        int64_t i = 0;
        if (value.get_int64().get(i) == SUCCESS && i == static_cast<int32_t>(i)) {
            static_cast<int32_t *>(to.data)[w.row] = static_cast<int32_t>(i);
            return step::ok;
        }
        break;
    }
    case MSI_JSON_F64: {
        double d = 0;
        if (value.get_double().get(d) == SUCCESS) {
            static_cast<double *>(to.data)[w.row] = d;
            return step::ok;
        }
        break;
    }
    case MSI_JSON_BOOL: {
        bool truth = false;
        if (value.get_bool().get(truth) == SUCCESS) {
            static_cast<uint8_t *>(to.data)[w.row] = truth ? 1 : 0;
            return step::ok;
        }
        break;
    }
    case MSI_JSON_TEXT: {
        std::string_view text;
        if (value.get_string().get(text) == SUCCESS) {
            return hand_over(w, column, text, MSI_JSON_TOKEN_STRING);
        }
        break;
    }
    }
    return take_text(flat, w, column, value);
}

/* The text between the quotes of a field's name, as written. */
std::string_view raw_key(const ondemand::raw_json_string &key)
{
    const char *start = key.raw();
    const char *end = start;
    while (*end != '"') {
        end += *end == '\\' ? 2 : 1;
    }
    return std::string_view(start, static_cast<size_t>(end - start));
}

/* True when the name behind an opening quote is this one. Reads no further than the padding. */
bool is_named(const char *key, const std::string &raw_name)
{
    size_t bytes = raw_name.size();
    return bytes < SIMDJSON_PADDING && std::memcmp(key, raw_name.data(), bytes) == 0 &&
           key[bytes] == '"';
}

/* The column of a field that is not the one of the line before; remembers it for the next line. */
bool look_up(msi_json_flat *flat, size_t place, ondemand::field &field, uint32_t *column_out)
{
    std::string_view raw = raw_key(field.key());
    uint32_t column = no_column;
    std::string_view name = raw;
    if (raw.find('\\') != std::string_view::npos && field.unescaped_key().get(name) != SUCCESS) {
        return false;
    }
    auto found = flat->by_name.find(name);
    if (found != flat->by_name.end()) {
        column = found->second;
    }
    if (place < flat->order.size()) {
        flat->order[place] = {std::string(raw), column};
    } else if (place == flat->order.size() && place < 4096) {
        flat->order.push_back({std::string(raw), column});
    }
    *column_out = column;
    return true;
}

/* The column of the field at a place of the line; false when its name is malformed. */
bool column_of(msi_json_flat *flat, size_t place, ondemand::field &field, uint32_t *column_out)
{
    if (place < flat->order.size() && is_named(field.key().raw(), flat->order[place].raw_name)) {
        *column_out = flat->order[place].column;
        return true;
    }
    return look_up(flat, place, field, column_out);
}

/* One field into its column; of two with one name the last counts. */
step take_field(msi_json_flat *flat, walk &w, uint32_t column, ondemand::value &value)
{
    if (flat->seen[column] == flat->attempt) {
        w.sink->set_valid(w.sink->arg, column, w.row);
    } else {
        flat->seen[column] = flat->attempt;
        w.set++;
    }
    step result = take_value(flat, w, column, value);
    if (result == step::value && flat->null_on_error) {
        w.sink->set_null(w.sink->arg, column, w.row);
        return step::ok;
    }
    w.bad_column = column;
    return result;
}

/* Walks one document into the row; columns that it lacks become NULL. */
step take_fields(msi_json_flat *flat, walk &w, ondemand::object &object)
{
    size_t place = 0;
    w.set = 0;
    flat->attempt++;
    for (auto &&item : object) {
        if (item.error() != SUCCESS) {
            return step::malformed;
        }
        /* Field and value stay where they are: to copy what was just written costs a stall. */
        ondemand::field &&field = std::move(item).value_unsafe();
        uint32_t column = no_column;
        if (!column_of(flat, place++, field, &column)) {
            return step::malformed;
        }
        if (column == no_column) {
            continue;
        }
        step result = take_field(flat, w, column, field.value());
        if (result != step::ok) {
            return result;
        }
    }
    uint32_t count = static_cast<uint32_t>(flat->names.size());
    for (uint32_t c = 0; w.set < count && c < count; c++) {
        if (flat->seen[c] == flat->attempt) {
            continue;
        }
        if (flat->fail_on_missing) {
            w.bad_column = c;
            return step::missing;
        }
        w.sink->set_null(w.sink->arg, c, w.row);
    }
    return step::ok;
}

/* Makes the row as if it had never been written. */
void take_back(const walk &w, uint32_t columns)
{
    for (uint32_t c = 0; c < columns; c++) {
        w.sink->set_valid(w.sink->arg, c, w.row);
    }
}

/* The same; a document that fails leaves nothing behind, in the columns and in the heap. */
step take_object(msi_json_flat *flat, walk &w, ondemand::object &object)
{
    char *heap_at = flat->heap_at;
    char *heap_end = flat->heap_end;
    step result = take_fields(flat, w, object);
    if (result != step::ok) {
        take_back(w, static_cast<uint32_t>(flat->names.size()));
        flat->heap_at = flat->heap_end == heap_end ? heap_at : flat->heap_at;
    }
    return result;
}

const char *line_end(const char *at, const char *end)
{
    const void *feed = std::memchr(at, '\n', static_cast<size_t>(end - at));
    return feed != nullptr ? static_cast<const char *>(feed) : end;
}

/* A line without its line feed, one carriage return and a byte order mark in front. */
std::string_view line_text(const char *at, const char *end)
{
    if (end - at >= 3 && std::memcmp(at, "\xEF\xBB\xBF", 3) == 0) {
        at += 3;
    }
    size_t bytes = static_cast<size_t>(end - at);
    if (bytes > 0 && at[bytes - 1] == '\r') {
        bytes--;
    }
    return std::string_view(at, bytes);
}

/* The unit of an escape \uXXXX at a place; -1: there is none. */
int escaped_unit(std::string_view line, size_t at)
{
    int unit = 0;
    if (line.size() - at < 6 || line[at] != '\\' || line[at + 1] != 'u') {
        return -1;
    }
    for (size_t i = at + 2; i < at + 6; i++) {
        char lower = static_cast<char>(line[i] | 0x20);
        bool is_digit = line[i] >= '0' && line[i] <= '9';
        if (!is_digit && (lower < 'a' || lower > 'f')) {
            return -1;
        }
        unit = unit << 4 | (is_digit ? line[i] - '0' : lower - 'a' + 10);
    }
    return unit;
}

/* Bytes of the escape at a place of a string; half of a surrogate pair is written as '?'. */
size_t copy_escape(std::string_view line, size_t at, std::string *out)
{
    int unit = escaped_unit(line, at);
    bool is_high = unit >= 0xD800 && unit < 0xDC00;
    int low = is_high ? escaped_unit(line, at + 6) : -1;
    bool is_pair = low >= 0xDC00 && low < 0xE000;
    if (!is_pair && unit >= 0xD800 && unit < 0xE000) {
        out->push_back('?');
        return 6;
    }
    std::string_view escape = line.substr(at, is_pair ? 12 : 2);
    out->append(escape);
    return escape.size();
}

/*
 * A line whose strings hold what the parser does not take, as one that it takes: control characters
 * become escapes, halves of surrogate pairs '?'. False when there is nothing of the kind.
 */
bool repair_strings(std::string_view line, std::string *out)
{
    static const char digits[] = "0123456789abcdef";
    bool in_string = false;
    out->clear();
    for (size_t i = 0; i < line.size();) {
        unsigned char c = static_cast<unsigned char>(line[i]);
        if (in_string && c == '\\') {
            i += copy_escape(line, i, out);
            continue;
        }
        if (in_string && c < 0x20) {
            out->append("\\u00");
            out->push_back(digits[c >> 4]);
            out->push_back(digits[c & 15]);
        } else {
            out->push_back(line[i]);
            in_string = in_string != (c == '"');
        }
        i++;
    }
    return *out != line;
}

/* True when nothing but blanks follows the value that was walked. */
bool is_whole(ondemand::document &document, const char *end)
{
    const char *behind = nullptr;
    if (document.current_location().get(behind) != SUCCESS || behind >= end) {
        return true;
    }
    std::string_view rest(behind, static_cast<size_t>(end - behind));
    return rest.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

step take_padded(msi_json_flat *flat, walk &w)
{
    size_t bytes = flat->padded.size();
    flat->padded.append(SIMDJSON_PADDING, '\0');
    padded_string_view view(flat->padded.data(), bytes, flat->padded.size());
    ondemand::document document;
    ondemand::object object;
    if (flat->single.iterate(view).get(document) != SUCCESS ||
        document.get_object().get(object) != SUCCESS) {
        return step::malformed;
    }
    step result = take_object(flat, w, object);
    if (result == step::ok && !is_whole(document, flat->padded.data() + bytes)) {
        take_back(w, static_cast<uint32_t>(flat->names.size()));
        return step::malformed;
    }
    return result;
}

/* One line alone: the slow way, which is also the judge. */
step take_line(msi_json_flat *flat, walk &w, std::string_view line)
{
    flat->padded.assign(line.data(), line.size());
    step result = take_padded(flat, w);
    if (result == step::malformed && repair_strings(line, &flat->padded)) {
        result = take_padded(flat, w);
    }
    return result;
}

msi_json_error error_of(step result)
{
    return result == step::value      ? MSI_JSON_VALUE
           : result == step::missing  ? MSI_JSON_MISSING
           : result == step::too_many ? MSI_JSON_LIMIT
                                      : MSI_JSON_MALFORMED;
}

bool is_blank(const char *at, const char *end)
{
    while (at < end && std::strchr(" \t\r\n", *at) != nullptr && *at != '\0') {
        at++;
    }
    return at == end;
}

/* Behind the empty lines at a place. */
const char *skip_empty_lines(const char *at, const char *end)
{
    for (;;) {
        if (at < end && *at == '\n') {
            at++;
        } else if (end - at > 1 && at[0] == '\r' && at[1] == '\n') {
            at += 2;
        } else {
            return at;
        }
    }
}

/* True when no further row should come. */
bool is_full(const walk &w, uint32_t row_max)
{
    return w.row == row_max || (w.row > 0 && w.sink->is_full(w.sink->arg));
}

/*
 * Lines of [at, end) in one pass. Returns how far it came: a line boundary. Stops early, without an
 * error, where a document is not exactly one line; the caller goes on alone from there. A row
 * counts once the start of the next document shows that its own ended on its line.
 */
const char *take_pass(msi_json_flat *flat, walk &w, const char *at, const char *end,
                      uint32_t row_max)
{
    size_t bytes = static_cast<size_t>(end - at);
    ondemand::document_stream stream;
    auto base = reinterpret_cast<const uint8_t *>(at);
    /*
     * The parser makes its memory anew when this size changes, so it changes for long lines only.
     */
    size_t room = (bytes > pass_bytes_max ? bytes : pass_bytes_max) + SIMDJSON_PADDING;
    if (flat->many.iterate_many(base, bytes, room).get(stream) != SUCCESS) {
        return at;
    }
    const char *done = at;      /* behind the last line that counts */
    const char *feed = nullptr; /* the end of the line of the row that does not count yet */
    auto it = stream.begin();
    for (;; ++it) {
        bool is_last = !(it != stream.end());
        const char *start = is_last ? end : at + it.current_index();
        if (feed != nullptr) {
            bool is_cut = is_last && stream.truncated_bytes() != 0; /* an open document follows */
            if (is_cut || start < feed || !is_blank(feed, start)) {
                take_back(w, static_cast<uint32_t>(flat->names.size()));
                return done;
            }
            w.row++;
            done = feed < end ? feed + 1 : end;
        }
        if (is_last || is_full(w, row_max)) {
            return done;
        }
        done = skip_empty_lines(done, start);
        feed = line_end(done, end);
        ondemand::document_reference document;
        ondemand::object object;
        auto found = *it;
        if (start >= feed || !is_blank(done, start) || std::move(found).get(document) != SUCCESS ||
            document.get_object().get(object) != SUCCESS ||
            take_object(flat, w, object) != step::ok) {
            return done;
        }
    }
}

/* The longest run of whole lines that the next pass takes. */
const char *pass_end(const msi_json_flat *flat, const char *at, const char *end)
{
    if (static_cast<size_t>(end - at) <= flat->pass_bytes) {
        return end;
    }
    const void *feed = memrchr(at, '\n', flat->pass_bytes);
    return feed != nullptr ? static_cast<const char *>(feed) + 1 : line_end(at, end);
}

/* The next pass: longer when all of this one was taken, else a little more than what was taken. */
void size_pass(msi_json_flat *flat, size_t taken, bool is_all)
{
    size_t bytes = is_all ? flat->pass_bytes * 2 : taken + taken / 8 + pass_bytes_min;
    flat->pass_bytes = bytes < pass_bytes_max ? bytes : pass_bytes_max;
}

void name_columns(msi_json_flat *flat, const msi_json_column *columns, uint32_t column_count)
{
    flat->names.reserve(column_count);
    for (uint32_t i = 0; i < column_count; i++) {
        flat->names.emplace_back(columns[i].name, columns[i].name_bytes);
        flat->by_name.emplace(flat->names.back(), i);
    }
    flat->seen.resize(column_count);
}

/* Decodes lines from outcome->consumed on; what it has done is in walk and outcome. */
void take_lines(msi_json_flat *flat, walk &w, std::string_view input, uint32_t row_max,
                msi_json_outcome *outcome)
{
    const char *at = input.data();
    const char *end = at + input.size();
    while (at < end && !is_full(w, row_max)) {
        const char *until = pass_end(flat, at, end);
        const char *from = at;
        at = take_pass(flat, w, at, until, row_max);
        size_pass(flat, static_cast<size_t>(at - from), at == until);
        if (at == until || is_full(w, row_max)) {
            continue;
        }
        const char *feed = line_end(at, end);
        std::string_view line = line_text(at, feed);
        if (!line.empty()) {
            step result = take_line(flat, w, line);
            if (result != step::ok) {
                outcome->error = error_of(result);
                outcome->column = w.bad_column;
                break;
            }
            w.row++;
        }
        at = feed < end ? feed + 1 : end;
    }
    outcome->rows = w.row;
    outcome->consumed = static_cast<size_t>(at - input.data());
}

} /* namespace */

msi_json_flat *msi_json_flat_create(const msi_json_column *columns, uint32_t column_count,
                                    bool fail_on_missing, bool null_on_error)
{
    msi_json_flat *flat = nullptr;
    try {
        flat = new msi_json_flat();
        name_columns(flat, columns, column_count);
    } catch (const std::bad_alloc &) {
        delete flat;
        return nullptr;
    }
    flat->fail_on_missing = fail_on_missing;
    flat->null_on_error = null_on_error;
    flat->attempt = 0;
    flat->pass_bytes = pass_bytes_max;
    msi_json_flat_begin(flat);
    return flat;
}

void msi_json_flat_destroy(msi_json_flat *flat)
{
    delete flat;
}

void msi_json_flat_begin(msi_json_flat *flat)
{
    flat->heap_at = nullptr;
    flat->heap_end = nullptr;
}

msi_json_outcome msi_json_flat_decode(msi_json_flat *flat, msi_json_column *columns,
                                      const msi_json_sink *sink, const char *input, size_t bytes,
                                      uint32_t row, uint32_t row_max)
{
    walk w = {columns, sink, row, 0, 0};
    msi_json_outcome outcome = {row, 0, MSI_JSON_OK, 0};
    try {
        take_lines(flat, w, std::string_view(input, bytes), row_max, &outcome);
    } catch (const std::bad_alloc &) {
        walk each = w;
        for (each.row = row; each.row <= w.row; each.row++) {
            take_back(each, static_cast<uint32_t>(flat->names.size()));
        }
        outcome = {row, 0, MSI_JSON_MEMORY, 0};
    }
    return outcome;
}

/* Documents. */

struct msi_json_document {
    ondemand::parser parser;
    std::vector<tree> trees;
    std::string padded;
    std::string text;
};

namespace
{

const tree &tree_of(const msi_json_node *node)
{
    return node->document->trees[node->index];
}

bool parse_padded(msi_json_document *document)
{
    size_t bytes = document->padded.size();
    document->padded.append(SIMDJSON_PADDING, '\0');
    padded_string_view view(document->padded.data(), bytes, document->padded.size());
    ondemand::document walked;
    ondemand::value root;
    document->trees.clear();
    return document->parser.iterate(view).get(walked) == SUCCESS &&
           walked.get_value().get(root) == SUCCESS && grow(document->trees, root, {}, 0) &&
           is_whole(walked, document->padded.data() + bytes);
}

} /* namespace */

msi_json_document *msi_json_document_create(void)
{
    return new (std::nothrow) msi_json_document();
}

void msi_json_document_destroy(msi_json_document *document)
{
    delete document;
}

msi_json_error msi_json_document_parse(msi_json_document *document, const char *text, size_t bytes,
                                       msi_json_node *root_out)
{
    *root_out = {document, 0};
    try {
        document->padded.assign(text, bytes);
        document->text.reserve(bytes); /* of any array or object in it */
        if (parse_padded(document)) {
            return MSI_JSON_OK;
        }
        if (is_full(document->trees)) {
            return MSI_JSON_LIMIT;
        }
        bool is_other = repair_strings(std::string_view(text, bytes), &document->padded);
        document->text.reserve(document->padded.size());
        return is_other && parse_padded(document) ? MSI_JSON_OK
               : is_full(document->trees)         ? MSI_JSON_LIMIT
                                                  : MSI_JSON_MALFORMED;
    } catch (const std::bad_alloc &) {
        return MSI_JSON_MEMORY;
    }
}

msi_json_kind msi_json_node_kind(const msi_json_node *node)
{
    return tree_of(node).kind;
}

const char *msi_json_node_text(const msi_json_node *node, size_t *bytes_out)
{
    const tree &own = tree_of(node);
    bool is_nested = own.kind == MSI_JSON_KIND_ARRAY || own.kind == MSI_JSON_KIND_OBJECT;
    std::string_view text = is_nested ? compact_text(own.start, &node->document->text) : own.text;
    *bytes_out = text.size();
    return text.data();
}

bool msi_json_node_member(const msi_json_node *node, const char *name, size_t name_bytes,
                          msi_json_node *member_out)
{
    const tree &own = tree_of(node);
    std::string_view wanted(name, name_bytes);
    bool found = false;
    uint32_t at = node->index + 1;
    for (uint32_t i = 0; i < own.count; i++) {
        const tree &child = node->document->trees[at];
        if (child.name == wanted) {
            *member_out = {node->document, at};
            found = true;
        }
        at = child.end;
    }
    return found;
}

size_t msi_json_node_count(const msi_json_node *node)
{
    return tree_of(node).count;
}

bool msi_json_node_each(const msi_json_node *node,
                        bool (*on_item)(void *arg, const char *name, size_t name_bytes,
                                        const msi_json_node *item),
                        void *arg)
{
    const tree &own = tree_of(node);
    uint32_t at = node->index + 1;
    for (uint32_t i = 0; i < own.count; i++) {
        const tree &child = node->document->trees[at];
        msi_json_node item = {node->document, at};
        if (!on_item(arg, child.name.data(), child.name.size(), &item)) {
            return false;
        }
        at = child.end;
    }
    return true;
}
