# SPDX-License-Identifier: Apache-2.0
"""What a disk holds after a power failure, from the journal that powerloss.c wrote.

A Disk has two states: what the running system sees, and what is durable. The model is
POSIX's, which promises less than any file system does:

    bytes of a file      are durable after fsync or fdatasync of the file; the file's name is not
    names in a directory are durable after fsync of that directory; what the files hold is not
    rename               within a directory both names change at once, or neither

What was not synced may or may not be there. `power_off` decides it in one of the ways of MODES:

    nothing   everything that was not synced is lost
    names     all changes of names are there, no bytes that were not synced are: empty files
    random    of every file and directory a random prefix of what was not synced is there; the last
              write may be there in part

A file is what an open file is, whatever its name: renaming and removing do not touch its bytes.
"""
import os
import random
import shutil
import struct

MODES = ("nothing", "names", "random")

OPEN, CLOSE, WRITE, TRUNCATE, SYNC, RENAME, UNLINK, LINK, MKDIR, RMDIR, MAPPED = range(1, 12)
HEAD = struct.Struct("=IIQII")
O_CREAT, O_TRUNC = os.O_CREAT, os.O_TRUNC


def read_journal(path):
    """The records of a journal; a last one that was cut by the kill is dropped."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + HEAD.size <= len(data):
        kind, descriptor, offset, a_bytes, b_bytes = HEAD.unpack_from(data, at)
        end = at + HEAD.size + a_bytes + b_bytes
        if end > len(data):
            return
        a = data[at + HEAD.size : at + HEAD.size + a_bytes]
        yield kind, descriptor, offset, a, data[end - b_bytes : end]
        at = end


class File:
    def __init__(self, data=b""):
        self.data = bytearray(data)
        self.durable = bytes(data)
        self.pending = []  # (offset, bytes), or (size, None) for a truncation

    @staticmethod
    def apply(data, change):
        offset, written = change
        if written is None:
            del data[offset:]
            data.extend(b"\0" * (offset - len(data)))
            return
        data.extend(b"\0" * (offset - len(data)))
        data[offset : offset + len(written)] = written

    def change(self, offset, written):
        self.apply(self.data, (offset, written))
        self.pending.append((offset, written))

    def sync(self):
        self.durable = bytes(self.data)
        self.pending = []

    def after(self, mode, rng):
        if mode != "random" or not self.pending:
            return self.durable
        data = bytearray(self.durable)
        kept = rng.randint(0, len(self.pending))
        for change in self.pending[:kept]:
            self.apply(data, change)
        if kept < len(self.pending) and self.pending[kept][1]:
            offset, written = self.pending[kept]
            self.apply(data, (offset, written[: rng.randint(0, len(written))]))
        return bytes(data)


class Directory:
    def __init__(self):
        self.entries = {}
        self.durable = {}
        self.pending = []  # dictionaries name -> node or None, each applied whole

    def change(self, changes):
        self.apply(self.entries, changes)
        self.pending.append(changes)

    @staticmethod
    def apply(entries, changes):
        for name, node in changes.items():
            if node is None:
                entries.pop(name, None)
            else:
                entries[name] = node

    def sync(self):
        self.durable = dict(self.entries)
        self.pending = []

    def after(self, mode, rng):
        entries = dict(self.durable)
        kept = {"nothing": 0, "names": len(self.pending)}.get(mode)
        if kept is None:
            kept = rng.randint(0, len(self.pending))
        for changes in self.pending[:kept]:
            self.apply(entries, changes)
        return entries


class Disk:
    def __init__(self, root):
        """Starts from what is below root now, all of it durable."""
        self.root = root
        self.top = self._load(root)
        self.open = {}
        self.syncs = 0

    def _load(self, path):
        directory = Directory()
        for entry in os.scandir(path):
            if entry.is_dir(follow_symlinks=False):
                directory.entries[entry.name] = self._load(entry.path)
            else:
                with open(entry.path, "rb") as file:
                    directory.entries[entry.name] = File(file.read())
        directory.sync()
        return directory

    def _find(self, path):
        """(directory, name, node); the directory is None where there is none in the tree."""
        if path == self.root:
            return None, "", self.top
        if not path.startswith(self.root + "/"):
            return None, "", None
        *parents, name = path[len(self.root) + 1 :].split("/")
        at = self.top
        for parent in parents:
            at = at.entries.get(parent) if isinstance(at, Directory) else None
        if not isinstance(at, Directory):
            return None, name, None
        return at, name, at.entries.get(name)

    def _open(self, descriptor, path, flags):
        directory, name, node = self._find(path)
        if node is None and directory is not None and flags & O_CREAT:
            node = File()
            directory.change({name: node})
        elif isinstance(node, File) and flags & O_TRUNC and node.data:
            node.change(0, None)
        self.open[descriptor] = node  # None: made by stdio, which the shim does not see

    def _rename(self, source, target):
        from_dir, from_name, node = self._find(source)
        to_dir, to_name, _ = self._find(target)
        if to_dir is None or from_dir is None:
            raise ValueError(f"a rename across the tree's edge: {source} to {target}")
        if from_dir is to_dir:
            to_dir.change({from_name: None, to_name: node})
        else:
            to_dir.change({to_name: node})
            from_dir.change({from_name: None})

    def step(self, kind, descriptor, offset, a, b):
        if kind in (OPEN, RENAME, UNLINK, LINK, MKDIR, RMDIR):
            a, b = os.fsdecode(a), os.fsdecode(b)
        node = self.open.get(descriptor)
        if kind == OPEN:
            self._open(descriptor, a, offset)
        elif kind == CLOSE:
            self.open.pop(descriptor, None)
        elif kind == WRITE and node is not None:
            node.change(offset, a)
        elif kind == TRUNCATE and node is not None:
            node.change(offset, None)
        elif kind == SYNC and node is not None:
            self.syncs += 1
            node.sync()
        elif kind == RENAME:
            self._rename(a, b)
        elif kind in (UNLINK, RMDIR):
            directory, name, _ = self._find(a)
            if directory is not None:
                directory.change({name: None})
        elif kind == LINK:
            directory, name, _ = self._find(b)
            directory.change({name: self._find(a)[2]})
        elif kind == MKDIR:
            directory, name, _ = self._find(a)
            if directory is not None:
                directory.change({name: Directory()})
        elif kind == MAPPED:
            raise ValueError("a file is written through a mapping, which is not simulated")

    def replay(self, journal, deaf_to=()):
        """Applies a journal; returns the number of its records.

        deaf_to: File, Directory or both; syncing them does nothing, as if the program had not
        asked for it.
        """
        count = 0
        for record in read_journal(journal):
            is_sync = record[0] == SYNC
            if not is_sync or not isinstance(self.open.get(record[1]), deaf_to):
                self.step(*record)
            count += 1
        return count

    def power_off(self, target, mode, seed):
        """Writes what the disk holds into the new directory target."""
        rng = random.Random(seed)
        self._write(self.top, target, mode, rng)

    def _write(self, directory, path, mode, rng):
        os.mkdir(path, 0o700)
        for name, node in sorted(directory.after(mode, rng).items()):
            below = os.path.join(path, name)
            if isinstance(node, Directory):
                self._write(node, below, mode, rng)
            else:
                with open(below, "wb") as file:
                    file.write(node.after(mode, rng))

    def differences(self, is_ignored):
        """Where the tree as the system sees it and the real one differ: what the shim missed."""
        found = []
        self._compare(self.top, self.root, is_ignored, found)
        return found

    def _compare(self, directory, path, is_ignored, found):
        real = {name for name in os.listdir(path) if not is_ignored(name)}
        known = {name for name in directory.entries if not is_ignored(name)}
        found.extend(os.path.join(path, name) for name in sorted(real ^ known))
        for name in sorted(real & known):
            node, below = directory.entries[name], os.path.join(path, name)
            if isinstance(node, Directory):
                self._compare(node, below, is_ignored, found)
            else:
                with open(below, "rb") as file:
                    if file.read() != bytes(node.data):
                        found.append(below)


def roll_back(disk, mode, seed):
    """Puts what the disk holds in the place of the tree itself."""
    after = disk.root + ".after"
    disk.power_off(after, mode, seed)
    shutil.rmtree(disk.root)
    os.rename(after, disk.root)
