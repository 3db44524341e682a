# SPDX-License-Identifier: Apache-2.0
"""Rows of Flink as Millstream prints them: values by their logical type, and the lines of JSON.

Both sides become the same Python values: an object is a tuple of (name, value), a number is its
text. So 1 and 1.0 differ, and the order of columns counts; that of the entries of a MAP does not.
"""
import base64
import json
import struct
from decimal import Decimal


class Number(str):
    """A number as it is written."""


class Entries(frozenset):
    """The entries of a map with text keys, in no order."""


def parse_line(line):
    """A line of JSON; what is no line of JSON stays text."""
    try:
        return json.loads(
            line,
            parse_int=Number,
            parse_float=Number,
            object_pairs_hook=lambda pairs: tuple((k, freeze(v)) for k, v in pairs),
        )
    except ValueError:
        return line


def freeze(value):
    return tuple(freeze(v) for v in value) if isinstance(value, list) else value


def java_double(value, digits):
    """Java's layout (as of JDK 19) of the shortest digits that read back."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
    sign, ds, exponent = Decimal(digits).as_tuple()
    text = "".join(map(str, ds)).lstrip("0")
    minus = "-" if sign else ""
    if not text:
        return Number(minus + "0.0")
    exponent += len(text)  # 0.text * 10^exponent
    text = text.rstrip("0")
    if -3 < exponent <= 7:
        if exponent <= 0:
            return Number(f"{minus}0.{'0' * -exponent}{text}")
        whole = text[:exponent].ljust(exponent, "0")
        return Number(f"{minus}{whole}.{text[exponent:] or '0'}")
    return Number(f"{minus}{text[0]}.{text[1:] or '0'}E{exponent - 1}")


def shortest_float(value):
    """The shortest digits that read back as the same 32-bit number."""
    if value != value or value in (float("inf"), float("-inf")):
        return repr(value)
    packed = struct.pack("f", value)
    for precision in range(1, 10):
        digits = f"{value:.{precision}g}"
        if struct.pack("f", float(digits)) == packed:
            return digits
    return repr(value)


def fraction(nanos, precision):
    return "" if precision == 0 else "." + f"{nanos:09}"[:precision]


def date_text(java):
    year = java.getYear()
    text = f"-{-year:04}" if year < 0 else f"{year:04}"
    return f"{text}-{java.getMonthValue():02}-{java.getDayOfMonth():02}"


def time_text(java, precision):
    text = f"{java.getHour():02}:{java.getMinute():02}:{java.getSecond():02}"
    return text + fraction(java.getNano(), precision)


def timestamp_text(java, precision):
    return f"{date_text(java)} {time_text(java, precision)}"


def interval_text(kind, java):
    """As CAST prints intervals."""
    if kind == "INTERVAL_YEAR_MONTH":
        months = java.toTotalMonths()
        sign = "-" if months < 0 else "+"
        return f"{sign}{abs(months) // 12}-{abs(months) % 12:02}"
    ms = java.toMillis()
    sign, ms = ("-" if ms < 0 else "+"), abs(ms)
    days, ms = divmod(ms, 86400000)
    return (
        f"{sign}{days} {ms // 3600000:02}:{ms // 60000 % 60:02}:{ms // 1000 % 60:02}.{ms % 1000:03}"
    )


TEXTS = ("CHAR", "VARCHAR")


class Converter:
    """Turns values of one result into Python values."""

    def __init__(self, jvm):
        self.jvm = jvm

    def value(self, java, logical):
        if java is None:
            return None
        kind = logical.getTypeRoot().name()
        scalar = self.scalar(kind, java, logical)
        return scalar if scalar is not None else self.composite(kind, java, logical)

    def scalar(self, kind, java, logical):
        if kind == "BOOLEAN":
            return java
        if kind in TEXTS:
            return str(java)
        if kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT"):
            return Number(java)
        if kind == "DOUBLE":
            return java_double(java, repr(java))
        if kind == "FLOAT":
            return java_double(java, shortest_float(java))
        if kind == "DECIMAL":
            return f"{java:f}"
        if kind in ("BINARY", "VARBINARY"):
            return base64.b64encode(bytes(java)).decode("ascii")
        return self.time(kind, java, logical)

    def time(self, kind, java, logical):
        if kind == "DATE":
            return date_text(java)
        if kind == "TIME_WITHOUT_TIME_ZONE":
            return time_text(java, logical.getPrecision())
        if kind == "TIMESTAMP_WITHOUT_TIME_ZONE":
            return timestamp_text(java, logical.getPrecision())
        if kind == "TIMESTAMP_WITH_LOCAL_TIME_ZONE":
            utc = java.atOffset(self.jvm.java.time.ZoneOffset.UTC)
            return timestamp_text(utc, logical.getPrecision()) + "Z"
        if kind.startswith("INTERVAL"):
            return interval_text(kind, java)
        return None

    def composite(self, kind, java, logical):
        children = logical.getChildren()
        if kind == "ARRAY":
            items = list(java)
            return tuple(self.value(item, children[0]) for item in items)
        if kind in ("MAP", "MULTISET"):
            return self.entries(kind, java, children)
        if kind == "ROW":
            names = list(logical.getFieldNames())
            return tuple(
                (name, self.value(java.getField(i), children[i])) for i, name in enumerate(names)
            )
        return str(java)

    def entries(self, kind, java, children):
        pairs = []
        for entry in java.entrySet():
            key = self.value(entry.getKey(), children[0])
            count = Number(entry.getValue()) if kind == "MULTISET" else None
            value = count or self.value(entry.getValue(), children[1])
            pairs.append((key, value))
        if kind == "MAP" and children[0].getTypeRoot().name() in TEXTS:
            return Entries(pairs)
        name = "value" if kind == "MAP" else "count"
        return tuple((("key", key), (name, value)) for key, value in pairs)


def equal(ours, theirs):
    """Equal values; a map of theirs against an object of ours in any order."""
    if isinstance(theirs, Entries):
        if not isinstance(ours, tuple) or len(ours) != len(theirs):
            return False
        rest = list(theirs)
        for key, value in ours:
            found = next((p for p in rest if p[0] == key and equal(value, p[1])), None)
            if found is None:
                return False
            rest.remove(found)
        return True
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(map(equal, ours, theirs))
    return type(ours) is type(theirs) and ours == theirs


def same_rows(ours, theirs, in_order):
    if len(ours) != len(theirs):
        return False
    if in_order:
        return all(map(equal, ours, theirs))
    rest = list(theirs)
    for row in ours:
        found = next((i for i, other in enumerate(rest) if equal(row, other)), None)
        if found is None:
            return False
        del rest[found]
    return True


def fold(changes):
    """The rows that are left of changes, in the order in which they came."""
    left = []
    for kind, row in changes:
        if kind in ("+I", "+U"):
            left.append(row)
        else:
            left.remove(row)
    return left
