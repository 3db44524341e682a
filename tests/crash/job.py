# SPDX-License-Identifier: Apache-2.0
"""Jobs with checkpoints, killed and without power, and the proof that they went on.

A job reads FILES files, writes every row to an exactly-once file sink, and counts and sums all rows
into a sink that takes updates: the print connector, or a row of a Bigtable table, beside a table of
all rows. It is killed, started with --resume, killed again, and at last left to finish. The program
says on standard error, under MILLSTREAM_LOG=info, which checkpoints were completed, what a run went
on from and what it ended with. After every run is checked:

    the run goes on from the newest checkpoint that was seen to complete, or from a newer one
    it has read before exactly what that checkpoint says, and its checkpoints have greater numbers
    splits of the source were restored

and after the last one:

    the entry of the aggregate was restored, and the sum is that of all rows
    it has read the rest of the input and not one row more
    the output has every row once, and nothing hidden is left
    of the checkpoints only the record of progress is left

With parallelism 1 files are read one after the other, and those that a checkpoint covers are
deleted before the next run: whoever would read them again fails.
"""
import json
import os
import re
import shutil

import powerloss
from harness import PROGRAM, Failure, counts, environment, must, rng, run, shim_environment

FILES = 10


def value(i):
    return i * 7 % 1000


class Kind:
    """What a job does, and how many rows it reads."""

    def __init__(self, name, rows, script, query=None):
        self.name = name
        self.rows = rows  # of a file
        self.all = FILES * rows
        self.sum = sum(value(i) for i in range(self.all))
        self.script = script
        self.query = query  # what shows the sums afterwards; None: they are printed


SOURCE = """\
SET 'millstream.batch.rows' = '64';
CREATE TABLE source (id BIGINT, v BIGINT, name STRING)
WITH ('connector' = 'filesystem', 'path' = '{work}/in', 'format' = 'csv');
CREATE TABLE copy (id BIGINT, v BIGINT, name STRING)
WITH ('connector' = 'filesystem', 'path' = '{tree}/out', 'format' = 'csv');
"""

PRINT = Kind(
    "print",
    40000,
    SOURCE
    + """\
CREATE TABLE total (n BIGINT, s BIGINT) WITH ('connector' = 'print');
EXECUTE STATEMENT SET BEGIN
INSERT INTO copy SELECT id, v, name FROM source;
INSERT INTO total SELECT COUNT(*), SUM(v) FROM source;
END;
""",
)

BIGTABLE_WITH = """
WITH ('connector' = 'bigtable', 'project' = 'p', 'instance' = 'i', 'table' = '{name}',
  'sink.create-disposition' = 'create-if-needed',
  'sink.table-create.gc-rule.max-versions' = '1');
"""
TABLES = (
    "CREATE TABLE stored (k STRING NOT NULL, cf ROW<v BIGINT, name STRING>,"
    " PRIMARY KEY (k) NOT ENFORCED)"
    + BIGTABLE_WITH.replace("{name}", "stored")
    + "CREATE TABLE total (k STRING NOT NULL, cf ROW<n BIGINT, s BIGINT>,"
    " PRIMARY KEY (k) NOT ENFORCED)" + BIGTABLE_WITH.replace("{name}", "total")
)

BIGTABLE = Kind(
    "bigtable",
    3000,
    SOURCE
    + TABLES
    + """\
EXECUTE STATEMENT SET BEGIN
INSERT INTO copy SELECT id, v, name FROM source;
INSERT INTO stored SELECT CAST(id AS STRING), ROW(v, name) FROM source;
INSERT INTO total SELECT 'all', ROW(COUNT(*), SUM(v)) FROM source;
END;
""",
    TABLES
    + """\
SELECT total.cf.n AS n, total.cf.s AS s FROM total;
SELECT COUNT(*) AS n, SUM(stored.cf.v) AS s FROM stored;
""",
)

# Passed at every checkpoint, file or call; which passage it is, up to the number, is random.
FAULTS = {
    "checkpoint.before_data": 3,
    "checkpoint.after_data": 3,
    "checkpoint.before_rename": 3,
    "checkpoint.after_rename": 3,
    "commit.before": 3,
    "commit.after": 3,
    "filesystem.before_rename": 3,
    "filesystem.after_rename": 3,
    "file.write": 20,
    "file.sync": 20,
    "file.rename": 6,
}
STORE_FAULTS = {"kv.write": 20, "kv.written": 20, "kv.sync": 3}

