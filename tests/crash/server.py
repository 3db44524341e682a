# SPDX-License-Identifier: Apache-2.0
"""`millstream serve`, killed under clients, on full disks, and where it may not write.

Clients of every kind are at work when it is killed: a job that writes, SQL that reads, the commands
count and show, cbt where there is one. None of them may hang or end by a signal. What writes goes
on when the server is back, and its rows are there; what reads ends well or says that the server was
not there.
"""
import os
import shutil
import subprocess
import time

from harness import PROGRAM, TIMEOUT_S, Failure, counts, environment, must, rng, run

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

    def start(self):
        command = [PROGRAM, "serve", "--data-dir", self.data, "--listen", self.address]
        self.process = subprocess.Popen(
            command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        line = self.process.stdout.readline().decode()
        if not line.startswith("millstream: serving Bigtable at "):
            raise Failure(f"the server says {self.end(9)[1]}")
        self.address = line.split()[-1]

    def end(self, number):
        """(status, what it has said)"""
        self.process.send_signal(number)
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
    return int(out.strip().removeprefix('{"n":').removesuffix("}"))


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
    case("server: a full disk", full, counts(2, 30))
    case("server: a disk that takes no writes", read_only)
