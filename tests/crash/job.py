# SPDX-License-Identifier: Apache-2.0
"""Jobs with checkpoints, killed and without power, and what proves that they went on and did not start over.

A job reads FILES files (or a sequence), writes every row to an exactly-once file sink, and counts and
sums all rows into a sink that takes updates. It is killed, started with --resume, killed again, and
at last left to finish. The program says on standard error, under MILLSTREAM_LOG=info, which checkpoints
were completed, what a run went on from and what it ended with. Checked are, after every run:

    the run goes on from the newest checkpoint that was seen to complete, or a newer one
    it has read before exactly what that checkpoint says, and its checkpoints have greater numbers
    state is restored: splits of the source, and the entry of the aggregate

and of the last one: it has read the rest and no row more; the output has every row once, and nothing
hidden is left; the sum is that of all rows; of the checkpoints only the record of progress is left. Where
PARALLELISM is 1, the files that a checkpoint covers are deleted before the next run: whoever reads them
again fails.
"""
import os
import re
import shutil

import powerloss
from harness import PROGRAM, counts, environment, must, rng, run, shim_environment

FILES = 10
ROWS = 40000  # of a file
TOTAL = FILES * ROWS
SUM = sum(i * 7 % 1000 for i in range(TOTAL))

SCRIPT = """\
SET 'millstream.batch.rows' = '64';
CREATE TABLE source (id BIGINT, v BIGINT, name STRING)
WITH ('connector' = 'filesystem', 'path' = '{work}/in', 'format' = 'csv');
CREATE TABLE copy (id BIGINT, v BIGINT, name STRING)
WITH ('connector' = 'filesystem', 'path' = '{tree}/out', 'format' = 'csv');
CREATE TABLE total (n BIGINT, s BIGINT) WITH ('connector' = 'print');
EXECUTE STATEMENT SET BEGIN
INSERT INTO copy SELECT id, v, name FROM source;
INSERT INTO total SELECT COUNT(*), SUM(v) FROM source;
END;
"""

# Passed at every checkpoint, at every file, or at every call: the n-th of them is taken at random.
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

EVENT = re.compile(r"^\S+Z info (\w+) event=(\w+) (.*)$", re.M)
CHANGE = re.compile(r"^(?:total:\d*>? ?|\d+> )?\+[IU]\[(\d+), (\d+)\]$", re.M)


def make_inputs(work):
    """Once a process; the jobs get links."""
    os.makedirs(os.path.join(work, "template"), exist_ok=True)
    for file in range(FILES):
        path = os.path.join(work, "template", f"{file:03}.csv")
        with open(path, "w", encoding="ascii") as out:
            for i in range(file * ROWS, (file + 1) * ROWS):
                out.write(f"{i},{i * 7 % 1000},name-{i}\n")


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


class Job:
    """A job from its first run to its last."""

    def __init__(self, work, parallelism, script=SCRIPT):
        self.work, self.parallelism = work, parallelism
        self.tree = os.path.join(work, "tree")
        self.checkpoints = os.path.join(self.tree, "data", "checkpoints")
        self.last = (0, 0)  # the newest checkpoint seen to complete, and the rows before it
        self.total = None
        self.runs = 0
        self.rows_kept = 0  # read before a kill and not read again
        for name in ("in", "tree"):
            shutil.rmtree(os.path.join(work, name), ignore_errors=True)
            os.mkdir(os.path.join(work, name))
        for file in os.listdir(os.path.join(work, "template")):
            os.link(os.path.join(work, "template", file), os.path.join(work, "in", file))
        self.script = os.path.join(work, "job.sql")
        with open(self.script, "w", encoding="ascii") as out:
            out.write(script.format(work=work, tree=self.tree))

    def command(self, resume):
        words = [PROGRAM, "run", self.script, "--data-dir", os.path.join(self.tree, "data")]
        words += ["--checkpoint-interval", "5ms", "--result", "json"]
        words += ["--parallelism", str(self.parallelism)]
        return words + (["--resume"] if resume else [])

    def go(self, env, kill_after=None, resume=None):
        """One run and the checks that hold of every run."""
        resume = self.runs > 0 if resume is None else resume
        env = dict(env, MILLSTREAM_LOG="info")
        result = Run(*run(self.command(resume), env, kill_after=kill_after))
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
        if start > 0:
            must(before > 0 or rows == 0, "a checkpoint without a row")
            must(int(result.started["restored_splits"]) > 0 or before == TOTAL, "no split restored")

    def delete_read_files(self):
        """Those whose rows the newest checkpoint covers, where files are read one after the other."""
        deleted = 0
        for file in range(FILES):
            path = os.path.join(self.work, "in", f"{file:03}.csv")
            if (file + 1) * ROWS < self.last[1] and os.path.exists(path):
                os.remove(path)
                deleted += 1
        return deleted

    def finish(self):
        """The last run, left alone; then everything must be as if nothing had happened."""
        result = self.go(environment())
        must(result.status == 0, f"the last run ends with {result.status}: {result.err[-800:]}")
        if result.started is not None:
            before = int(result.started["rows_before"])
            read = int(result.ended["rows_read"])
            must(result.ended["state"] == "finished", f"the job is {result.ended['state']}")
            must(before + read == TOTAL, f"{read} rows read after {before}, of {TOTAL}")
            restored = int(result.ended["restored_entries"])
            must(before in (0, TOTAL) or restored > 0, "no state of the aggregate restored")
            self.rows_kept += before
            self.check_checkpoints()
        self.check_output()

    def check_output(self):
        rows = []
        out = os.path.join(self.tree, "out")
        for name in os.listdir(out):
            must(not name.startswith("."), f"hidden file {name} is left")
            with open(os.path.join(out, name), encoding="ascii") as file:
                rows.extend(file.read().splitlines())
        ids = sorted(int(row.split(",", 1)[0]) for row in rows)
        must(len(ids) == TOTAL, f"{len(ids)} rows in the output, {len(set(ids))} different ones")
        must(ids == list(range(TOTAL)), "rows are missing or twice in the output")
        for row in rows:
            i = int(row.split(",", 1)[0])
            must(row == f"{i},{i * 7 % 1000},name-{i}", f"a wrong row: {row}")
        must(self.total == (TOTAL, SUM), f"the total is {self.total}, not {(TOTAL, SUM)}")

    def check_checkpoints(self):
        left = [name for _, _, names in os.walk(self.checkpoints) for name in names]
        must(sorted(left) == ["LOCK", "progress"], f"of the checkpoints are left: {left}")