EVENT = re.compile(r"^\S+Z info (\w+) event=(\w+) (.*)$", re.M)
CHANGE = re.compile(r"^(?:\d+> )?\+[IU]\[(\d+), (\d+)\]$", re.M)


def parse(line):
    return {k: v.strip('"') for k, v in re.findall(r'(\w+)=("[^"]*"|\S+)', line)}


class Run:
    """One run of the program: its status, and what it said."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err
        self.completed, self.started, self.ended = [], None, None
        for module, event, rest in EVENT.findall(err):
            fields = parse(rest)
            if (module, event) == ("checkpoint", "completed"):
                self.completed.append((int(fields["id"]), int(fields["rows_read"])))
            elif (module, event) == ("job", "started"):
                self.started = fields
            elif (module, event) == ("job", "ended"):
                self.ended = fields
        changes = CHANGE.findall(err)
        self.total = tuple(map(int, changes[-1])) if changes else None


def make_inputs(work, kind):
    """The files that all jobs of a case link to."""
    os.mkdir(os.path.join(work, "template"))
    for file in range(FILES):
        path = os.path.join(work, "template", f"{file:03}.csv")
        with open(path, "w", encoding="ascii") as out:
            for i in range(file * kind.rows, (file + 1) * kind.rows):
                out.write(f"{i},{value(i)},name-{i}\n")


class Job:
    """A job from its first run to its last."""

    def __init__(self, work, kind, parallelism):
        self.work, self.kind, self.parallelism = work, kind, parallelism
        self.tree = os.path.join(work, "tree")
        self.data = os.path.join(self.tree, "data")
        self.last = (0, 0)  # the newest checkpoint seen to complete, and the rows read by then
        self.total = None
        self.runs = 0
        self.rows_kept = 0  # read before the last run and not read again
        for name in ("in", "tree"):
            shutil.rmtree(os.path.join(work, name), ignore_errors=True)
            os.mkdir(os.path.join(work, name))
        for file in os.listdir(os.path.join(work, "template")):
            os.link(os.path.join(work, "template", file), os.path.join(work, "in", file))
        self.script = self.write_script("job.sql", kind.script)

    def write_script(self, name, text):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="ascii") as out:
            out.write(text.format(work=self.work, tree=self.tree))
        return path

    def command(self, *more):
        words = [PROGRAM, "run", self.script, "--data-dir", self.data, "--result", "json"]
        words += ["--checkpoint-interval", "5ms", "--parallelism", str(self.parallelism)]
        return words + list(more)

    def go(self, env, kill_after=None):
        """One run and the checks that hold of every run."""
        more = ["--resume"] if self.runs > 0 else []
        env = dict(env, MILLSTREAM_LOG="info")
        result = Run(*run(self.command(*more), env, kill_after=kill_after))
        self.runs += 1
        if result.started is not None:
            self.check_start(result)
        if result.completed:
            self.last = max(self.last, result.completed[-1])
        self.total = result.total or self.total
        return result

    def check_start(self, result):
        start = int(result.started["checkpoint"])
        before = int(result.started["rows_before"])
        known, rows = self.last
        must(start >= known, f"goes on from checkpoint {start}, though {known} was completed")
        must(start > known or before == rows, f"checkpoint {start} has {before} rows, had {rows}")
        must(before >= rows, f"{before} rows before, {rows} at an older checkpoint")
        ids = [id for id, _ in result.completed]
        must(all(a < b for a, b in zip([start] + ids, ids)), f"checkpoints {start}, then {ids}")
        splits = int(result.started["restored_splits"])
        must(before in (0, self.kind.all) or splits > 0, "no split was restored")

    def delete_read_files(self):
        """Those whose rows the newest checkpoint covers, and a row of the next one."""
        deleted = 0
        for file in range(FILES):
            path = os.path.join(self.work, "in", f"{file:03}.csv")
            if (file + 1) * self.kind.rows < self.last[1] and os.path.exists(path):
                os.remove(path)
                deleted += 1
        return deleted

    def finish(self):
        """The last run, left alone; then everything must be as if nothing had happened."""
        result = self.go(environment())
        must(result.status == 0, f"the last run ends with {result.status}: {result.err[-800:]}")
        if result.started is not None:
            before, read = int(result.started["rows_before"]), int(result.ended["rows_read"])
            must(result.ended["state"] == "finished", f"the job is {result.ended['state']}")
            must(before + read == self.kind.all, f"{read} rows read after {before}")
            restored = int(result.ended["restored_entries"])
            must(before in (0, self.kind.all) or restored > 0, "the aggregate was not restored")
            self.rows_kept = before
            self.check_checkpoints()
        self.check_output()
        self.check_totals()

    def check_checkpoints(self):
        found = os.walk(os.path.join(self.data, "checkpoints"))
        left = sorted(name for _, _, names in found for name in names)
        must(left == ["LOCK", "progress"], f"of the checkpoints are left: {left}")

    def check_output(self):
        rows = []
        out = os.path.join(self.tree, "out")
        for name in os.listdir(out):
            must(not name.startswith("."), f"hidden file {name} is left")
            with open(os.path.join(out, name), encoding="ascii") as file:
                rows.extend(file.read().splitlines())
        ids = sorted(int(row.split(",", 1)[0]) for row in rows)
        must(len(ids) == len(set(ids)), f"{len(ids) - len(set(ids))} rows are there twice")
        must(ids == list(range(self.kind.all)), f"{self.kind.all - len(ids)} rows are missing")
        for row in rows:
            i = int(row.split(",", 1)[0])
            must(row == f"{i},{value(i)},name-{i}", f"a wrong row: {row}")

    def check_totals(self):
        right = (self.kind.all, self.kind.sum)
        if self.kind.query is None:
            must(self.total == right, f"the total is {self.total}, not {right}")
            return
        words = [PROGRAM, "run", self.write_script("query.sql", self.kind.query)]
        status, out, err = run(words + ["--data-dir", self.data], environment())
        must(status == 0, f"the query ends with {status}: {err[-800:]}")
        totals = [(row["n"], row["s"]) for row in map(json.loads, out.splitlines())]
        must(totals == [right, right], f"sum of the job and of its rows: {totals}, not {right}")


def uninterrupted(work, kind):
    make_inputs(work, kind)
    for parallelism in (1, 2):
        job = Job(work, kind, parallelism)
        job.finish()
        must(job.last[0] >= 2, f"only {job.last[0]} checkpoints in a run")
    return f"{job.last[0]} checkpoints"


def refused_without_a_word(work, kind):
    """Neither --resume nor --fresh for an unfinished job: refused; --fresh: everything anew."""
    make_inputs(work, kind)
    job = Job(work, kind, 1)
    result = job.go(environment(MS_FAULT="commit.after:1:kill"))
    must(result.status == -9, f"ends with {result.status}")
    plain = Run(*run(job.command(), environment()))
    must(plain.status == 1 and "error[RESUME_REQUIRED]" in plain.err, f"not refused: {plain.err}")
    fresh = Run(*run(job.command("--fresh"), environment(MILLSTREAM_LOG="info")))
    must(fresh.status == 0 and fresh.started["checkpoint"] == "0", f"not fresh: {fresh.err[-500:]}")
    must(fresh.ended["rows_read"] == str(kind.all), "not all rows were read anew")


def kill_once(job, random, points, turn):
    """Two of three times at a marked point, else at a random moment."""
    if turn % 3 > 0:
        point, passes = points[turn % len(points)]
        spec = f"{point}:{random.randint(1, passes)}:kill"
        result = job.go(environment(MS_FAULT=spec))
    else:
        spec = "at random"
        result = job.go(environment(), kill_after=random.uniform(0.02, 0.5))
    must(result.status in (-9, 0), f"{spec}: ends with {result.status}: {result.err[-800:]}")
    return result.status == -9


def killed(work, kind, count, parallelism):
    """Up to three kills a job, until the count is reached."""
    random = rng(f"job {kind.name} {parallelism}")
    make_inputs(work, kind)
    points = list(FAULTS.items()) + list(STORE_FAULTS.items()) * (kind is BIGTABLE)
    kills, turns, jobs, deleted, kept = 0, 0, 0, 0, 0
    while kills < count:
        job = Job(work, kind, parallelism)
        jobs += 1
        for _ in range(random.randint(1, 3)):
            turns += 1
            if not kill_once(job, random, points, turns):
                break
            kills += 1
            if parallelism == 1:
                deleted += job.delete_read_files()
        job.finish()
        kept += job.rows_kept
    must(kept > 0, "no job ever went on from a checkpoint")
    must(parallelism > 1 or deleted > 0, "no input was ever deleted")
    return f"{kills} kills of {jobs} jobs, {kept} rows not read again, {deleted} inputs deleted"


def failing(work, kind, count):
    """A file system that fails once: the job goes on, or fails and is resumed."""
    random = rng("failing")
    make_inputs(work, kind)
    points = list(FAULTS.items())
    failed = 0
    for i in range(count):
        job = Job(work, kind, 1 + i % 2)
        point, passes = points[i % len(points)]
        spec = f"{point}:{random.randint(1, passes)}:fail"
        result = job.go(environment(MS_FAULT=spec))
        must(result.status in (0, 1), f"{spec}: ends with {result.status}: {result.err[-800:]}")
        must(result.status == 0 or "error[IO_ERROR]" in result.err, f"{spec}: {result.err[-800:]}")
        failed += result.status
        job.finish()
    return f"{count} failures of the file system, {failed} failed jobs"


def powerless(work, kind, count, records):
    """Power lost after one of the first changes of a file, the disk rolled back, then --resume."""
    random = rng(f"powerless {kind.name}")
    make_inputs(work, kind)
    losses, jobs, kept = 0, 0, 0
    journal = os.path.join(work, "journal")
    while losses < count:
        job = Job(work, kind, 1 + jobs % 2)
        jobs += 1
        for _ in range(random.randint(1, 2)):
            disk = powerloss.Disk(job.tree)
            off_at = random.randint(1, records)
            result = job.go(shim_environment(job.tree, journal, off_at))
            must(result.status in (-9, 0), f"ends with {result.status}: {result.err[-800:]}")
            if result.status == 0:
                os.remove(journal)
                break
            disk.replay(journal)
            os.remove(journal)
            powerloss.roll_back(disk, powerloss.MODES[losses % len(powerloss.MODES)], f"{losses}")
            losses += 1
        job.finish()
        kept += job.rows_kept
    must(kept > 0, "no job ever went on from a checkpoint")
    return f"{losses} losses in {jobs} jobs, {kept} rows not read again"


def noticed(work, kind):
    """A program that did not sync files, directories or either would not get away with it."""
    make_inputs(work, kind)
    journal = os.path.join(work, "journal")
    variants = (
        ((powerloss.File, powerloss.Directory), "nothing"),
        ((powerloss.Directory,), "nothing"),
        ((powerloss.File,), "names"),
    )
    for deaf_to, how in variants:
        job = Job(work, kind, 1)
        disk = powerloss.Disk(job.tree)
        env = shim_environment(job.tree, journal, 0, MS_FAULT="commit.after:2:kill")
        result = job.go(env)
        must(result.status == -9 and job.last[0] == 2, f"ends with {result.status}")
        disk.replay(journal, deaf_to)
        os.remove(journal)
        powerloss.roll_back(disk, how, "0")
        try:
            job.finish()
        except Failure:
            continue
        must(False, f"no failure though syncs of {[d.__name__ for d in deaf_to]} were dropped")


def cases(case):
    case("job: an undisturbed run", uninterrupted, PRINT)
    case("job: an unfinished one wants --resume or --fresh", refused_without_a_word, PRINT)
    case("job: kill -9, parallelism 1, inputs deleted", killed, PRINT, counts(12, 200), 1)
    case("job: kill -9, parallelism 2", killed, PRINT, counts(8, 200), 2)
    case("job: failing file system", failing, PRINT, counts(11, 110))
    case("job: a missing sync would be noticed", noticed, PRINT)
    case("job: power loss", powerless, PRINT, counts(15, 300), 250)
    case("job, Bigtable: an undisturbed run", uninterrupted, BIGTABLE)
    case("job, Bigtable: kill -9, parallelism 1, inputs deleted", killed, BIGTABLE,
         counts(8, 200), 1)
    case("job, Bigtable: kill -9, parallelism 2", killed, BIGTABLE, counts(6, 200), 2)
    case("job, Bigtable: power loss", powerless, BIGTABLE, counts(15, 300), 400)
