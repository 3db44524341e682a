# SPDX-License-Identifier: Apache-2.0
"""`millstream serve`, killed under clients, without power, on full disks, where it may not write.

Clients of every kind are at work when it is killed: a job that writes, SQL that reads, the commands
count and show, cbt where there is one. None of them may hang or end by a signal. What writes goes
on when the server is back, and its rows are there; what reads ends well or says that the server was
not there. After a loss of power every write that a client has an answer to is there.
"""
import os
import shutil
import subprocess
import time

import powerloss
from harness import (
    PROGRAM, TIMEOUT_S, WRITER, Failure, counts, environment, must, rng, run, shim_environment,
)
from store import BATCHES, Audit, promises

ROWS = 1000

TABLE = (
    "CREATE TABLE t (k STRING NOT NULL, cf ROW<n BIGINT>, PRIMARY KEY (k) NOT ENFORCED) WITH ("
    "'connector' = 'bigtable', 'project' = 'p', 'instance' = 'i', 'table' = 't');\n"
)
SOURCE = (
    "CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '{rate}',"
    " 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{rows}');\n"
)
COUNT = TABLE + "SELECT COUNT(*) AS n FROM t;\n"


class Server:
    """A server of a data directory, at the same address however often it is started."""

    def __init__(self, data):
        self.data = data
        self.address = "127.0.0.1:0"
        self.process = None

    def start(self, env=None):
        """False: it was killed before it was ready, as env may want it."""
        command = [PROGRAM, "serve", "--data-dir", self.data, "--listen", self.address]
        self.process = subprocess.Popen(
            command, env=env or environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        line = self.process.stdout.readline().decode()
        if env is not None and line == "" and self.wait()[0] == -9:
            return False
        if not line.startswith("millstream: serving Bigtable at "):
            raise Failure(f"the server says {self.end(9)[1]}")
        self.address = line.split()[-1]
        return True

    def end(self, number):
        """(status, what it has said)"""
        self.process.send_signal(number)
        return self.wait()

    def wait(self):
        _, err = self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode, err.decode(errors="replace")

    def kill(self):
        status, err = self.end(9)
        must(status == -9 and err == "", f"the server ended with {status} before: {err}")

    def abandon(self):
        """After a failure: whatever is left goes."""
        if self.process is not None and self.process.poll() is None:
            self.end(9)

    def stop(self):
        status, err = self.end(15)
        must(status == 0 and err == "", f"the server ends with {status}: {err}")

    def bigtable(self, *words):
        return run([PROGRAM, "bigtable", *words, "--bigtable", self.address], environment())


class Client:
    """A program at work beside the server; over and over again where it is told so."""

    def __init__(self, name, command, work, again=False, **more):
        self.name = name
        self.again = again
        self.start_it = lambda: subprocess.Popen(
            command, env=environment(**more), cwd=work, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        self.process = self.start_it()

    def keep_busy(self):
        if self.again and self.process.poll() == 0:
            self.process.communicate()
            self.process = self.start_it()

    def end(self):
        try:
            out, err = self.process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, err = self.process.communicate()
            raise Failure(f"{self.name} hangs: {err.decode(errors='replace')[-500:]}") from None
        return self.process.returncode, out.decode(errors="replace"), err.decode(errors="replace")


def script(work, name, text):
    path = os.path.join(work, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def sql(server, path, *more):
    return [PROGRAM, "run", path, "--bigtable", server.address, *more]


def counted(server, path):
    status, out, err = run(sql(server, path), environment())
    must(status == 0, f"counting ends with {status}: {err.strip()}")
    # A table without rows has no count: the aggregate is never updated.
    return int(out.strip().removeprefix('{"n":').removesuffix("}") or 0)


def readers(server, work, path):
    at = ("--bigtable", server.address)
    found = [
        Client("SELECT", sql(server, path), work, again=True),
        Client("count", [PROGRAM, "bigtable", "count", "p/i/t", *at], work, again=True),
        Client("show", [PROGRAM, "bigtable", "show", "p/i/t", *at], work, again=True),
    ]
    if shutil.which("cbt"):
        # Without a file of credentials it asks gcloud for some.
        script(work, ".cbtrc", "creds = /dev/null\nproject = p\ninstance = i\n")
        for words in (["count", "t"], ["read", "t"]):
            found.append(Client("cbt", ["cbt", *words], work, again=True, HOME=work,
                                BIGTABLE_EMULATOR_HOST=server.address))
    return found


def check_reader(reader, what):
    status, _, err = reader.end()
    must(status in (0, 1), f"{what}: {reader.name} ends with {status}: {err.strip()[-500:]}")
    if status == 1 and reader.name != "cbt":
        must("BIGTABLE_UNAVAILABLE" in err, f"{what}: {reader.name} says {err.strip()[-500:]}")
    return status


def killed(work, count):
    """kill -9 while clients are at work; the server is back after a moment, or a longer one."""
    random = rng("server kill")
    server = Server(os.path.join(work, "data"))
    count_sql = script(work, "count.sql", COUNT)
    try:
        return kill_again(work, server, count_sql, random, count)
    finally:
        server.abandon()


def kill_again(work, server, count_sql, random, count):
    server.start()
    status, _, err = server.bigtable("create-table", "p/i/t", "--family", "cf")
    must(status == 0, f"create-table: {err}")
    broken = 0
    for i in range(count):
        write_sql = script(
            work, f"write-{i}.sql", SOURCE.format(rate=2000, rows=ROWS) + TABLE +
            f"INSERT INTO t SELECT CONCAT('{i:04}-', CAST(id AS STRING)), ROW(id) FROM g;\n")
        writer = Client("the writer", sql(server, write_sql), work)
        beside = readers(server, work, count_sql)
        until = time.monotonic() + random.uniform(0.05, 0.7)
        while time.monotonic() < until:
            for reader in beside:
                reader.keep_busy()
            time.sleep(0.01)
        server.kill()
        time.sleep(random.choice((0, 0.1, 0.6)))
        server.start()
        what = f"kill {i}"
        status, _, err = writer.end()
        must(status == 0, f"{what}: the writer ends with {status}: {err.strip()[-500:]}")
        broken += sum(check_reader(reader, what) for reader in beside)
        found = counted(server, count_sql)
        must(found == (i + 1) * ROWS, f"{what}: {found} rows, not {(i + 1) * ROWS}")
    server.stop()
    return f"{count} kills, {broken} reads that said so"


class Power:
    """A server whose disk is rolled back, again and again, and the clients that write to it."""

    def __init__(self, work):
        self.work = work
        self.tree, self.journal = os.path.join(work, "tree"), os.path.join(work, "journal")
        os.mkdir(self.tree)
        self.server = Server(os.path.join(self.tree, "data"))
        self.store = os.path.join(self.server.data, "bigtable")
        self.count_sql = script(work, "count.sql", COUNT.replace("'t')", "'sql')"))
        self.audit = Audit(work)
        self.last = 0  # batch of the sender that was found
        self.jobs = 0  # that have written ROWS rows each

    def prepare(self):
        self.server.start()
        status, _, err = self.server.bigtable("create-table", "p/i/sql", "--family", "cf")
        must(status == 0, f"create-table: {err}")
        self.server.stop()

    def sender(self):
        """Writes batches whose acknowledgments it tells, and follows their changes."""
        first = str(max(self.last + 1, 2))
        return subprocess.Popen(
            [WRITER, "send", self.server.address, first, str(BATCHES)], env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def job(self):
        """Many calls at a time. It repeats what it has no answer to, and nothing else."""
        write_sql = script(
            self.work, f"write-{self.jobs}.sql", SOURCE.format(rate=2000, rows=ROWS) +
            TABLE.replace("'t')", "'sql')") +
            f"INSERT INTO t SELECT CONCAT('{self.jobs:04}-', CAST(id AS STRING)), ROW(id) FROM g;")
        self.jobs += 1
        return Client("the job", sql(self.server, write_sql), self.work)

    def lose(self, off_at, how, seed, deaf_to=()):
        """Loses the power after record off_at; what the sender was promised, and the job."""
        disk = powerloss.Disk(self.tree)
        promised, job = self.last, None
        if self.server.start(shim_environment(self.tree, self.journal, off_at)):
            sender, job = self.sender(), self.job()
            status, err = self.server.wait()
            sender.kill()
            out, said = sender.communicate(timeout=TIMEOUT_S)
            must(status == -9, f"the server ends with {status}: {err}")
            must(sender.returncode in (-9, 1), f"the sender ends: {said.decode()}")
            promised, _ = promises(out.decode(), "group")
            self.audit.written(out.decode())
        disk.replay(self.journal, deaf_to)
        os.remove(self.journal)
        powerloss.roll_back(disk, how, seed)
        return promised, job

    def look(self, job):
        """The job comes to its end; the last batch of the sender that is there."""
        self.server.start()
        if job is not None:
            status, _, err = job.end()
            must(status == 0, f"the job ends with {status}: {err.strip()[-500:]}")
        found = counted(self.server, self.count_sql)
        must(found == self.jobs * ROWS, f"{found} rows, not {self.jobs * ROWS}")
        self.server.stop()
        return self.audit.check(self.store)


def without_power(work, count):
    """Power lost under clients after a random change of a file; the disk rolled back."""
    random = rng("server power")
    power = Power(work)
    power.prepare()
    total = 0
    try:
        for i in range(count):
            off_at = random.randint(1, random.choice((60, 300, 1500)))
            how = powerloss.MODES[i % len(powerloss.MODES)]
            what = f"loss {i} ({how}, after record {off_at})"
            try:
                promised, job = power.lose(off_at, how, f"server {i}")
                found = power.look(job)
            except Failure as failure:
                raise Failure(f"{what}: {failure}") from failure
            must(found >= promised, f"{what}: batch {promised} was promised, {found} found")
            must(found >= power.last, f"{what}: batch {power.last} was there before, {found} now")
            total += found - power.last
            power.last = found
    finally:
        power.server.abandon()
    must(total >= count, f"only {total} batches were found in {count} runs")
    return f"{count} losses, {total} batches, {power.jobs} jobs, {power.audit.changes} changes"


def without_power_or_syncs(work):
    """The simulation bites: where syncs of files do nothing, promised batches get lost."""
    power = Power(work)
    power.prepare()
    try:
        promised, job = power.lose(600, "nothing", "", (powerloss.File,))
        job.process.kill()
        job.process.communicate()
    finally:
        power.server.abandon()
    must(promised > 1, "nothing was promised")
    status, out, _ = run([WRITER, "check", power.store], environment())
    found = int(out.split()[1]) if status == 0 else 0
    must(found < promised, f"nothing was lost of {promised} batches")
    return f"{promised - found} of {promised} batches lost, as they would be"


def mounted(tree, size):
    os.mkdir(tree)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", tree]
    try:
        return subprocess.run(command, stderr=subprocess.PIPE, check=False).returncode == 0
    except OSError:
        return False


def unmount(tree):
    subprocess.run(["umount", tree], check=True)


def remount(tree, options):
    subprocess.run(["mount", "-o", f"remount,{options}", tree], check=True)


SKIPPED = "SKIPPED: a small disk cannot be mounted here (that takes root)"
NO_SPACE = "No space left on device"


def fill(work, tree, server, size, rows):
    """A job with checkpoints elsewhere fills the disk of a server; with room it goes on."""
    remount(tree, f"size={size}k")
    count_sql = script(work, "count.sql", COUNT)
    write_sql = script(work, "write.sql", SOURCE.format(rate=100000, rows=rows) + TABLE +
                       "INSERT INTO t SELECT CAST(id AS STRING), ROW(id) FROM g;\n")
    job = ("--data-dir", os.path.join(work, "job"), "--checkpoint-interval", "20ms")
    what = f"disk of {size} KiB"
    server.start()
    status, _, err = server.bigtable("create-table", "p/i/t", "--family", "cf")
    must(status == 0, f"{what}: create-table: {err}")
    status, _, err = run(sql(server, write_sql, *job), environment())
    must(status == 1 and NO_SPACE in err, f"{what}: the job ends with {status}: {err}")
    # It reads on, and says why it does not write.
    before = counted(server, count_sql)
    status, _, err = server.bigtable("create-table", "p/i/u", "--family", "cf")
    must(status == 1 and NO_SPACE in err, f"{what}: create-table ends with {status}: {err}")
    status, err = server.end(15)
    must(status in (0, 1) and (status == 0 or NO_SPACE in err), f"{what}: {status}, {err}")
    remount(tree, f"size={size + 65536}k")
    server.start()
    found = counted(server, count_sql)
    must(found >= before, f"{what}: {before} rows were read, {found} are left")
    status, _, err = run(sql(server, write_sql, *job, "--resume"), environment())
    must(status == 0, f"{what}: the job that goes on ends with {status}: {err}")
    found = counted(server, count_sql)
    must(found == rows, f"{what}: {found} rows, not {rows}")
    server.stop()
    shutil.rmtree(os.path.join(tree, "data"))
    shutil.rmtree(os.path.join(work, "job"))
    return before


def full(work, count):
    """A full disk under a server and its job; and under a job in process, checkpoints included."""
    random = rng("server full")
    tree = os.path.join(work, "disk")
    if not mounted(tree, 1024):
        return SKIPPED
    server = Server(os.path.join(tree, "data"))
    try:
        rows = sum(fill(work, tree, server, random.randint(4000, 12000), 300000)
                   for _ in range(count))
        remount(tree, "size=6000k")
        write_sql = os.path.join(work, "write.sql")
        job = [PROGRAM, "run", write_sql, "--data-dir", os.path.join(tree, "own"),
               "--checkpoint-interval", "20ms"]
        status, _, err = run(
            [PROGRAM, "bigtable", "create-table", "p/i/t", "--family", "cf", "--data-dir",
             os.path.join(tree, "own")], environment())
        must(status == 0, f"create-table: {err}")
        status, _, err = run(job, environment())
        must(status == 1 and NO_SPACE in err, f"the job in process ends with {status}: {err}")
        remount(tree, "size=90000k")
        status, _, err = run(job + ["--resume"], environment())
        must(status == 0, f"the job in process that goes on ends with {status}: {err}")
        status, out, err = run(
            [PROGRAM, "run", os.path.join(work, "count.sql"), "--data-dir",
             os.path.join(tree, "own")], environment())
        must(out == '{"n":300000}\n', f"the job in process has written {out}, {err}")
    finally:
        server.abandon()
        unmount(tree)
    return f"{count} disks, {rows} rows before they were full"


def read_only(work):
    """Where nothing may be written, all commands say so, and change nothing."""
    tree = os.path.join(work, "disk")
    if not mounted(tree, 20000):
        return SKIPPED
    data = os.path.join(tree, "data")
    server = Server(data)
    try:
        server.start()
        status, _, err = server.bigtable("create-table", "p/i/t", "--family", "cf")
        must(status == 0, f"create-table: {err}")
        count_sql = script(work, "count.sql", COUNT)
        write_sql = script(work, "write.sql", TABLE + "INSERT INTO t VALUES ('a', ROW(1));\n")
        status, _, err = run(sql(server, write_sql), environment())
        must(status == 0, f"the job ends with {status}: {err}")
        server.stop()
        remount(tree, "ro")
        serve, checkpoints = ["serve", "--listen", "127.0.0.1:0"], ["--checkpoint-interval", "1s"]
        new = os.path.join(tree, "new")
        for directory, words in (
            (data, serve), (data, ["run", count_sql]), (data, ["run", write_sql]),
            (data, ["run", write_sql, *checkpoints]), (data, ["bigtable", "count", "p/i/t"]),
            (new, serve), (new, ["run", write_sql]), (new, ["run", write_sql, *checkpoints]),
        ):
            command = [PROGRAM, *words, "--data-dir", directory]
            status, out, err = run(command, environment())
            must(status == 1 and out == "" and "Read-only file system" in err,
                 f"{' '.join(command)}: {status}, {out}, {err}")
        remount(tree, "rw")
        server.start()
        must(counted(server, count_sql) == 1, "the row is gone")
        server.stop()
    finally:
        server.abandon()
        unmount(tree)
    return None


def cases(case):
    case("server: kill -9 under clients", killed, counts(8, 150))
    case("server: power loss under clients", without_power, counts(8, 150))
    case("server: power loss where nothing was synced", without_power_or_syncs)
    case("server: a full disk", full, counts(2, 30))
    case("server: a disk that takes no writes", read_only)
