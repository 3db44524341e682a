/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one C++ file of this folder: RE2 has no C interface. Each function catches what the standard
 * library may throw; RE2 itself throws nothing.
 */
/* tidy: no-unit-test: exercised through regex_test.c */
#include "bigtable/model/regex_shim.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <re2/re2.h>

struct msi_re2 {
    RE2 expression;
};

static RE2::Options options_make(int64_t memory_max)
{
    RE2::Options options;
    options.set_encoding(RE2::Options::EncodingLatin1);
    options.set_max_mem(memory_max);
    options.set_never_capture(true);
    options.set_log_errors(false);
    return options;
}

msi_re2 *msi_re2_create(const char *pattern, size_t bytes, int64_t memory_max, char *text,
                        size_t text_bytes)
{
    try {
        std::unique_ptr<msi_re2> re2(
            new msi_re2{{re2::StringPiece(pattern, bytes), options_make(memory_max)}});
        if (re2->expression.ok()) {
            return re2.release();
        }
        std::snprintf(text, text_bytes, "%s", re2->expression.error().c_str());
    } catch (...) {
        std::snprintf(text, text_bytes, "out of memory");
    }
    return nullptr;
}

void msi_re2_destroy(msi_re2 *re2)
{
    delete re2;
}

int msi_re2_size(const msi_re2 *re2)
{
    return re2->expression.ProgramSize();
}

int msi_re2_match(const msi_re2 *re2, const char *text, size_t bytes)
{
    try {
        re2::StringPiece whole(text, bytes);
        return re2->expression.Match(whole, 0, bytes, RE2::ANCHOR_BOTH, nullptr, 0) ? 1 : 0;
    } catch (...) {
        return -1;
    }
}

static size_t copy_out(const std::string &text, char *out)
{
    std::memcpy(out, text.data(), text.size());
    return text.size();
}

bool msi_re2_bounds(const msi_re2 *re2, size_t bounds_max, char *min_out, size_t *min_bytes_out,
                    char *max_out, size_t *max_bytes_out)
{
    try {
        std::string min;
        std::string max;
        if (!re2->expression.PossibleMatchRange(&min, &max, static_cast<int>(bounds_max)) ||
            min.size() > bounds_max || max.size() > bounds_max) {
            return false;
        }
        *min_bytes_out = copy_out(min, min_out);
        *max_bytes_out = copy_out(max, max_out);
        return true;
    } catch (...) {
        return false;
    }
}
