# SPDX-License-Identifier: Apache-2.0
"""The embedded Bigtable, killed, without power, on full disks, again and again."""
import os
import shutil
import subprocess

import powerloss
from harness import WRITER, Failure, counts, environment, must, rng, run, shim_environment

BATCHES = 100000  # more than a run can write before it is killed
PART = 100  # so many kills or losses of one store; each check reads all of it


def promises(out, mode):
    """(newest batch that must be there, lines that the parent read)"""
    acked, seen, synced, opened = [], [], [], False
    for line in out.split("\n")[:-1]:
        what, number = line.split()
        opened |= what == "opened"
        for name, numbers in (("ack", acked), ("seen", seen), ("synced", synced)):
            if what == name:
                numbers.append(int(number))
    must(acked == sorted(acked), "acknowledged out of order")
    first = seen[0] if seen else 0
    must(seen == list(range(first, first + len(seen))), "changes out of order")
    # Who reads changes sees nothing that may still get lost.
    promised = acked + seen if mode in ("group", "killed") else synced
    return max(promised, default=1 if opened else 0), len(acked)


def check(directory):
    status, out, err = run([WRITER, "check", directory], environment())
    must(status == 0, f"check ends with {status}: {err.strip()}")
    return int(out.split()[1])


class Audit:
    """Follows the change stream from check to check: every change once, in order."""

    def __init__(self, work):
        self.tokens = os.path.join(work, "tokens")
        self.start = 0  # a time before the first batch, once a writer got that far
        self.changes = 0

    def written(self, out):
        for line in out.split("\n")[:-1]:
            what, number = line.split()
            if what == "start" and self.start == 0:
                self.start = int(number)

    def check(self, directory):
        command = [WRITER, "check", directory, self.tokens, str(self.start)]
        status, out, err = run(command, environment())
        must(status == 0, f"check ends with {status}: {err.strip()}")
        said = dict(line.split() for line in out.split("\n")[:-1])
        self.changes += int(said.get("changes", 0))
        return int(said["last"])


