/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simdjson behind json_shim.h.
 *
 * The flat decoder parses many lines with one pass of simdjson's first stage and walks the documents
 * on demand. Lines usually have their fields in one order, so the field that came at this place in
 * the line before is tried first; a name is looked up in a table only when that fails. A line that
 * the fast walk cannot take is walked alone, which decides whether the line is bad or only the
 * pass over many lines was misled by it.
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
constexpr size_t pass_bytes_max = 1u << 20; /* one pass of the first stage: fits the second cache */
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

enum class step { ok, malformed, value, missing };

struct walk {
    msi_json_column *columns;
    const msi_json_sink *sink;
    uint32_t row;
    uint32_t bad_column;
};

} // namespace

struct msi_json_flat {
    ondemand::parser many;
    ondemand::parser single;
    std::unordered_map<std::string_view, uint32_t> by_name;
    std::vector<std::string> names;
    std::vector<expected_field> order; /* of the line before */
    std::vector<uint32_t> seen;        /* row + 1 in which the column was last set */
    std::string padded;                /* a line alone */
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

/* Objects and arrays as compact text. */
bool nested_text(msi_json_flat *flat, ondemand::value &value, std::string_view *text_out)
{
    std::string_view raw;
    if (simdjson::to_json_string(value).get(raw) != SUCCESS) {
        return false;
    }
    flat->compact.resize(raw.size());
    size_t bytes = 0;
    if (simdjson::minify(raw.data(), raw.size(), &flat->compact[0], bytes) != SUCCESS) {
        return false;
    }
    *text_out = std::string_view(flat->compact.data(), bytes);
    return true;
}

/* Hands a value of any kind over as text. */
step take_text(msi_json_flat *flat, const walk &w, uint32_t column, ondemand::value &value,
               ondemand::json_type type)
{
    std::string_view text;
    msi_json_token token = MSI_JSON_TOKEN_STRING;
    switch (type) {
    case ondemand::json_type::string:
        if (value.get_string().get(text) != SUCCESS) {
            return step::malformed;
        }
        break;
    case ondemand::json_type::number:
        token = MSI_JSON_TOKEN_NUMBER;
        text = trimmed(value.raw_json_token());
        if (ondemand::number checked; value.get_number().get(checked) != SUCCESS) {
            /* Not a number, or an integer beyond 64 bits, which DECIMAL and STRING may take. */
            if (text.find_first_not_of("0123456789-") != std::string_view::npos) {
                return step::malformed;
            }
        }
        break;
    case ondemand::json_type::boolean: {
        bool truth = false;
        if (value.get_bool().get(truth) != SUCCESS) {
            return step::malformed;
        }
        token = MSI_JSON_TOKEN_BOOL;
        text = truth ? "true" : "false";
        break;
    }
    default:
        token = MSI_JSON_TOKEN_NESTED;
        if (!nested_text(flat, value, &text)) {
            return step::malformed;
        }
        break;
    }
    if (w.columns[column].op == MSI_JSON_STRING) {
        put_string(flat, w, column, text);
        return step::ok;
    }
    bool fits = w.sink->text(w.sink->arg, column, w.row, text.data(), text.size(), token);
    return fits ? step::ok : step::value;
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
    case MSI_JSON_TEXT:
        break;
    }
    ondemand::json_type type;
    if (value.type().get(type) != SUCCESS) {
        return step::malformed;
    }
    if (type == ondemand::json_type::null) {
        if (!value.is_null()) {
            return step::malformed;
        }
        w.sink->set_null(w.sink->arg, column, w.row);
        return step::ok;
    }
    return take_text(flat, w, column, value, type);
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

/* The column of the field at a place of the line, and remembers it for the next line. */
uint32_t column_of(msi_json_flat *flat, size_t place, ondemand::field &field)
{
    std::string_view raw = raw_key(field.key());
    if (place < flat->order.size() && flat->order[place].raw_name == raw) {
        return flat->order[place].column;
    }
    uint32_t column = no_column;
    std::string_view name = raw;
    std::string_view unescaped;
    if (raw.find('\\') != std::string_view::npos &&
        field.unescaped_key().get(unescaped) == SUCCESS) {
        name = unescaped;
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
    return column;
}

/* Walks one document into the row; columns that it lacks become NULL. */
step take_object(msi_json_flat *flat, walk &w, ondemand::object &object)
{
    uint32_t mark = w.row + 1;
    uint32_t count = static_cast<uint32_t>(flat->names.size());
    uint32_t set = 0;
    size_t place = 0;
    for (auto &&item : object) {
        ondemand::field field;
        if (std::move(item).get(field) != SUCCESS) {
            return step::malformed;
        }
        uint32_t column = column_of(flat, place++, field);
        if (column == no_column) {
            continue;
        }
        ondemand::value value = field.value();
        step result = take_value(flat, w, column, value);
        if (result == step::value && flat->null_on_error) {
            w.sink->set_null(w.sink->arg, column, w.row);
        } else if (result != step::ok) {
            w.bad_column = column;
            return result;
        }
        set += flat->seen[column] != mark;
        flat->seen[column] = mark;
    }
    for (uint32_t c = 0; set < count && c < count; c++) {
        if (flat->seen[c] != mark) {
            if (flat->fail_on_missing) {
                w.bad_column = c;
                return step::missing;
            }
            w.sink->set_null(w.sink->arg, c, w.row);
        }
    }
    return step::ok;
}

const char *line_end(const char *at, const char *end)
{
    const void *feed = std::memchr(at, '\n', static_cast<size_t>(end - at));
    return feed != nullptr ? static_cast<const char *>(feed) : end;
}

/* A line without its line feed, one carriage return and nothing else cut. */
std::string_view line_text(const char *at, const char *end)
{
    size_t bytes = static_cast<size_t>(end - at);
    if (bytes > 0 && at[bytes - 1] == '\r') {
        bytes--;
    }
    return std::string_view(at, bytes);
}

/* One line alone, padded: the slow way, which is also the judge. */
step take_line(msi_json_flat *flat, walk &w, std::string_view line)
{
    flat->padded.assign(line.data(), line.size());
    flat->padded.append(SIMDJSON_PADDING, '\0');
    padded_string_view view(flat->padded.data(), line.size(), flat->padded.size());
    ondemand::document document;
    if (flat->single.iterate(view).get(document) != SUCCESS) {
        return step::malformed;
    }
    ondemand::object object;
    if (document.get_object().get(object) != SUCCESS) {
        return step::malformed;
    }
    step result = take_object(flat, w, object);
    if (result != step::ok) {
        return result;
    }
    /* Anything but blanks behind the closing brace makes the line no record. */
    const char *behind = nullptr;
    const char *end = flat->padded.data() + line.size();
    if (document.current_location().get(behind) != SUCCESS || behind >= end) {
        return step::ok;
    }
    std::string_view rest(behind, static_cast<size_t>(end - behind));
    return rest.find_first_not_of(" \t\r\n") == std::string_view::npos ? step::ok : step::malformed;
}

msi_json_error error_of(step result)
{
    return result == step::value     ? MSI_JSON_VALUE
           : result == step::missing ? MSI_JSON_MISSING
                                     : MSI_JSON_MALFORMED;
}

/*
 * Lines of [at, end) in one pass. Returns how far it came: a line boundary. Stops early, without an
 * error, where a document is not exactly one line; the caller goes on alone from there.
 */
const char *take_pass(msi_json_flat *flat, walk &w, const char *at, const char *end,
                      uint32_t row_max)
{
    size_t bytes = static_cast<size_t>(end - at);
    ondemand::document_stream stream;
    auto base = reinterpret_cast<const uint8_t *>(at);
    if (flat->many.iterate_many(base, bytes, bytes + SIMDJSON_PADDING).get(stream) != SUCCESS) {
        return at;
    }
    const char *done = at;
    for (auto it = stream.begin(); it != stream.end() && w.row < row_max; ++it) {
        const char *start = at + it.current_index();
        const char *feed = line_end(done, end);
        if (start != done || start >= feed) {
            return done; /* blanks, an empty line, or two documents on one line */
        }
        ondemand::document_reference document;
        ondemand::object object;
        auto found = *it;
        if (std::move(found).get(document) != SUCCESS ||
            document.get_object().get(object) != SUCCESS) {
            return done;
        }
        if (take_object(flat, w, object) != step::ok) {
            return done;
        }
        const char *behind = nullptr;
        if (document.current_location().get(behind) == SUCCESS) {
            if (behind > feed) {
                /* The walk is behind the closing brace when the next token is on the next line. */
                const char *back = behind;
                while (back > feed && std::strchr(" \t\r\n", back[-1]) != nullptr) {
                    back--;
                }
                if (back > feed + 1) {
                    return done;
                }
            } else if (behind < feed && line_text(behind, feed).find_first_not_of(" \t\r") !=
                                            std::string_view::npos) {
                return done;
            }
        }
        w.row++;
        done = feed < end ? feed + 1 : end;
    }
    return done;
}

/* The longest run of whole lines that one pass takes. */
const char *pass_end(const char *at, const char *end)
{
    if (static_cast<size_t>(end - at) <= pass_bytes_max) {
        return end;
    }
    const void *feed = memrchr(at, '\n', pass_bytes_max);
    return feed != nullptr ? static_cast<const char *>(feed) + 1 : line_end(at, end);
}

} // namespace

msi_json_flat *msi_json_flat_create(const msi_json_column *columns, uint32_t column_count,
                                    bool fail_on_missing, bool null_on_error)
{
    msi_json_flat *flat = new msi_json_flat();
    flat->fail_on_missing = fail_on_missing;
    flat->null_on_error = null_on_error;
    flat->heap_at = nullptr;
    flat->heap_end = nullptr;
    flat->names.reserve(column_count);
    for (uint32_t i = 0; i < column_count; i++) {
        flat->names.emplace_back(columns[i].name, columns[i].name_bytes);
        flat->by_name.emplace(flat->names.back(), i);
    }
    flat->seen.resize(column_count);
    return flat;
}

void msi_json_flat_destroy(msi_json_flat *flat)
{
    delete flat;
}

msi_json_outcome msi_json_flat_decode(msi_json_flat *flat, msi_json_column *columns,
                                      const msi_json_sink *sink, const char *input, size_t bytes,
                                      uint32_t row, uint32_t row_max)
{
    walk w = {columns, sink, row, 0};
    const char *at = input;
    const char *end = input + bytes;
    flat->heap_at = nullptr;
    flat->heap_end = nullptr;
    std::fill(flat->seen.begin(), flat->seen.end(), 0);
    msi_json_outcome outcome = {row, 0, MSI_JSON_OK, 0};
    while (at < end && w.row < row_max) {
        at = take_pass(flat, w, at, pass_end(at, end), row_max);
        if (at == end || w.row == row_max) {
            break;
        }
        const char *feed = line_end(at, end);
        std::string_view line = line_text(at, feed);
        if (!line.empty()) {
            std::fill(flat->seen.begin(), flat->seen.end(), 0);
            step result = take_line(flat, w, line);
            if (result != step::ok) {
                outcome.error = error_of(result);
                outcome.column = w.bad_column;
                break;
            }
            w.row++;
        }
        at = feed < end ? feed + 1 : end;
    }
    outcome.rows = w.row;
    outcome.consumed = static_cast<size_t>(at - input);
    return outcome;
}

/* Documents. */

struct msi_json_document {
    dom::parser parser;
    std::string text;
};

static_assert(sizeof(dom::element) <= sizeof(msi_json_node), "a node holds an element");

namespace
{

dom::element element_of(const msi_json_node *node)
{
    dom::element element;
    std::memcpy(static_cast<void *>(&element), node->words, sizeof element);
    return element;
}

msi_json_node node_of(dom::element element)
{
    msi_json_node node = {};
    std::memcpy(node.words, static_cast<const void *>(&element), sizeof element);
    return node;
}

} // namespace

msi_json_document *msi_json_document_create(void)
{
    return new msi_json_document();
}

void msi_json_document_destroy(msi_json_document *document)
{
    delete document;
}

bool msi_json_document_parse(msi_json_document *document, const char *text, size_t bytes,
                             msi_json_node *root_out)
{
    dom::element root;
    auto base = reinterpret_cast<const uint8_t *>(text);
    if (document->parser.parse(base, bytes, false).get(root) != SUCCESS) {
        return false;
    }
    *root_out = node_of(root);
    return true;
}

msi_json_kind msi_json_node_kind(const msi_json_node *node)
{
    switch (element_of(node).type()) {
    case dom::element_type::NULL_VALUE:
        return MSI_JSON_KIND_NULL;
    case dom::element_type::BOOL:
        return MSI_JSON_KIND_BOOL;
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
        return MSI_JSON_KIND_INTEGER;
    case dom::element_type::DOUBLE:
        return MSI_JSON_KIND_DOUBLE;
    case dom::element_type::STRING:
        return MSI_JSON_KIND_STRING;
    case dom::element_type::ARRAY:
        return MSI_JSON_KIND_ARRAY;
    case dom::element_type::OBJECT:
        return MSI_JSON_KIND_OBJECT;
    }
    return MSI_JSON_KIND_NULL;
}

bool msi_json_node_bool(const msi_json_node *node)
{
    bool truth = false;
    return element_of(node).get_bool().get(truth) == SUCCESS && truth;
}

bool msi_json_node_i64(const msi_json_node *node, int64_t *value_out)
{
    return element_of(node).get_int64().get(*value_out) == SUCCESS;
}

double msi_json_node_f64(const msi_json_node *node)
{
    double value = 0;
    return element_of(node).get_double().get(value) == SUCCESS ? value : 0;
}

const char *msi_json_node_string(const msi_json_node *node, size_t *bytes_out)
{
    std::string_view text;
    if (element_of(node).get_string().get(text) != SUCCESS) {
        text = std::string_view();
    }
    *bytes_out = text.size();
    return text.data();
}

const char *msi_json_node_text(msi_json_document *document, const msi_json_node *node,
                               size_t *bytes_out)
{
    document->text = simdjson::minify(element_of(node));
    *bytes_out = document->text.size();
    return document->text.data();
}

bool msi_json_node_member(const msi_json_node *node, const char *name, size_t name_bytes,
                          msi_json_node *member_out)
{
    dom::object object;
    if (element_of(node).get_object().get(object) != SUCCESS) {
        return false;
    }
    bool found = false;
    for (auto member : object) {
        if (member.key == std::string_view(name, name_bytes)) {
            *member_out = node_of(member.value);
            found = true;
        }
    }
    return found;
}

size_t msi_json_node_count(const msi_json_node *node)
{
    dom::array array;
    dom::object object;
    size_t count = 0;
    if (element_of(node).get_array().get(array) == SUCCESS) {
        for (auto item : array) {
            (void)item;
            count++;
        }
    } else if (element_of(node).get_object().get(object) == SUCCESS) {
        for (auto member : object) {
            (void)member;
            count++;
        }
    }
    return count;
}

bool msi_json_node_each(const msi_json_node *node,
                        bool (*on_item)(void *arg, const char *name, size_t name_bytes,
                                        const msi_json_node *item),
                        void *arg)
{
    dom::array array;
    dom::object object;
    if (element_of(node).get_array().get(array) == SUCCESS) {
        for (auto item : array) {
            msi_json_node child = node_of(item);
            if (!on_item(arg, nullptr, 0, &child)) {
                return false;
            }
        }
    } else if (element_of(node).get_object().get(object) == SUCCESS) {
        for (auto member : object) {
            msi_json_node child = node_of(member.value);
            if (!on_item(arg, member.key.data(), member.key.size(), &child)) {
                return false;
            }
        }
    }
    return true;
}
