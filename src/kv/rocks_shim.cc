/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one C++ file of this folder: a logger, a listener and a memtable, which the C interface
 * cannot make, and the guard around opening, which C cannot write. The logger drops what is below a
 * warning, formats the rest into a bounded line and hands it to C. The listener keeps RocksDB from
 * resuming by itself after a full disk: a store that has failed stays so until it is opened again,
 * and the thread that would wait for room must not outlive it.
 *
 * RocksDB reports neither memory nor a thread that it was refused: it throws, on threads of its own
 * too, and its locks and counts are not made for being unwound. So an exception is caught where
 * nothing is open yet, and ends the process everywhere else, as malloc's refusal does. What was
 * acknowledged is in the log.
 */
/* tidy: no-unit-test: exercised through kv_test.c */
#include "kv/rocks_shim.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/options.h>

/* What RocksDB's C interface has in its source and not in its header. */
struct rocksdb_logger_t {
    std::shared_ptr<rocksdb::Logger> rep;
};
struct rocksdb_options_t {
    rocksdb::Options rep;
};

/* A longer line is cut: base/log cuts it too. */
static constexpr size_t LINE_BYTES = 1024;

class RocksForwarder final : public rocksdb::Logger
{
  public:
    RocksForwarder() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL)
    {
    }

    using rocksdb::Logger::Logv;

    void LogHeader(const char *, va_list) override
    {
    }

    /* Lines without a level are informational. */
    void Logv(const char *, va_list) override
    {
    }

    __attribute__((format(printf, 3, 0))) void Logv(const rocksdb::InfoLogLevel level,
                                                    const char *format, va_list args) override
    {
        if (level < rocksdb::InfoLogLevel::WARN_LEVEL ||
            level > rocksdb::InfoLogLevel::FATAL_LEVEL) {
            return;
        }
        char line[LINE_BYTES];
        if (std::vsnprintf(line, sizeof(line), format, args) < 0) {
            return;
        }
        size_t bytes = std::strlen(line);
        if (bytes > 0 && line[bytes - 1] == '\n') {
            line[bytes - 1] = '\0';
        }
        msi_rocks_log_line(level >= rocksdb::InfoLogLevel::ERROR_LEVEL, line);
    }

    /* Nothing to close, and no NotSupported, which the base class answers. */
    rocksdb::Status CloseImpl() override
    {
        return rocksdb::Status::OK();
    }
};

extern "C" void msi_rocks_log_set(rocksdb_options_t *options)
{
    rocksdb_logger_t logger{std::make_shared<RocksForwarder>()};
    rocksdb_options_set_info_log(options, &logger);
}

class NoRecovery final : public rocksdb::EventListener
{
  public:
    void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                              bool *auto_recovery) override
    {
        *auto_recovery = false;
    }
};

extern "C" void msi_rocks_stay_failed(rocksdb_options_t *options)
{
    options->rep.listeners.push_back(std::make_shared<NoRecovery>());
    options->rep.max_bgerror_resume_count = 0;
}

/*
 * The order of a memtable's keys, as RocksDB's own comparator has it: user keys as bytes, then the
 * newest first. That one counts each comparison in memory of the thread, which costs several times
 * the comparison, and a look into a memtable or a write is some ten to twenty of them. A key is
 *
 *     varint bytes of user key and tag, user key, u64 tag: sequence << 8 | kind, little-endian
 *
 * which RocksDB promises to keep. Debug builds hold every answer against RocksDB's.
 */
class KeyOrder final : public rocksdb::MemTableRep::KeyComparator
{
  public:
    explicit KeyOrder(const KeyComparator &theirs) : theirs_(theirs)
    {
    }

    rocksdb::Slice decode_key(const char *key) const override
    {
        return view(key);
    }

    int operator()(const char *a, const char *b) const override
    {
        const int order = compare(view(a), view(b));
        check(order, a, b);
        return order;
    }