def uninterrupted(work):
    make_inputs(work)
    for parallelism in (1, 2):
        job = Job(work, parallelism)
        job.finish()
        must(job.last[0] >= 3, f"only {job.last[0]} checkpoints in a run")
    return f"{job.last[0]} checkpoints"


def refused_without_a_word(work):
    """Neither --resume nor --fresh for an unfinished job: refused; --fresh: everything anew."""
    make_inputs(work)
    job = Job(work, 1)
    result = job.go(environment(MS_FAULT="commit.after:2:kill"))
    must(result.status == -9, f"ends with {result.status}")
    plain = Run(*run(job.command(False), environment()))
    must(plain.status == 1 and "error[RESUME_REQUIRED]" in plain.err, f"not refused: {plain.err}")
    fresh = Run(*run(job.command(False) + ["--fresh"], environment(MILLSTREAM_LOG="info")))
    must(fresh.status == 0 and fresh.started["checkpoint"] == "0", f"not fresh: {fresh.err[-500:]}")
    must(fresh.ended["rows_read"] == str(TOTAL), "not all rows read anew")


def killed(work, count, parallelism):
    """At random and at marked points, up to three times a job, until the count is reached."""
    random = rng(f"job {parallelism}")
    make_inputs(work)
    kills, jobs, deleted, kept = 0, 0, 0, 0
    points = list(FAULTS.items())
    while kills < count:
        job = Job(work, parallelism)
        jobs += 1
        for _ in range(random.randint(1, 3)):
            if random.random() < 0.6:
                point, passes = points[(kills + jobs) % len(points)]
                spec = f"{point}:{random.randint(1, passes)}:kill"
                result = job.go(environment(MS_FAULT=spec))
            else:
                spec = "at random"
                result = job.go(environment(), kill_after=random.uniform(0.02, 0.4))
            must(result.status in (-9, 0), f"{spec}: ends with {result.status}: {result.err[-800:]}")
            kills += result.status == -9
            if result.status == 0:
                break
            if parallelism == 1:
                deleted += job.delete_read_files()
        job.finish()
        kept += job.rows_kept
    must(kept > 0, "no job ever went on from a checkpoint")
    must(parallelism > 1 or deleted > 0, "no input was ever deleted")
    return f"{kills} kills of {jobs} jobs, {kept // 1000}k rows not read again, {deleted} inputs deleted"


def failing(work, count):
    """A file system that fails once: the job goes on or fails with an error, and --resume finishes it."""
    random = rng("failing")
    make_inputs(work)
    failed = 0
    for i in range(count):
        job = Job(work, 1 + i % 2)
        point, passes = list(FAULTS.items())[i % len(FAULTS)]
        spec = f"{point}:{random.randint(1, passes)}:fail"
        result = job.go(environment(MS_FAULT=spec))
        must(result.status in (0, 1), f"{spec}: ends with {result.status}: {result.err[-800:]}")
        must(result.status == 0 or "error[IO_ERROR]" in result.err, f"{spec}: {result.err[-800:]}")
        failed += result.status
        job.finish()
    return f"{count} failures of the file system, {failed} failed jobs"


def powerless(work, count):
    """Power lost after a random change of a file: checkpoints and output rolled back, then --resume."""
    random = rng("powerless")
    make_inputs(work)
    losses, kept = 0, 0
    journal = os.path.join(work, "journal")
    while losses < count:
        job = Job(work, 1 + losses % 2)
        for _ in range(random.randint(1, 2)):
            disk = powerloss.Disk(job.tree)
            how = powerloss.MODES[losses % len(powerloss.MODES)]
            off_at = random.randint(1, 250)
            result = job.go(shim_environment(job.tree, journal, off_at))
            must(result.status in (-9, 0), f"ends with {result.status}: {result.err[-800:]}")
            if result.status == 0:
                break
            disk.replay(journal)
            os.remove(journal)
            powerloss.roll_back(disk, how, f"{losses}")
            losses += 1
        job.finish()
        kept += job.rows_kept
    must(kept > 0, "no job ever went on from a checkpoint")
    return f"{losses} losses, {kept // 1000}k rows not read again"


def cases(case):
    case("job: checkpoints of an undisturbed run", uninterrupted)
    case("job: an unfinished one wants --resume or --fresh", refused_without_a_word)
    case("job: kill -9, parallelism 1, inputs deleted", killed, counts(20, 300), 1)
    case("job: kill -9, parallelism 2", killed, counts(12, 200), 2)
    case("job: failing file system", failing, counts(11, 110))
    case("job: power loss", powerless, counts(15, 300))
