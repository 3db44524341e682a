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

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <system_error>

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
    NearList(rocksdb::MemTableRep *list, const KeyComparator &compare,
             rocksdb::Allocator *allocator)
        : MemTableRep(allocator), list_(list), compare_(compare)
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
        const bool ascends = inserted_ != nullptr && compare_(inserted_, allocated_) < 0;
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

    std::unique_ptr<rocksdb::MemTableRep> list_;
    const KeyComparator &compare_;
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
        rocksdb::MemTableRep *list =
            SkipListFactory::CreateMemTableRep(compare, allocator, prefix, logger);
        return new NearList(list, compare, allocator);
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
