# SPDX-License-Identifier: Apache-2.0
"""What runs out (memory, threads, descriptors, files) is an error, never the end by a signal."""
import os
import resource
import shutil

from harness import PROGRAM, SCARCE, TOP, WRITER, counts, environment, must, rng, run
from store import check, promises

# What the last line of a process may say that ran out of something. All of them are ours.
WORDS = ("no memory left", "refuses a thread", "could not start the thread", "could not allocate")
BATCHES = 120


def clean_end(what, status, err):
    must(status in (0, 1), f"{what}: ends with {status}: {err.strip()[-500:]}")
    must("terminate called" not in err, f"{what}: says {err.strip()[-500:]}")


def write(store, kind, refused_from, **more):
    env = environment(LD_PRELOAD=SCARCE, MS_SCARCE=f"{kind}:{refused_from}", **more)
    return run([WRITER, "write", store, "group", "2", str(BATCHES)], env)


def counted(path):
    with open(path, encoding="ascii") as file:
        memory, threads = map(int, file.read().split())
    os.remove(path)
    return memory, threads


def requests(work):
    """How many requests there are in a run that gets all: (of memory before main, of memory, of
    threads)."""
    count, store = os.path.join(work, "count"), os.path.join(work, "store")
    run([WRITER], environment(LD_PRELOAD=SCARCE, MS_SCARCE="memory:0", MS_SCARCE_COUNT=count))
    loading, _ = counted(count)
    status, _, err = write(store, "memory", 0, MS_SCARCE_COUNT=count)
    must(status == 0, f"the writer ends with {status}: {err.strip()}")
    shutil.rmtree(store)
    memory, threads = counted(count)
    must(memory > loading + 1000 and threads > 3, f"the shim saw {memory}, {threads} requests")
    return loading, memory, threads


def refuse(work, kind, moments):
    """Refuses every request from a given one on; what was acknowledged is in the store."""
    store, acked_total, noticed = os.path.join(work, "store"), 0, 0
    for at in moments:
        status, out, err = write(store, kind, at)
        what = f"no {kind} from request {at} on"
        clean_end(what, status, err)
        told = any(words in err for words in WORDS)
        must(told or status == 0, f"{what}: says {err.strip()[-500:]}")
        noticed += told
        promised, acked = promises(out, "killed")
        acked_total += acked
        found = check(store) if os.path.isdir(store) else 0
        must(found >= promised, f"{what}: batch {promised} was acknowledged, the last is {found}")
        shutil.rmtree(store, ignore_errors=True)
    # Work in the background differs from run to run: a late moment may not be reached.
    must(noticed >= len(moments) * 3 // 4, f"only {noticed} of {len(moments)} runs noticed")
    return f"{len(moments)} moments, {acked_total} acknowledged batches"


def no_memory(work, count):
    random = rng("scarce memory")
    loading, total, _ = requests(work)
    early = [loading + random.randint(1, 400) for _ in range(count // 3)]  # while the store opens
    late = [random.randint(loading + 1, total - 100) for _ in range(count - len(early))]
    return refuse(work, "memory", [loading + 1] + early + late)


def no_threads(work):
    _, _, total = requests(work)
    return refuse(work, "threads", range(1, total + 1))


def limited(work, name, kind, values):
    """The main job under a limit of the system: it works or says what is missing."""
    worked = 0
    for value in values:
        data = os.path.join(work, "data")
        command = [
            PROGRAM, "run", os.path.join(TOP, "examples/earthquakes.sql"), "--data-dir", data,
            "--define", "DATA=" + os.path.join(TOP, "examples/data"),
        ]
        status, _, err = run(
            command, environment(), limit=lambda v=value: resource.setrlimit(kind, (v, v))
        )
        what = f"{name} {value}"
        if status == 127 and "shared librar" in err:
            continue  # the loader has not got as far as to start the program
        clean_end(what, status, err)
        must(status == 0 or ": " in err, f"{what}: fails without a word")
        worked += status == 0
        shutil.rmtree(data, ignore_errors=True)
    must(worked > 0, f"{name}: no limit was high enough")
    return f"{len(values)} limits, {worked} of them high enough"


def cases(case):
    mib = 1 << 20
    random = rng("scarce address space")
    spaces = sorted(random.randint(60, 600) * mib for _ in range(counts(25, 500)))
    case("scarce: memory of the store", no_memory, counts(40, 1000))
    case("scarce: threads of the store", no_threads)
    case("scarce: address space", limited, "RLIMIT_AS", resource.RLIMIT_AS, spaces + [4096 * mib])
    case("scarce: data", limited, "RLIMIT_DATA", resource.RLIMIT_DATA,
         [n * mib for n in range(20, 140, 10)] + [4096 * mib])
    case("scarce: descriptors", limited, "RLIMIT_NOFILE", resource.RLIMIT_NOFILE,
         list(range(3, 40, 2)) + [64])
    case("scarce: bytes of a file", limited, "RLIMIT_FSIZE", resource.RLIMIT_FSIZE,
         [0, 100, 1000, 20000, 300000, 64 * mib])