    int operator()(const char *a, const rocksdb::Slice &b) const override
    {
        const int order = compare(view(a), b);
        check(order, a, b);
        return order;
    }

  private:
    static constexpr size_t TAG_BYTES = 8;
    static constexpr unsigned KIND_BITS = 8;

    static rocksdb::Slice view(const char *key)
    {
        size_t bytes = 0;
        unsigned shift = 0;
        unsigned char part;
        do {
            part = static_cast<unsigned char>(*key++);
            bytes |= static_cast<size_t>(part & 0x7F) << shift;
            shift += 7;
        } while (part >= 0x80);
        return rocksdb::Slice(key, bytes);
    }

    static uint64_t sequence(const rocksdb::Slice &key)
    {
        uint64_t tag;
        std::memcpy(&tag, key.data() + key.size() - TAG_BYTES, sizeof(tag));
        return tag >> KIND_BITS;
    }

    static int compare(const rocksdb::Slice &a, const rocksdb::Slice &b)
    {
        const size_t a_bytes = a.size() - TAG_BYTES;
        const size_t b_bytes = b.size() - TAG_BYTES;
        const int order = std::memcmp(a.data(), b.data(), a_bytes < b_bytes ? a_bytes : b_bytes);
        if (order != 0 || a_bytes != b_bytes) {
            return order != 0 ? order : (a_bytes < b_bytes ? -1 : 1);
        }
        const uint64_t a_sequence = sequence(a);
        const uint64_t b_sequence = sequence(b);
        return a_sequence > b_sequence ? -1 : a_sequence < b_sequence;
    }

    template <typename Key> void check(int order, const char *a, const Key &b) const
    {
#ifdef MS_DEBUG
        const int theirs = theirs_(a, b);
        if ((order < 0) != (theirs < 0) || (order > 0) != (theirs > 0)) {
            std::fprintf(stderr, "the order of a memtable is not RocksDB's\n");
            std::abort();
        }
#else
        static_cast<void>(order), static_cast<void>(a), static_cast<void>(b);
#endif
    }

    const KeyComparator &theirs_;
};

/*
 * RocksDB's skip list, which looks for the place of a key near the one before where keys ascend.
 * Without a hint it does so only for keys behind which nothing is: a row that is written again has
 * its old cells there, and each is then looked for from the top, by some twenty cache misses. Its
 * own hints, by the prefix of keys, are kept for rows and for range deletions together, which are
 * two lists. Here each list of rows has its own.
 *
 * A key that does not ascend moves the hint at a higher cost than a search, so it is used only
 * after some that do.
 */
class NearList final : public rocksdb::MemTableRep
{
  public:
    NearList(std::unique_ptr<KeyOrder> order, rocksdb::MemTableRep *list,
             rocksdb::Allocator *allocator)
        : MemTableRep(allocator), order_(std::move(order)), list_(list)
    {
    }

    rocksdb::KeyHandle Allocate(const size_t bytes, char **buffer) override
    {
        rocksdb::KeyHandle handle = list_->Allocate(bytes, buffer);
        allocated_ = *buffer;
        return handle;
    }

    void Insert(rocksdb::KeyHandle handle) override
    {
        static_cast<void>(InsertKey(handle));
    }

    /* RocksDB fills what was allocated last, and inserts it. */
    bool InsertKey(rocksdb::KeyHandle handle) override
    {
        const bool ascends = inserted_ != nullptr && (*order_)(inserted_, allocated_) < 0;
        run_ = ascends ? run_ + 1 : 0;
        inserted_ = allocated_;
        return run_ < NEAR_AFTER ? list_->InsertKey(handle)
                                 : list_->InsertKeyWithHint(handle, &hint_);
    }

    bool Contains(const char *key) const override
    {
        return list_->Contains(key);
    }

    void MarkReadOnly() override
    {
        list_->MarkReadOnly();
    }

    void MarkFlushed() override
    {
        list_->MarkFlushed();
    }

