#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Google's Python client against a running server; BIGTABLE_EMULATOR_HOST says where it is.

Prints a line a case and ends with "N passed, N failed". Needs google-cloud-bigtable.
"""
import datetime
import sys
import traceback

from google.api_core import exceptions
from google.cloud import bigtable
from google.cloud.bigtable import column_family, row_filters, row_set

PASSED = []
FAILED = []


def case(function):
    """Runs a case at once and counts it."""
    try:
        function()
        PASSED.append(function.__name__)
        print(f"passed  {function.__name__}")
    except Exception:  # pylint: disable=broad-except
        FAILED.append(function.__name__)
        print(f"FAILED  {function.__name__}")
        traceback.print_exc()


def same(found, wanted):
    assert found == wanted, f"{found!r} is not {wanted!r}"


client = bigtable.Client(project="conformance", admin=True)
instance = client.instance("python")
table = instance.table("people")


def cells(row):
    return [
        (family, qualifier, cell.value, cell.timestamp_micros, tuple(cell.labels))
        for family, columns in sorted(row.cells.items())
        for qualifier, values in sorted(columns.items())
        for cell in values
    ]


@case
def create_and_list():
    if table.exists():
        table.delete()
    table.create(
        column_families={
            "cf": column_family.MaxVersionsGCRule(3),
            "other": column_family.MaxAgeGCRule(datetime.timedelta(days=5)),
        },
        initial_split_keys=[b"m"],
    )
    same(sorted(table.list_column_families()), ["cf", "other"])
    assert "people" in [t.table_id for t in instance.list_tables()]


@case
def creating_again_is_already_exists():
    try:
        table.create()
    except exceptions.AlreadyExists:
        return
    raise AssertionError("it was created twice")


@case
def bulk_write():
    rows = []
    moment = datetime.datetime.fromtimestamp(1000, datetime.timezone.utc)
    for i in range(2000):
        row = table.direct_row(b"row-%05d" % i)
        row.set_cell("cf", b"n", b"%d" % i, timestamp=moment)
        row.set_cell("other", b"even", b"yes" if i % 2 == 0 else b"no")
        rows.append(row)
    for start in range(0, len(rows), 500):
        statuses = table.mutate_rows(rows[start : start + 500])
        same([s.code for s in statuses if s.code != 0], [])
    same(sum(1 for _ in table.read_rows()), 2000)


@case
def one_row():
    row = table.read_row(b"row-00007")
    same(row.cell_value("cf", b"n"), b"7")
    same(row.cells["cf"][b"n"][0].timestamp_micros, 1000 * 1000000)
    assert table.read_row(b"row-x") is None


@case
def ranges_and_keys():
    rows = row_set.RowSet()
    rows.add_row_range_from_keys(b"row-00010", b"row-00013")
    rows.add_row_key(b"row-00100")
    rows.add_row_key(b"row-00011")
    found = [r.row_key for r in table.read_rows(row_set=rows)]
    same(found, [b"row-00010", b"row-00011", b"row-00012", b"row-00100"])


@case
def limits():
    same(len(list(table.read_rows(limit=17))), 17)


@case
def filters():
    chain = row_filters.RowFilterChain(
        [
            row_filters.RowKeyRegexFilter(b"row-0000."),
            row_filters.FamilyNameRegexFilter("cf"),
            row_filters.ColumnQualifierRegexFilter(b"n"),
            row_filters.ValueRegexFilter(b"[3-5]"),
        ]
    )
    same([r.cell_value("cf", b"n") for r in table.read_rows(filter_=chain)], [b"3", b"4", b"5"])
    union = row_filters.RowFilterUnion(
        [
            row_filters.ValueRangeFilter(b"1999", b"1999"),
            row_filters.RowFilterChain(
                [
                    row_filters.ColumnRangeFilter("cf", b"n", b"n"),
                    row_filters.ExactValueFilter(b"5"),
                    row_filters.ApplyLabelFilter("five"),
                ]
            ),
        ]
    )
    found = [cells(r) for r in table.read_rows(filter_=union)]
    same(
        found,
        [[("cf", b"n", b"5", 1000000000, ("five",))], [("cf", b"n", b"1999", 1000000000, ())]],
    )
    condition = row_filters.ConditionalRowFilter(
        predicate_filter=row_filters.ExactValueFilter(b"yes"),
        true_filter=row_filters.PassAllFilter(True),
        false_filter=row_filters.BlockAllFilter(True),
    )
    same(len(list(table.read_rows(end_key=b"row-00010", filter_=condition))), 5)
    strip = row_filters.RowFilterChain(
        [row_filters.CellsRowLimitFilter(1), row_filters.StripValueTransformerFilter(True)]
    )
    same([cells(r)[0][2] for r in table.read_rows(limit=2, filter_=strip)], [b"", b""])


@case
def a_bad_filter_is_invalid_argument():
    try:
        list(table.read_rows(filter_=row_filters.ValueRegexFilter(b"[a")))
    except exceptions.InvalidArgument:
        return
    raise AssertionError("it was taken")


@case
def an_unknown_family_is_not_found():
    row = table.direct_row(b"x")
    row.set_cell("nope", b"q", b"v")
    statuses = table.mutate_rows([row])
    same([s.code for s in statuses], [5])


@case
def check_and_mutate():
    row = table.conditional_row(b"cas", row_filters.ExactValueFilter(b"1"))
    row.set_cell("cf", b"q", b"was one", state=True)
    row.set_cell("cf", b"q", b"1", state=False)
    same(row.commit(), False)
    row = table.conditional_row(b"cas", row_filters.ExactValueFilter(b"1"))
    row.set_cell("cf", b"r", b"was one", state=True)
    same(row.commit(), True)
    same(table.read_row(b"cas").cell_value("cf", b"r"), b"was one")


@case
def read_modify_write():
    row = table.append_row(b"counter")
    row.increment_cell_value("cf", b"n", 5)
    row.append_cell_value("cf", b"s", b"ab")
    result = row.commit()
    same(result["cf"][b"n"][0][0], (5).to_bytes(8, "big"))
    row = table.append_row(b"counter")
    row.increment_cell_value("cf", b"n", -7)
    row.append_cell_value("cf", b"s", b"cd")
    result = row.commit()
    same(result["cf"][b"n"][0][0], (-2).to_bytes(8, "big", signed=True))
    same(result["cf"][b"s"][0][0], b"abcd")


@case
def an_increment_of_text_is_refused():
    row = table.direct_row(b"text")
    row.set_cell("cf", b"n", b"1")
    row.commit()
    row = table.append_row(b"text")
    row.increment_cell_value("cf", b"n", 1)
    try:
        row.commit()
    except exceptions.FailedPrecondition:
        return
    raise AssertionError("it was incremented")


@case
def deletes():
    row = table.direct_row(b"gone")
    row.set_cell("cf", b"a", b"1")
    row.set_cell("cf", b"b", b"2")
    row.set_cell("other", b"c", b"3")
    row.commit()
    row = table.direct_row(b"gone")
    row.delete_cell("cf", b"a")
    row.commit()
    same([c[1] for c in cells(table.read_row(b"gone"))], [b"b", b"c"])
    row = table.direct_row(b"gone")
    row.delete_cells("cf", row.ALL_COLUMNS)
    row.commit()
    same([c[1] for c in cells(table.read_row(b"gone"))], [b"c"])
    row = table.direct_row(b"gone")
    row.delete()
    row.commit()
    assert table.read_row(b"gone") is None


@case
def large_values():
    # With an emulator this client takes messages of at most 4 MiB, and a row is one message.
    value = bytes(range(256)) * 15000
    row = table.direct_row(b"large")
    row.set_cell("cf", b"v", value)
    row.commit()
    same(table.read_row(b"large").cell_value("cf", b"v") == value, True)


@case
def samples():
    keys = [s.row_key for s in table.sample_row_keys()]
    same(keys[-1], b"")
    assert b"m" in keys, keys


@case
def families():
    family = table.column_family("third", column_family.MaxVersionsGCRule(1))
    family.create()
    assert "third" in table.list_column_families()
    family.gc_rule = column_family.MaxVersionsGCRule(9)
    family.update()
    family.delete()
    assert "third" not in table.list_column_families()


@case
def dropping_rows():
    table.drop_by_prefix(b"row-00")
    same(sum(1 for r in table.read_rows() if r.row_key.startswith(b"row-00")), 0)
    table.truncate()
    same(list(table.read_rows()), [])


@case
def app_profiles():
    profile = instance.app_profile(
        "one", routing_policy_type=2, cluster_id="local-c1", allow_transactional_writes=True,
        description="test",
    )
    if profile.exists():
        profile.delete(ignore_warnings=True)
    profile.create(ignore_warnings=True)
    assert "one" in [p.app_profile_id for p in instance.list_app_profiles()]
    profile.reload()
    same(profile.description, "test")
    profile.delete(ignore_warnings=True)


@case
def transactions_need_the_profile():
    profile = instance.app_profile("many", routing_policy_type=1)
    if not profile.exists():
        profile.create(ignore_warnings=True)
    row = instance.table("people", app_profile_id="many").append_row(b"x")
    row.increment_cell_value("cf", b"n", 1)
    try:
        row.commit()
    except exceptions.FailedPrecondition as refused:
        assert "Single-row transactions are not allowed" in str(refused), refused
        return
    raise AssertionError("it was taken")


@case
def dropping_the_table():
    table.delete()
    assert not table.exists()


print(f"{len(PASSED)} passed, {len(FAILED)} failed")
sys.exit(1 if FAILED else 0)