def kill(work, count, mode, part):
    """kill -9 at a random moment: the page cache survives, and all that was acknowledged."""
    random = rng(f"kill {mode}{part}")
    directory = os.path.join(work, "store")
    audit = Audit(work)
    last, batches, advanced = 0, 0, 0
    for i in range(count):
        seconds = random.choice((0.02, 0.05, 0.1, 0.25)) * random.uniform(0.5, 1.5)
        command = [WRITER, "write", directory, mode, str(max(last + 1, 2)), str(BATCHES)]
        status, out, err = run(command, environment(), kill_after=seconds)
        must(status == -9, f"kill {i}: the writer ends with {status}: {err.strip()}")
        promised, acked = promises(out, "killed")
        batches += acked
        audit.written(out)
        found = audit.check(directory)
        must(found >= promised, f"kill {i}: batch {promised} was acknowledged, the last is {found}")
        must(found >= last, f"kill {i}: batch {last} was there after the kill before, now {found}")
        advanced += found > last
        last = found
    must(advanced >= count // 3, f"only {advanced} of {count} runs wrote anything")
    return f"{count} kills, {batches} acknowledged batches of 21 rows, {audit.changes} changes"


def seen_by_shim(work):
    """The journal of a whole run gives the tree that is really there: the shim sees every write."""
    directory, journal = os.path.join(work, "tree"), os.path.join(work, "journal")
    os.mkdir(directory)
    disk = powerloss.Disk(directory)
    command = [WRITER, "write", os.path.join(directory, "store"), "group", "2", "400"]
    status, _, err = run(command, shim_environment(directory, journal, 0))
    must(status == 0, f"the writer ends with {status}: {err.strip()}")
    records = disk.replay(journal)
    found = disk.differences(lambda name: False)
    must(not found, f"the shim has missed changes of {', '.join(found)}")
    return f"{records} records"


def lost_without_sync(work):
    """The simulation bites: with mode os, where nothing is synced, rows do get lost."""
    directory, journal = os.path.join(work, "tree"), os.path.join(work, "journal")
    os.mkdir(directory)
    disk = powerloss.Disk(directory)
    store = os.path.join(directory, "store")
    command = [WRITER, "write", store, "os", "2", str(BATCHES)]
    status, out, _ = run(command, shim_environment(directory, journal, 400))
    must(status == -9, f"the writer ends with {status}")
    disk.replay(journal)
    powerloss.roll_back(disk, "nothing", 0)
    acknowledged, _ = promises(out, "killed")
    found = check(store)
    must(found < acknowledged, f"nothing was lost of {acknowledged} batches")
    return f"{acknowledged - found} of {acknowledged} batches lost, as they may be"


def power(work, count, mode, part):
    """Power lost after a random change of a file, the disk rolled back to what it may hold."""
    random = rng(f"power {mode}{part}")
    directory, journal = os.path.join(work, "tree"), os.path.join(work, "journal")
    store = os.path.join(directory, "store")
    os.mkdir(directory)
    audit = Audit(work)
    last, promised_total = 0, 0
    for i in range(count):
        disk = powerloss.Disk(directory)
        off_at = random.randint(1, random.choice((60, 300, 1500)))
        how = powerloss.MODES[i % len(powerloss.MODES)]
        command = [WRITER, "write", store, mode, str(max(last + 1, 2)), str(BATCHES)]
        status, out, err = run(command, shim_environment(directory, journal, off_at))
        must(status == -9, f"loss {i}: the writer ends with {status}: {err.strip()}")
        disk.replay(journal)
        os.remove(journal)
        powerloss.roll_back(disk, how, f"{i}{part}")
        promised, acked = promises(out, mode)
        promised_total += max(promised - last, 0)
        audit.written(out)
        what = f"loss {i} ({how}, after record {off_at})"
        try:
            found = audit.check(store)
        except Failure as failure:
            raise Failure(f"{what}: {failure}") from failure
        must(found >= promised, f"{what}: batch {promised} was promised, {found} found")
        must(found >= last, f"{what}: batch {last} was there before, {found} now")
        last = found
    must(promised_total >= count, f"only {promised_total} batches were promised in {count} runs")
    return f"{count} losses, {promised_total} promised batches, {audit.changes} changes"


def resize(tree, kibibytes):
    subprocess.run(["mount", "-o", f"remount,size={kibibytes}k", tree], check=True)


def fill(tree, i, kibibytes):
    """Writes until the disk is full, twice, and looks: at the full disk, and with room."""
    store, last = os.path.join(tree, "store"), 0
    resize(tree, kibibytes)
    for attempt in ("first", "second"):
        what = f"disk {i} of {kibibytes} KiB, {attempt}"
        command = [WRITER, "write", store, "checkpoint", str(max(last + 1, 2)), str(BATCHES)]
        status, out, err = run(command, environment())
        must(status == 1, f"{what}: the writer ends with {status}: {err.strip()[-500:]}")
        must("No space left on device" in err, f"{what}: says {err.strip()[-500:]}")
        last = max(last, promises(out, "killed")[0])
        status, _, err = run([WRITER, "check", store], environment())
        must(status in (0, 1), f"{what}: check ends with {status}: {err.strip()[-500:]}")
        must(status == 0 or "No space left" in err, f"{what}: check says {err.strip()[-500:]}")
    # The log is written into files before what it is in goes, and large values are in it.
    resize(tree, 4 * kibibytes + 8192)
    found = check(store)
    must(found >= last, f"disk {i}: batch {last} was acknowledged, the last is {found}")
    shutil.rmtree(store)
    return last


def full(work, count):
    """A full disk is an error, when writing and when opening; with room all is there."""
    random = rng("full")
    tree = os.path.join(work, "disk")
    os.mkdir(tree)
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tree]
    try:
        mounted = subprocess.run(command, stderr=subprocess.PIPE, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        return "SKIPPED: a small disk cannot be mounted here (that takes root)"
    try:
        batches = sum(fill(tree, i, random.randint(8, 3000)) for i in range(count))
    finally:
        subprocess.run(["umount", tree], check=True)
    return f"{count} disks, {batches} acknowledged batches"


def in_parts(case, name, body, count, mode):
    """A large count is several cases, each with a store and random numbers of its own."""
    for begin in range(0, count, PART):
        part = f" part {begin // PART + 1}" if count > PART else ""
        case(f"{name}, mode {mode}{part}", body, min(PART, count - begin), mode, part)


def cases(case):
    case("store: a full disk", full, counts(5, 100))
    in_parts(case, "store: kill -9", kill, counts(30, 500), "group")
    in_parts(case, "store: kill -9", kill, counts(30, 500), "checkpoint")
    case("store: the shim sees every change", seen_by_shim)
    case("store: the simulation loses what was not synced", lost_without_sync)
    in_parts(case, "store: power loss", power, counts(36, 500), "group")
    in_parts(case, "store: power loss", power, counts(24, 500), "checkpoint")
