/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop over simdjson's stream of documents, with the fields in the order in which they stand,
 * into plain arrays of 2048 rows and a heap of bytes that are used again.
 */
#include "json_loop.h"

#include <cstring>
#include <simdjson.h>
#include <string_view>
#include <vector>

namespace ondemand = simdjson::ondemand;

constexpr size_t rows_max = 2048;
constexpr size_t numbers = 4;
constexpr size_t texts = 4;

struct json_loop {
    ondemand::parser parser;
    int64_t number[numbers][rows_max];
    std::string_view text[texts][rows_max];
    std::vector<char> heap;
    size_t used = 0;
    size_t row = 0;
};

enum { AUCTION, BIDDER, PRICE, TS };
enum { CHANNEL, URL, EXTRA, TS_TEXT };

static bool copy_text(json_loop *loop, size_t column, ondemand::object &object, const char *name)
{
    std::string_view text;
    if (object.find_field(name).get_string().get(text) != simdjson::SUCCESS) {
        return false;
    }
    if (loop->heap.size() - loop->used < text.size()) {
        loop->used = 0;
    }
    char *to = loop->heap.data() + loop->used;
    std::memcpy(to, text.data(), text.size());
    loop->used += text.size();
    loop->text[column][loop->row] = std::string_view(to, text.size());
    return true;
}

static bool take_number(json_loop *loop, size_t column, ondemand::object &object, const char *name)
{
    return object.find_field(name).get_int64().get(loop->number[column][loop->row]) ==
           simdjson::SUCCESS;
}

static bool take_row(json_loop *loop, ondemand::object &object, bool ts_is_text)
{
    return take_number(loop, AUCTION, object, "auction") &&
           take_number(loop, BIDDER, object, "bidder") &&
           take_number(loop, PRICE, object, "price") &&
           copy_text(loop, CHANNEL, object, "channel") && copy_text(loop, URL, object, "url") &&
           (ts_is_text ? copy_text(loop, TS_TEXT, object, "ts")
                       : take_number(loop, TS, object, "ts")) &&
           copy_text(loop, EXTRA, object, "extra");
}

static void add_row(const json_loop *loop, bool ts_is_text, digest *sum)
{
    size_t row = loop->row;
    digest_add(sum, 0, static_cast<uint64_t>(loop->number[AUCTION][row]));
    digest_add(sum, 1, static_cast<uint64_t>(loop->number[BIDDER][row]));
    digest_add(sum, 2, static_cast<uint64_t>(loop->number[PRICE][row]));
    if (!ts_is_text) {
        digest_add(sum, 3, static_cast<uint64_t>(loop->number[TS][row]));
    }
    for (uint32_t i = CHANNEL; i <= EXTRA; i++) {
        std::string_view text = loop->text[i][row];
        digest_add(sum, 4 + i, digest_bytes(text.data(), text.size()));
    }
    sum->rows++;
}

json_loop *json_loop_create(void)
{
    json_loop *loop = new json_loop();
    loop->heap.resize(512u << 10);
    return loop;
}

void json_loop_destroy(json_loop *loop)
{
    delete loop;
}

bool json_loop_run(json_loop *loop, const char *text, size_t bytes, bool ts_is_text, digest *sum)
{
    ondemand::document_stream stream;
    auto base = reinterpret_cast<const uint8_t *>(text);
    if (loop->parser.iterate_many(base, bytes).get(stream) != simdjson::SUCCESS) {
        return false;
    }
    for (auto document : stream) {
        ondemand::object object;
        if (document.get_object().get(object) != simdjson::SUCCESS ||
            !take_row(loop, object, ts_is_text)) {
            return false;
        }
        if (sum != nullptr) {
            add_row(loop, ts_is_text, sum);
        }
        loop->row = (loop->row + 1) % rows_max;
    }
    return stream.truncated_bytes() == 0;
}