    void Get(const rocksdb::LookupKey &key, void *arg,
             bool (*callback)(void *arg, const char *entry)) override
    {
        list_->Get(key, arg, callback);
    }

    uint64_t ApproximateNumEntries(const rocksdb::Slice &start, const rocksdb::Slice &end) override
    {
        return list_->ApproximateNumEntries(start, end);
    }

    void UniqueRandomSample(const uint64_t entries, const uint64_t samples,
                            std::unordered_set<const char *> *sample_out) override
    {
        list_->UniqueRandomSample(entries, samples, sample_out);
    }

    size_t ApproximateMemoryUsage() override
    {
        return list_->ApproximateMemoryUsage();
    }

    Iterator *GetIterator(rocksdb::Arena *arena) override
    {
        return list_->GetIterator(arena);
    }

    Iterator *GetDynamicPrefixIterator(rocksdb::Arena *arena) override
    {
        return list_->GetDynamicPrefixIterator(arena);
    }

  private:
    static constexpr unsigned NEAR_AFTER = 3;

    std::unique_ptr<KeyOrder> order_; /* the list's, which goes first */
    std::unique_ptr<rocksdb::MemTableRep> list_;
    const char *allocated_ = nullptr;
    const char *inserted_ = nullptr;
    void *hint_ = nullptr; /* in the memtable's arena */
    unsigned run_ = 0;     /* of keys that ascend */
};

/* Has the name of its base, under which RocksDB notes it in its file of options. */
class NearListFactory final : public rocksdb::SkipListFactory
{
  public:
    rocksdb::MemTableRep *CreateMemTableRep(const rocksdb::MemTableRep::KeyComparator &compare,
                                            rocksdb::Allocator *allocator,
                                            const rocksdb::SliceTransform *prefix,
                                            rocksdb::Logger *logger) override
    {
        auto order = std::make_unique<KeyOrder>(compare);
        rocksdb::MemTableRep *list =
            SkipListFactory::CreateMemTableRep(*order, allocator, prefix, logger);
        return new NearList(std::move(order), list, allocator);
    }

    rocksdb::MemTableRep *CreateMemTableRep(const rocksdb::MemTableRep::KeyComparator &compare,
                                            rocksdb::Allocator *allocator,
                                            const rocksdb::SliceTransform *prefix,
                                            rocksdb::Logger *logger, uint32_t) override
    {
        return CreateMemTableRep(compare, allocator, prefix, logger);
    }

    bool IsInsertConcurrentlySupported() const override
    {
        return false;
    }
};

extern "C" void msi_rocks_write_near(rocksdb_options_t *options)
{
    options->rep.memtable_factory = std::make_shared<NearListFactory>();
    options->rep.allow_concurrent_memtable_write = false;
}

static std::terminate_handler handler_before;

/* Inside a terminate handler the exception that nobody caught is the current one. */
[[noreturn]] static void terminated()
{
    try {
        if (std::current_exception()) {
            throw;
        }
    } catch (const std::bad_alloc &) {
        msi_rocks_no_memory();
    } catch (const std::system_error &error) {
        std::fprintf(stderr, "millstream: the system refuses a thread: %s\n", error.what());
        std::_Exit(EXIT_FAILURE);
    } catch (...) {
        /* A bug, which the handler before reports. */
    }
    handler_before();
    std::abort();
}

extern "C" void msi_rocks_exit_when_refused(void)
{
    static const bool once = (handler_before = std::set_terminate(terminated), true);
    static_cast<void>(once);
}

extern "C" bool msi_rocks_open(const rocksdb_options_t *options, const char *path,
                               rocksdb_t **db_out, char **error, char *text, size_t text_bytes)
{
    *db_out = nullptr;
    try {
        *db_out = rocksdb_open(options, path, error);
        return true;
    } catch (const std::exception &thrown) {
        std::snprintf(text, text_bytes, "%s", thrown.what());
        return false;
    }
}
