# SPDX-License-Identifier: Apache-2.0
"""A small Flink in the JVM of PyFlink, and table environments that run their jobs on it."""
import re

from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.version import __version__ as VERSION

from rows import Converter

PORT = "18099"
SET = re.compile(r"^\s*SET\s+'([^']*)'\s*=\s*'([^']*)'\s*$", re.I)


class Refused(Exception):
    """Flink does not take a statement, or fails while it runs."""


class Cluster:
    """One task manager with room for any golden query."""

    def __init__(self):
        self.jvm = get_gateway().jvm
        configuration = self.jvm.org.apache.flink.configuration.Configuration()
        for key, value in (
            ("rest.address", "localhost"),
            ("rest.port", PORT),
            ("rest.bind-port", PORT),
            ("taskmanager.numberOfTaskSlots", "16"),
        ):
            configuration.setString(key, value)
        mini = self.jvm.org.apache.flink.runtime.minicluster
        builder = mini.MiniClusterConfiguration.Builder()
        builder.setConfiguration(configuration).setNumTaskManagers(1).setNumSlotsPerTaskManager(16)
        self.cluster = mini.MiniCluster(builder.build())
        self.cluster.start()

    def close(self):
        self.cluster.close()


def split(text):
    """The statements of a text; a STATEMENT SET is one."""
    parts, start, quote = [], 0, None
    if re.match(r"\s*EXECUTE\s+STATEMENT\s+SET", text, re.I):
        return [text.strip().rstrip(";")]
    for at, char in enumerate(text):
        if quote:
            quote = None if char == quote else quote
        elif char in "'`\"":
            quote = char
        elif char == ";":
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in parts + [text[start:]] if part.strip()]


class Session:
    """A table environment in one runtime mode."""

    def __init__(self, cluster, is_batch):
        settings = EnvironmentSettings.new_instance()
        settings = settings.in_batch_mode() if is_batch else settings.in_streaming_mode()
        self.env = TableEnvironment.create(settings.build())
        self.jvm = cluster.jvm
        self.converter = Converter(cluster.jvm)
        for key, value in (
            ("execution.target", "remote"),
            ("rest.address", "localhost"),
            ("rest.port", PORT),
            ("parallelism.default", "1"),
            ("table.local-time-zone", "UTC"),
            ("table.dml-sync", "true"),
        ):
            self.env.get_config().set(key, value)

    def execute(self, sql):
        """Runs statements; the changes of the last one that has rows: (kind, row)."""
        changes = []
        try:
            for statement in split(sql):
                match = SET.match(statement)
                if match:
                    self.env.get_config().set(match.group(1), match.group(2))
                else:
                    changes = self._rows(self.env.execute_sql(statement)._j_table_result)
        except Exception as error:  # py4j's errors have no common type of ours
            raise Refused(first_cause(error)) from None
        return changes

    def printed(self, sql):
        """The lines that a statement prints in the JVM."""
        system = self.jvm.java.lang.System
        out, bytes_out = system.out, self.jvm.java.io.ByteArrayOutputStream()
        try:
            system.setOut(self.jvm.java.io.PrintStream(bytes_out, True, "UTF-8"))
            getattr(self.env.execute_sql(sql)._j_table_result, "print")()
        except Exception as error:  # as above
            raise Refused(first_cause(error)) from None
        finally:
            system.setOut(out)
        return bytes_out.toString("UTF-8").rstrip("\n").split("\n")

    def _rows(self, result):
        columns = list(result.getResolvedSchema().getColumns())
        types = [column.getDataType().getLogicalType() for column in columns]
        names = [column.getName() for column in columns]
        changes = []
        iterator = result.collect()
        while iterator.hasNext():
            row = iterator.next()
            cells = tuple(
                (name, self.converter.value(row.getField(i), types[i]))
                for i, name in enumerate(names)
            )
            changes.append((row.getKind().shortString(), cells))
        iterator.close()
        return changes


def first_cause(error):
    """The message of the innermost cause of an error of Java."""
    java = getattr(error, "java_exception", None)
    if java is None:
        return str(error).strip().split("\n")[0]
    causes = []
    while java is not None and len(causes) < 20:
        causes.append(f"{java.getClass().getSimpleName()}: {java.getMessage()}")
        java = java.getCause()
    return re.sub(r"\s+", " ", causes[-1])[:400]
