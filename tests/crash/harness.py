# SPDX-License-Identifier: Apache-2.0
"""What the crash tests share: where things are, counting, running programs that get killed."""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release")
PROGRAM = os.path.join(BUILD, "millstream")
WRITER = os.path.join(BUILD, "tests/crash/store_writer")
SHIM = os.path.join(BUILD, "tests/crash/libpowerloss.so")
SCARCE = os.path.join(BUILD, "tests/crash/libscarce.so")
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NIGHTLY = os.environ.get("MS_NIGHTLY") == "1"
SEED = int(os.environ.get("MS_SEED", "1"))
TIMEOUT_S = 120

passed = 0
failed = 0


class Failure(Exception):
    """Something that does not hold; the text says what, and where the remains are."""


def rng(name):
    """Random numbers that follow from MS_SEED and the name of a case."""
    return random.Random(f"{SEED} {name}")


def counts(ci, nightly):
    return nightly if NIGHTLY else ci


def must(holds, text):
    if not holds:
        raise Failure(text)


def case(name, body, *args):
    """Runs one case in a directory of its own, which stays when the case fails."""
    global passed, failed
    work = tempfile.mkdtemp(prefix="millstream-crash-")
    start = time.monotonic()
    try:
        note = body(work, *args) or ""
        passed += 1
        shutil.rmtree(work, ignore_errors=True)
        print(f"passed  {name} ({time.monotonic() - start:.1f} s) {note}".rstrip(), flush=True)
    except (Failure, ValueError, OSError, subprocess.SubprocessError) as error:
        failed += 1
        print(f"FAILED  {name}: {error}\n        remains: {work}", flush=True)


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def environment(**more):
    """A clean environment: no faults, no seeds, no shim but what is asked for."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MS_", "MILLSTREAM_"))}
    kept.pop("LD_PRELOAD", None)
    kept.update({k: str(v) for k, v in more.items()})
    return kept


def shim_environment(root, journal, off_at, **more):
    return environment(
        LD_PRELOAD=SHIM, MS_POWER_ROOT=root, MS_POWER_JOURNAL=journal, MS_POWER_OFF=off_at, **more
    )


def run(command, env, kill_after=None, cwd=None, limit=None):
    """Runs a command and kills it after so many seconds; (status, stdout, stderr), -9: killed.
    limit is called in the new process, before the command."""
    process = subprocess.Popen(
        command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=limit,
    )
    try:
        out, err = process.communicate(timeout=kill_after if kill_after is not None else TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        if kill_after is None:
            said = err.decode(errors="replace")[-500:]
            raise Failure(f"{' '.join(command)} hangs; standard error: {said}") from None
    return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")
