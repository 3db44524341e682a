/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one C++ file of this folder: a logger and a listener, which the C interface cannot make, and
 * the guard around opening, which C cannot write. The logger drops what is below a warning, formats
 * the rest into a bounded line and hands it to C. The listener keeps RocksDB from resuming by
 * itself after a full disk: a store that has failed stays so until it is opened again, and the
 * thread that would wait for room must not outlive it.
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
