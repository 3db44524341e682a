/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shim that lets a process run out of memory, or of threads, at a moment of the test's choice:
 *
 *     LD_PRELOAD=libscarce.so MS_SCARCE=memory:N program ...     C++ gets no memory from its N-th
 *                                                                request on (operator new)
 *     LD_PRELOAD=libscarce.so MS_SCARCE=threads:N program ...    no thread starts from the N-th on
 *
 * N = 0 refuses nothing. With MS_SCARCE_COUNT=FILE the number of requests is written into FILE when
 * the process ends by exit(), so that a test knows which N there are. Requests are counted over all
 * threads: which of them meets the N-th is the scheduler's choice, and that it does not matter is
 * what the test shows.
 *
 * C++ is what is interesting: RocksDB reports neither by a status, it throws, and on threads of its
 * own. Memory of ours goes through malloc, which is not touched.
 */
/* tidy: no-unit-test: tests/crash/scarce.py finds that it counts and that it refuses */
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <pthread.h>

#define EXPORT __attribute__((visibility("default")))

struct scarcity {
    bool is_memory;
    unsigned long refused_from; /* 0: never */
};

static scarcity read_setting()
{
    const char *text = std::getenv("MS_SCARCE");
    const char *number = text != nullptr ? std::strchr(text, ':') : nullptr;
    if (number == nullptr) {
        return {false, 0};
    }
    return {std::strncmp(text, "memory:", 7) == 0, std::strtoul(number + 1, nullptr, 10)};
}

static std::atomic<unsigned long> memory_requests;
static std::atomic<unsigned long> thread_requests;

static bool is_refused(std::atomic<unsigned long> *requests, bool is_memory)
{
    static const scarcity setting = read_setting();
    unsigned long number = ++*requests;
    return setting.is_memory == is_memory && setting.refused_from != 0 &&
           number >= setting.refused_from;
}

static void *get(std::size_t bytes, std::size_t align)
{
    if (is_refused(&memory_requests, true)) {
        return nullptr;
    }
    void *ptr = nullptr;
    std::size_t some = bytes == 0 ? 1 : bytes;
    if (align <= alignof(std::max_align_t)) {
        return std::malloc(some);
    }
    return posix_memalign(&ptr, align, some) == 0 ? ptr : nullptr;
}

static void *get_or_throw(std::size_t bytes, std::size_t align)
{
    void *ptr = get(bytes, align);
    if (ptr == nullptr) {
        throw std::bad_alloc();
    }
    return ptr;
}

__attribute__((destructor)) static void write_count()
{
    const char *path = std::getenv("MS_SCARCE_COUNT");
    std::FILE *file = path != nullptr ? std::fopen(path, "w") : nullptr;
    if (file != nullptr) {
        std::fprintf(file, "%lu %lu\n", memory_requests.load(), thread_requests.load());
        std::fclose(file);
    }
}

EXPORT void *operator new(std::size_t bytes)
{
    return get_or_throw(bytes, 0);
}

EXPORT void *operator new[](std::size_t bytes)
{
    return get_or_throw(bytes, 0);
}

EXPORT void *operator new(std::size_t bytes, std::align_val_t align)
{
    return get_or_throw(bytes, static_cast<std::size_t>(align));
}

EXPORT void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept
{
    return get(bytes, 0);
}

EXPORT void *operator new[](std::size_t bytes, const std::nothrow_t &) noexcept
{
    return get(bytes, 0);
}

EXPORT void operator delete(void *ptr) noexcept
{
    std::free(ptr);
}

EXPORT void operator delete[](void *ptr) noexcept
{
    std::free(ptr);
}

EXPORT void operator delete(void *ptr, std::size_t) noexcept
{
    std::free(ptr);
}

EXPORT void operator delete[](void *ptr, std::size_t) noexcept
{
    std::free(ptr);
}

EXPORT void operator delete(void *ptr, std::align_val_t) noexcept
{
    std::free(ptr);
}

EXPORT void operator delete(void *ptr, std::size_t, std::align_val_t) noexcept
{
    std::free(ptr);
}

extern "C" EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                                     void *(*main)(void *), void *arg)
{
    using create = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static const create real = reinterpret_cast<create>(dlsym(RTLD_NEXT, "pthread_create"));
    return is_refused(&thread_requests, false) ? EAGAIN : real(thread, attr, main, arg);
}
