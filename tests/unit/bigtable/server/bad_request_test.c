/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bad requests against a server that runs: each row of the service's error table and each limit,
 * with the status and the text of the answer. After each the server answers a good request, and
 * nothing of the bad one was written. Fields are by the numbers of wire/proto.
 *
 * A row of the error table that cannot come up: a plan that has expired, as there are no queries.
 * Limits without an error here are those of what is not built (views, schemas of keys) and those
 * of how much a catalog and the queue hold, which are in store/limits_test.c.
 */
#include "bigtable/server/server_testing.h"
#include "bigtable/store/change_testing.h"

#define TABLETS "millstream.bigtable.v1.Tablets/"
#define NO_TABLE INSTANCE "/tables/none"
#define NOWHERE "projects/p/instances/nowhere"

/* Good rows stand before and behind the bad one. */
#define FILTER(text) T "3{" text "}"
#define RANGES(text) T "2{" text "}"
#define MUTATE(text) T "2'bad' 3{" text "}"
#define ENTRIES(text)                                                                              \
    T "2{1'before' 2{" SET_OK "}} 2{1'bad' 2{" text "}} 2{1'behind' 2{" SET_OK "}}"
#define CHECK(text) T "2'bad' 4{" text "}"
#define RULES(text) T "2'bad' 3{" text "}"

#define IN_LIST "Error in Mutation list : Error in element #0 : "
#define MISMATCH(n)                                                                                \
    IN_LIST "Timestamp granularity mismatch. Expected a multiple of 1000 (millisecond "            \
            "granularity), but got " n "."
#define NO_FAMILY(key)                                                                             \
    "Error while mutating the row '" key "' (" TABLE ") : Requested column family not found."
#define NO_READ_FAMILY "Error while reading table '" TABLE "' : Requested column family not found"
#define NOT_FOUND_TABLE "table \"" NO_TABLE "\" not found"
#define NO_INSTANCE "No tables found for instance " NOWHERE
#define BAD_RANGE                                                                                  \
    "Error in field 'row_ranges' : Error in element #0 : start_key must be less than end_key"
#define IN_CONDITION(branch)                                                                       \
    "Error in field 'condition filter " branch "' : sink cannot be nested in a condition filter"
#define NO_TRANSACTIONS "Single-row transactions are not allowed by this app profile"
#define PARTITION "partition.row_range must be the form of [start_key, end_key)"
#define REVERSE "Client doesn't support reverse scans yet"
#define NO_KEY "Row keys must be non-empty"
#define NO_MUTATIONS "No mutations provided"
#define A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NO_CLUSTER "cluster \"" INSTANCE "/clusters/none\" not found"
#define NO_VIEWS "Views of tables are not supported"

/* The error table. */
static const bad_request errors[] = {
    {"empty row key", DATA "MutateRow", T "3{" SET_OK "}", MS_GRPC_INVALID_ARGUMENT, NO_KEY, 0},
    {"empty row key of an entry", DATA "MutateRows", T "2{1'a' 2{" SET_OK "}} 2{2{" SET_OK "}}",
     MS_GRPC_INVALID_ARGUMENT, NO_KEY, 0},
    {"empty row key to read", DATA "ReadRows", T "2{1'' 1'a'}", MS_GRPC_INVALID_ARGUMENT, NO_KEY,
     0},
    {"empty row key to check", DATA "CheckAndMutateRow", T "4{" SET_OK "}",
     MS_GRPC_INVALID_ARGUMENT, NO_KEY, 0},
    {"empty row key to modify", DATA "ReadModifyWriteRow", T "3{1'cf' 4#1}",
     MS_GRPC_INVALID_ARGUMENT, NO_KEY, 0},

    {"precision", DATA "MutateRow", MUTATE("1{1'cf' 2'q' 3#32685506681}"), MS_GRPC_INVALID_ARGUMENT,
     MISMATCH("32685506681"), 0},
    {"precision of an entry", DATA "MutateRows", ENTRIES("1{1'cf' 2'q' 3#1001}"),
     MS_GRPC_INVALID_ARGUMENT, MISMATCH("1001"), 0},
    {"precision of a branch", DATA "CheckAndMutateRow", CHECK("1{1'cf' 2'q' 3#1}"),
     MS_GRPC_INVALID_ARGUMENT, MISMATCH("1"), 0},
    {"precision of the branch not taken", DATA "CheckAndMutateRow",
     T "2'bad' 5{" SET_OK "} 4{1{1'cf' 2'q' 3#1}}", MS_GRPC_INVALID_ARGUMENT, MISMATCH("1"), 0},
    {"precision said to be the user's", DATA "MutateRow", MUTATE("1{1'cf' 3#1} 7#1"),
     MS_GRPC_INVALID_ARGUMENT, MISMATCH("1"), 0},
    {"precision of a start", DATA "MutateRow", MUTATE("2{1'cf' 2'q' 3{1#1}}"),
     MS_GRPC_INVALID_ARGUMENT, MISMATCH("1"), 0},
    {"precision of an end", DATA "MutateRow", MUTATE("2{1'cf' 2'q' 3{2#1001}}"),
     MS_GRPC_INVALID_ARGUMENT, MISMATCH("1001"), 0},
    {"negative time", DATA "MutateRow", MUTATE("1{1'cf' 3#-2}"), MS_GRPC_INVALID_ARGUMENT,
     IN_LIST "Timestamp must not be negative, but got -2.", 0},
    {"inverted times", DATA "MutateRow", MUTATE("2{1'cf' 3{1#2000 2#1000}}"),
     MS_GRPC_INVALID_ARGUMENT, IN_LIST "inverted or invalid timestamp range [2000, 1000]", 0},

    {"too many mutations", DATA "MutateRow", T "2'bad' (3{4{}})*100001", MS_GRPC_INVALID_ARGUMENT,
     "Too many mutations: 100001 provided; limit 100000", 0},
    {"too many mutations of all entries", DATA "MutateRows", T "(2{1'bad' (2{4{}})*24})*5000",
     MS_GRPC_INVALID_ARGUMENT, "Too many mutations: 120000 provided; limit 100000", 0},
    {"too many mutations of a branch", DATA "CheckAndMutateRow", T "2'bad' (5{4{}})*100001",
     MS_GRPC_INVALID_ARGUMENT, "Too many mutations: 100001 provided; limit 100000", 0},
    {"no mutations", DATA "MutateRow", T "2'bad'", MS_GRPC_INVALID_ARGUMENT, NO_MUTATIONS, 0},
    {"no mutations of an entry", DATA "MutateRows", T "2{1'a' 2{" SET_OK "}} 2{1'bad'}",
     MS_GRPC_INVALID_ARGUMENT, NO_MUTATIONS, 0},
    {"no entries", DATA "MutateRows", T, MS_GRPC_INVALID_ARGUMENT, NO_MUTATIONS, 0},
    {"no branches", DATA "CheckAndMutateRow", T "2'bad'", MS_GRPC_INVALID_ARGUMENT, NO_MUTATIONS,
     0},

    {"unknown family", DATA "MutateRow", MUTATE("1{1'zz' 2'q'}"), MS_GRPC_NOT_FOUND,
     NO_FAMILY("bad"), 0},
    {"unknown family of an entry", DATA "MutateRows", ENTRIES("1{1'zz' 2'q'}"), MS_GRPC_NOT_FOUND,
     NO_FAMILY("bad"), 3},
    {"unknown family of a deletion", DATA "MutateRows", ENTRIES("3{1'zz'}"), MS_GRPC_NOT_FOUND,
     NO_FAMILY("bad"), 3},
    {"unknown family of a branch", DATA "CheckAndMutateRow", CHECK("2{1'zz'}"), MS_GRPC_NOT_FOUND,
     NO_FAMILY("bad"), 0},
    {"unknown family of a rule", DATA "ReadModifyWriteRow", RULES("1'zz' 4#1"), MS_GRPC_NOT_FOUND,
     NO_FAMILY("bad"), 0},
    {"unknown family to read", DATA "ReadRows", FILTER("7{1'zz'}"), MS_GRPC_NOT_FOUND,
     NO_READ_FAMILY, 0},
    {"unknown family inside", DATA "ReadRows", FILTER("1{1{11#1} 1{2{1{5'zz'} 1{17#1}}}}"),
     MS_GRPC_NOT_FOUND, NO_READ_FAMILY, 0},
    {"unknown family of a predicate", DATA "CheckAndMutateRow", CHECK(SET_OK) "6{7{1'zz'}}",
     MS_GRPC_NOT_FOUND, NO_READ_FAMILY, 0},

    {"unknown table to write", DATA "MutateRow", "1'" NO_TABLE "' 2'bad' 3{" SET_OK "}",
     MS_GRPC_NOT_FOUND, NOT_FOUND_TABLE, 0},
    {"unknown table of entries", DATA "MutateRows", "1'" NO_TABLE "' (2{1'bad' 2{" SET_OK "}})*2",
     MS_GRPC_NOT_FOUND, NOT_FOUND_TABLE, 2},
    {"unknown table to check", DATA "CheckAndMutateRow", "1'" NO_TABLE "' 2'bad' 4{" SET_OK "}",
     MS_GRPC_NOT_FOUND, NOT_FOUND_TABLE, 0},
    {"unknown table to modify", DATA "ReadModifyWriteRow", "1'" NO_TABLE "' 2'bad' 3{1'cf' 4#1}",
     MS_GRPC_NOT_FOUND, NOT_FOUND_TABLE, 0},
    {"unknown table to read", DATA "ReadRows", "1'" NO_TABLE "'", MS_GRPC_NOT_FOUND,
     NOT_FOUND_TABLE, 0},
    {"unknown table to sample", DATA "SampleRowKeys", "1'" NO_TABLE "'", MS_GRPC_NOT_FOUND,
     NOT_FOUND_TABLE, 0},
    {"unknown table of changes", DATA "ReadChangeStream", "1'" NO_TABLE "' 3{1{1'' 3''}} 4{1#1}",
     MS_GRPC_NOT_FOUND, NOT_FOUND_TABLE, 0},
    {"unknown table of partitions", DATA "GenerateInitialChangeStreamPartitions", "1'" NO_TABLE "'",
     MS_GRPC_NOT_FOUND, NOT_FOUND_TABLE, 0},
    {"instance without tables", DATA "ReadRows", "1'" NOWHERE "/tables/t'", MS_GRPC_NOT_FOUND,
     NO_INSTANCE, 0},
    {"instance without tables, entries", DATA "MutateRows",
     "1'" NOWHERE "/tables/t' 2{1'bad' 2{" SET_OK "}}", MS_GRPC_NOT_FOUND, NO_INSTANCE, 1},
    {"unknown table to get", ADMIN "GetTable", "1'" NO_TABLE "'", MS_GRPC_NOT_FOUND,
     NOT_FOUND_TABLE, 0},
    {"unknown table to delete", ADMIN "DeleteTable", "1'" NO_TABLE "'", MS_GRPC_NOT_FOUND,
     NOT_FOUND_TABLE, 0},
    {"unknown table to modify families", ADMIN "ModifyColumnFamilies",
     "1'" NO_TABLE "' 2{1'x' 2{}}", MS_GRPC_NOT_FOUND, NOT_FOUND_TABLE, 0},
    {"unknown table to drop rows", ADMIN "DropRowRange", "1'" NO_TABLE "' 3#1", MS_GRPC_NOT_FOUND,
     NOT_FOUND_TABLE, 0},
    {"unknown table to split", TABLETS "SplitTablet", "1'" NO_TABLE "' 2'k'", MS_GRPC_NOT_FOUND,
     NOT_FOUND_TABLE, 0},
    {"unknown table to merge", TABLETS "MergeTablets", "1'" NO_TABLE "' 2'k'", MS_GRPC_NOT_FOUND,
     NOT_FOUND_TABLE, 0},
    {"unknown table to collect", TABLETS "CollectGarbage", "1'" NO_TABLE "'", MS_GRPC_NOT_FOUND,
     NOT_FOUND_TABLE, 0},
    {"unknown table to make a token of", ADMIN "GenerateConsistencyToken", "1'" NO_TABLE "'",
     MS_GRPC_NOT_FOUND, NOT_FOUND_TABLE, 0},

    {"inverted range", DATA "ReadRows", RANGES("2{1'b' 3'a'}"), MS_GRPC_INVALID_ARGUMENT, BAD_RANGE,
     0},
    {"empty range", DATA "ReadRows", RANGES("2{1'a' 3'a'}"), MS_GRPC_INVALID_ARGUMENT, BAD_RANGE,
     0},
    {"empty range of open bounds", DATA "ReadRows", RANGES("2{2'a' 4'a'}"),
     MS_GRPC_INVALID_ARGUMENT, BAD_RANGE, 0},
    {"second of two ranges", DATA "ReadRows", RANGES("2{1'a' 3'b'} 2{1'd' 4'c'}"),
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'row_ranges' : Error in element #1 : start_key must be less than end_key", 0},

    {"filter too big", DATA "ReadRows", FILTER("9'v'*20477"), MS_GRPC_INVALID_ARGUMENT,
     "Row filter exceeds maximum size of 20480 bytes", 0},
    {"predicate too big", DATA "CheckAndMutateRow", CHECK(SET_OK) "6{9'v'*20477}",
     MS_GRPC_INVALID_ARGUMENT, "Row filter exceeds maximum size of 20480 bytes", 0},
    {"reverse without the flag", DATA "ReadRows", T "7#1", MS_GRPC_UNIMPLEMENTED, REVERSE, 0},
    {"increment of no number", DATA "ReadModifyWriteRow", T "2'good' 3{1'cf' 2'q' 4#1}",
     MS_GRPC_FAILED_PRECONDITION,
     "Cannot increment value 'v' (family=cf, qualifier=q). The increment operation can only be "
     "performed on 64-bit values",
     0},
    {"increment behind a good rule", DATA "ReadModifyWriteRow",
     T "2'good' 3{1'cf' 2'other' 3'x'} 3{1'cf' 2'q' 4#1}", MS_GRPC_FAILED_PRECONDITION,
     "Cannot increment value 'v' (family=cf, qualifier=q). The increment operation can only be "
     "performed on 64-bit values",
     0},
    {"modification by a profile without transactions", DATA "ReadModifyWriteRow",
     RULES("1'cf' 4#1") "4'plain'", MS_GRPC_FAILED_PRECONDITION, NO_TRANSACTIONS, 0},
    {"check by a profile without transactions", DATA "CheckAndMutateRow", CHECK(SET_OK) "7'multi'",
     MS_GRPC_FAILED_PRECONDITION, NO_TRANSACTIONS, 0},
    {"partition without an end", DATA "ReadChangeStream", T "3{1{1''}} 4{1#1}",
     MS_GRPC_INVALID_ARGUMENT, PARTITION, 0},
    {"partition without a start", DATA "ReadChangeStream", T "3{1{3''}} 4{1#1}",
     MS_GRPC_INVALID_ARGUMENT, PARTITION, 0},
    {"partition with an open start", DATA "ReadChangeStream", T "3{1{2'a' 3'b'}} 4{1#1}",
     MS_GRPC_INVALID_ARGUMENT, PARTITION, 0},
    {"no partition", DATA "ReadChangeStream", T "4{1#1}", MS_GRPC_INVALID_ARGUMENT, PARTITION, 0},
    {"sink in a predicate", DATA "ReadRows", FILTER("3{1{16#1} 2{17#1}}"), MS_GRPC_INVALID_ARGUMENT,
     IN_CONDITION("predicate"), 0},
    {"sink in a branch", DATA "ReadRows", FILTER("3{1{17#1} 2{1{1{17#1} 1{16#1}}}}"),
     MS_GRPC_INVALID_ARGUMENT, IN_CONDITION("true filter"), 0},
    {"sink in the other branch", DATA "ReadRows", FILTER("3{1{17#1} 3{16#1}}"),
     MS_GRPC_INVALID_ARGUMENT, IN_CONDITION("false filter"), 0},
    {"prepared query", DATA "PrepareQuery", "1'" INSTANCE "' 3'SELECT 1'", MS_GRPC_UNIMPLEMENTED,
     "Unknown method /" DATA "PrepareQuery", 0},
    {"query", DATA "ExecuteQuery", "1'" INSTANCE "' 9'plan'", MS_GRPC_UNIMPLEMENTED,
     "Unknown method /" DATA "ExecuteQuery", 0},
    {"table that exists", ADMIN "CreateTable", "1'" INSTANCE "' 2't' 3{}", MS_GRPC_ALREADY_EXISTS,
     "table \"" TABLE "\" already exists", 0},
    {"family that exists", ADMIN "ModifyColumnFamilies", T "2{1'new' 2{}} 2{1'cf' 2{}}",
     MS_GRPC_ALREADY_EXISTS, "family \"cf\" already exists", 0},
    {"family that does not exist", ADMIN "ModifyColumnFamilies", T "2{1'zz' 4#1}",
     MS_GRPC_NOT_FOUND, "family \"zz\" not found", 0},
};

#define CREATE(table) "1'" INSTANCE "' 2'new' 3{" table "}"
#define P32 "pppppppppppppppppppppppppppppppp"
#define FAMILY(rule) CREATE("3{1'f' 2{1{" rule "}}}")
#define NEST(filter) "3{1{" filter "} 2{17#1}}"
#define NEST5(filter) NEST(NEST(NEST(NEST(NEST(filter)))))
#define UNION(rule) "4{1{" rule "} 1{1#1}}"
#define UNION5(rule) UNION(UNION(UNION(UNION(UNION(rule)))))
#define CHANGES_TO_M T "3{1{1'' 3'm'}} "
#define CHANGES(text) T "3{1{1'' 3''}} " text
#define ADD(column, timestamp, input) "5{1'sum' 2{" column "} 3{" timestamp "} 4{" input "}}"

/* Limits, and what the rules of the API refuse. */
static const bad_request limits[] = {
    {"row key", DATA "MutateRow", T "2'k'*4097 3{" SET_OK "}", MS_GRPC_INVALID_ARGUMENT,
     "Row key is 4097 bytes long; limit 4096", 0},
    {"row key of an entry", DATA "MutateRows", T "2{1'k'*4097 2{" SET_OK "}}",
     MS_GRPC_INVALID_ARGUMENT, "Row key is 4097 bytes long; limit 4096", 0},
    {"row key to read", DATA "ReadRows", T "2{1'k'*4097}", MS_GRPC_INVALID_ARGUMENT,
     "Row key is 4097 bytes long; limit 4096", 0},
    {"row key to check", DATA "CheckAndMutateRow", T "2'k'*4097 4{" SET_OK "}",
     MS_GRPC_INVALID_ARGUMENT, "Row key is 4097 bytes long; limit 4096", 0},
    {"row key to modify", DATA "ReadModifyWriteRow", T "2'k'*4097 3{1'cf' 4#1}",
     MS_GRPC_INVALID_ARGUMENT, "Row key is 4097 bytes long; limit 4096", 0},
    {"bound of a range", DATA "ReadRows", RANGES("2{1'k'*4098}"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'row_ranges' : Error in element #0 : a key is longer than 4096 bytes", 0},
    {"qualifier", DATA "MutateRow", MUTATE("1{1'cf' 2'q'*16385}"), MS_GRPC_INVALID_ARGUMENT,
     "Error in Mutation list : Error in element #0 : Column qualifier is 16385 bytes long; limit "
     "16384",
     0},
    {"qualifier of a rule", DATA "ReadModifyWriteRow", RULES("1'cf' 2'q'*16385 4#1"),
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'rules' : Error in element #0 : Column qualifier is 16385 bytes long; limit "
     "16384",
     0},
    {"value", DATA "MutateRow", MUTATE("1{1'cf' 4'v'*104857601}"), MS_GRPC_INVALID_ARGUMENT,
     "Error in Mutation list : Error in element #0 : Cell value is 104857601 bytes long; limit "
     "104857600",
     0},
    {"value of a rule", DATA "ReadModifyWriteRow", RULES("1'cf' 3'v'*104857601"),
     MS_GRPC_INVALID_ARGUMENT, "Cell value is 104857601 bytes long; limit 104857600", 0},
    {"no rules", DATA "ReadModifyWriteRow", T "2'bad'", MS_GRPC_INVALID_ARGUMENT,
     "No rules provided", 0},
    {"rules", DATA "ReadModifyWriteRow", T "2'bad' (3{1'cf' 4#1})*100001", MS_GRPC_INVALID_ARGUMENT,
     "Too many rules: 100001 provided; limit 100000", 0},
    {"rule of nothing", DATA "ReadModifyWriteRow", RULES("1'cf'"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'rules' : Error in element #0 : No rule is set", 0},
    {"rule of an aggregate", DATA "ReadModifyWriteRow", RULES("1'sum' 4#1"),
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'rules' : Error in element #0 : ReadModifyWriteRow cannot write to the "
     "aggregate family 'sum'",
     0},
    {"size of a read", DATA "ReadRows", T "2{(1'00000000')*52426}", MS_GRPC_INVALID_ARGUMENT,
     "Request exceeds maximum size of 524288 bytes", 0},
    {"negative limit", DATA "ReadRows", T "4#-1", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'rows_limit' : must not be negative", 0},
    {"depth of a filter", DATA "ReadRows", FILTER(NEST5(NEST5(NEST5(NEST5("17#1"))))),
     MS_GRPC_INVALID_ARGUMENT, "Row filter is nested more than 20 deep", 0},

    {"chain of one", DATA "ReadRows", FILTER("1{1{17#1}}"), MS_GRPC_INVALID_ARGUMENT,
     "Chain must contain at least two RowFilters", 0},
    {"chain of none", DATA "ReadRows", FILTER("1{}"), MS_GRPC_INVALID_ARGUMENT,
     "Chain must contain at least two RowFilters", 0},
    {"interleave of one", DATA "ReadRows", FILTER("2{1{17#1}}"), MS_GRPC_INVALID_ARGUMENT,
     "Interleave must contain at least two RowFilters", 0},
    {"false pass_all", DATA "ReadRows", FILTER("17#0"), MS_GRPC_INVALID_ARGUMENT,
     "pass_all_filter must be true if set", 0},
    {"false block_all", DATA "ReadRows", FILTER("18#0"), MS_GRPC_INVALID_ARGUMENT,
     "block_all_filter must be true if set", 0},
    {"false sink", DATA "ReadRows", FILTER("16#0"), MS_GRPC_INVALID_ARGUMENT,
     "sink must be true if set", 0},
    {"false strip_value", DATA "ReadRows", FILTER("13#0"), MS_GRPC_INVALID_ARGUMENT,
     "strip_value_transformer must be true if set", 0},
    {"cells per row", DATA "ReadRows", FILTER("11#0"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'cells_per_row_limit_filter' : argument must be > 0", 0},
    {"cells per column", DATA "ReadRows", FILTER("12#-1"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'cells_per_column_limit_filter' : argument must be > 0", 0},
    {"offset in a row", DATA "ReadRows", FILTER("10#-1"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'cells_per_row_offset_filter' : argument must be > 0", 0},
    {"sample of none", DATA "ReadRows", FILTER("14~0"), MS_GRPC_INVALID_ARGUMENT,
     "row_sample_filter argument must be between 0.0 and 1.0", 0},
    {"sample of all", DATA "ReadRows", FILTER("14~1"), MS_GRPC_INVALID_ARGUMENT,
     "row_sample_filter argument must be between 0.0 and 1.0", 0},
    {"sample of no number", DATA "ReadRows", FILTER("14~nan"), MS_GRPC_INVALID_ARGUMENT,
     "row_sample_filter argument must be between 0.0 and 1.0", 0},
    {"empty mask", DATA "ReadRows", FILTER("20{}"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'value_bitmask_filter' : mask must not be empty", 0},
    {"empty label", DATA "ReadRows", FILTER("19''"), MS_GRPC_INVALID_ARGUMENT,
     "apply_label_transformer must match RE2([a-z0-9\\-]+), but found ", 0},
    {"label", DATA "ReadRows", FILTER("19'UPPER LABEL!'"), MS_GRPC_INVALID_ARGUMENT,
     "apply_label_transformer must match RE2([a-z0-9\\-]+), but found UPPER LABEL!", 0},
    {"long label", DATA "ReadRows", FILTER("19'a'*16"), MS_GRPC_INVALID_ARGUMENT,
     "apply_label_transformer must have at most 15 characters, but found 16", 0},
    {"two labels", DATA "ReadRows", FILTER("1{1{19'a'} 1{19'b'}}"), MS_GRPC_INVALID_ARGUMENT,
     "Chain must contain at most one RowFilter with an apply_label_transformer", 0},
    {"expression for keys", DATA "ReadRows", FILTER("4'['"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'row_key_regex_filter' : missing ]: [", 0},
    {"expression for families", DATA "ReadRows", FILTER("5'(*'"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'family_name_regex_filter' : no argument for repetition operator: *", 0},
    {"colon in a family", DATA "ReadRows", FILTER("5'a\\\\:b'"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'family_name_regex_filter' : must not contain ':'", 0},
    {"expression for qualifiers", DATA "ReadRows", FILTER("6'('"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'column_qualifier_regex_filter' : missing ): (", 0},
    {"expression for values", DATA "ReadRows", FILTER("9'\\xff['"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'value_regex_filter' : missing ]: [", 0},
    {"expression of a predicate", DATA "CheckAndMutateRow", CHECK(SET_OK) "6{9'['}",
     MS_GRPC_INVALID_ARGUMENT, "Error in field 'value_regex_filter' : missing ]: [", 0},
    {"expression that repeats too much", DATA "ReadRows", FILTER("9'(((a{1000}){1000}){1000})'"),
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'value_regex_filter' : invalid repetition size: {1000}", 0},

    {"mutation of nothing", DATA "MutateRow", MUTATE(""), MS_GRPC_INVALID_ARGUMENT,
     "Error in Mutation list : Error in element #0 : No mutation is set", 0},
    {"set on an aggregate", DATA "MutateRow", MUTATE("1{1'sum' 2'q'}"), MS_GRPC_INVALID_ARGUMENT,
     "Error in Mutation list : Error in element #0 : SetCell cannot write to the aggregate family "
     "'sum'",
     0},
    {"add to a raw family", DATA "MutateRow", MUTATE("5{1'cf' 2{8'q'} 3{9#0} 4{6#1}}"),
     MS_GRPC_INVALID_ARGUMENT,
     "Error in Mutation list : Error in element #0 : AddToCell needs an aggregate family, which "
     "'cf' is not",
     0},
    {"add without a time", DATA "MutateRow", MUTATE(ADD("8'q'", "", "6#1")),
     MS_GRPC_INVALID_ARGUMENT,
     "Error in Mutation list : Error in element #0 : AddToCell must have a timestamp with "
     "raw_timestamp_micros",
     0},
    {"add at the server's time", DATA "MutateRow", MUTATE(ADD("8'q'", "9#-1", "6#1")),
     MS_GRPC_INVALID_ARGUMENT,
     "Error in Mutation list : Error in element #0 : Timestamp must not be negative, but got -1.",
     0},
    {"add at a wrong time", DATA "MutateRow", MUTATE(ADD("8'q'", "9#1", "6#1")),
     MS_GRPC_INVALID_ARGUMENT, MISMATCH("1"), 0},
    {"add without a column", DATA "MutateRow", MUTATE(ADD("", "9#0", "6#1")),
     MS_GRPC_INVALID_ARGUMENT,
     "Error in Mutation list : Error in element #0 : AddToCell must have a column_qualifier with a "
     "raw_value",
     0},
    {"add of a text", DATA "MutateRow", MUTATE(ADD("8'q'", "9#0", "3'one'")),
     MS_GRPC_INVALID_ARGUMENT,
     "Error in Mutation list : Error in element #0 : AddToCell must have an input with an "
     "int_value",
     0},
    {"merge of a short state", DATA "MutateRow", MUTATE("6{1'sum' 2{8'q'} 3{9#0} 4{8'short'}}"),
     MS_GRPC_INVALID_ARGUMENT,
     "Error in Mutation list : Error in element #0 : A state of family 'sum' is 8 bytes long, but "
     "got 5",
     0},
    {"distinct counts of an entry", DATA "MutateRow",
     T "2'bad' (3{5{1'hll' 2{8'q'} 3{9#@} 4{6#1}}})*4097", MS_GRPC_INVALID_ARGUMENT,
     "Too many sketches in one entry: 4097 provided; limit 4096", 0},
    {"deletions and sums of an entry", DATA "MutateRow",
     T "2'bad' 3{3{1'sum'}} (3{5{1'sum' 2{8'q'} 3{9#@} 4{6#1}}})*4096", MS_GRPC_INVALID_ARGUMENT,
     "Too many mutations in an entry that deletes and aggregates: 4097 provided; limit 4096", 0},
    {"short token", DATA "MutateRow", MUTATE(SET_OK) "8{1'1234567'}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'idempotency' : token is 7 bytes long; it must be 8 to 1024", 0},
    {"long token", DATA "MutateRow", MUTATE(SET_OK) "8{1't'*1025}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'idempotency' : token is 1025 bytes long; it must be 8 to 1024", 0},

    {"unknown profile to write", DATA "MutateRow", MUTATE(SET_OK) "4'nobody'", MS_GRPC_NOT_FOUND,
     "App profile \"projects/p/instances/i/appProfiles/nobody\" not found; this makes it: "
     "millstream bigtable create-profile p/i/nobody --cluster local-c1",
     0},
    {"unknown profile of entries", DATA "MutateRows", ENTRIES(SET_OK) "3'nobody'",
     MS_GRPC_NOT_FOUND,
     "App profile \"projects/p/instances/i/appProfiles/nobody\" not found; this makes it: "
     "millstream bigtable create-profile p/i/nobody --cluster local-c1",
     0},
    {"unknown profile to read", DATA "ReadRows", T "5'nobody'", MS_GRPC_NOT_FOUND,
     "App profile \"projects/p/instances/i/appProfiles/nobody\" not found; this makes it: "
     "millstream bigtable create-profile p/i/nobody --cluster local-c1",
     0},
    {"unknown profile to check", DATA "CheckAndMutateRow", CHECK(SET_OK) "7'nobody'",
     MS_GRPC_NOT_FOUND,
     "App profile \"projects/p/instances/i/appProfiles/nobody\" not found; this makes it: "
     "millstream bigtable create-profile p/i/nobody --cluster local-c1",
     0},
    {"unknown profile to modify", DATA "ReadModifyWriteRow", RULES("1'cf' 4#1") "4'nobody'",
     MS_GRPC_NOT_FOUND,
     "App profile \"projects/p/instances/i/appProfiles/nobody\" not found; this makes it: "
     "millstream bigtable create-profile p/i/nobody --cluster local-c1",
     0},
    {"unknown profile to sample", DATA "SampleRowKeys", T "2'nobody'", MS_GRPC_NOT_FOUND,
     "App profile \"projects/p/instances/i/appProfiles/nobody\" not found; this makes it: "
     "millstream bigtable create-profile p/i/nobody --cluster local-c1",
     0},
    {"unknown profile of changes", DATA "ReadChangeStream", CHANGES("4{1#1} 2'nobody'"),
     MS_GRPC_NOT_FOUND,
     "App profile \"projects/p/instances/i/appProfiles/nobody\" not found; this makes it: "
     "millstream bigtable create-profile p/i/nobody --cluster local-c1",
     0},
    {"write by Data Boost", DATA "MutateRow", MUTATE(SET_OK) "4'boost'",
     MS_GRPC_FAILED_PRECONDITION, "App profile \"boost\" is for Data Boost, which only reads", 0},
    {"point read by Data Boost", DATA "ReadRows", T "2{1'good'} 5'boost'",
     MS_GRPC_FAILED_PRECONDITION,
     "App profile \"boost\" is for Data Boost, which reads no single rows", 0},
    {"changes by any cluster", DATA "ReadChangeStream", CHANGES("4{1#1} 2'multi'"),
     MS_GRPC_FAILED_PRECONDITION,
     "App profile \"multi\" has no single-cluster routing, which change streams need", 0},

    {"view to read", DATA "ReadRows", "9'" TABLE "/authorizedViews/v'", MS_GRPC_UNIMPLEMENTED,
     NO_VIEWS, 0},
    {"materialized view to read", DATA "ReadRows", "11'" INSTANCE "/materializedViews/v'",
     MS_GRPC_UNIMPLEMENTED, NO_VIEWS, 0},
    {"view to write", DATA "MutateRow", "6'" TABLE "/authorizedViews/v' 2'bad' 3{" SET_OK "}",
     MS_GRPC_UNIMPLEMENTED, NO_VIEWS, 0},
    {"view of entries", DATA "MutateRows", "5'" TABLE "/authorizedViews/v'", MS_GRPC_UNIMPLEMENTED,
     NO_VIEWS, 0},

    {"changes of a table without", DATA "ReadChangeStream", "1'" TABLE "2' 3{1{1'' 3''}} 4{1#1}",
     MS_GRPC_FAILED_PRECONDITION, "Change stream is not enabled for table \"" TABLE "2\"", 0},
    {"partitions of a table without", DATA "GenerateInitialChangeStreamPartitions", "1'" TABLE "2'",
     MS_GRPC_FAILED_PRECONDITION, "Change stream is not enabled for table \"" TABLE "2\"", 0},
    {"changes from nowhere", DATA "ReadChangeStream", CHANGES(""), MS_GRPC_INVALID_ARGUMENT,
     "One of start_time and continuation_tokens must be set", 0},
    {"changes without a token", DATA "ReadChangeStream", CHANGES("6{}"), MS_GRPC_INVALID_ARGUMENT,
     "One of start_time and continuation_tokens must be set", 0},
    {"changes from before 1970", DATA "ReadChangeStream", CHANGES("4{1#-5}"),
     MS_GRPC_INVALID_ARGUMENT, "Error in field 'start_time' : must be after 1970", 0},
    {"changes from the future", DATA "ReadChangeStream", CHANGES("4{1#99999999999}"),
     MS_GRPC_INVALID_ARGUMENT, "Error in field 'start_time' : must not be in the future", 0},
    {"changes from before the table", DATA "ReadChangeStream", CHANGES("4{1#1}"),
     MS_GRPC_INVALID_ARGUMENT, "Error in field 'start_time' : is before the table was created", 0},
    {"changes from no token", DATA "ReadChangeStream", CHANGES("6{1{1{1{1'' 3''}} 2'nonsense'}}"),
     MS_GRPC_INVALID_ARGUMENT, "Error in field 'continuation_tokens' : \"nonsense\" is no token",
     0},
    {"changes by a token of another partition", DATA "ReadChangeStream",
     CHANGES("6{1{1{1{1'a' 3'b'}} 2'1-1-1'}}"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'continuation_tokens' : the partitions of the tokens must tile the partition "
     "of the request",
     0},
    {"inverted partition", DATA "ReadChangeStream", T "3{1{1'b' 3'a'}} 4{1#1}",
     MS_GRPC_INVALID_ARGUMENT, "partition.row_range must be the form of [start_key, end_key)", 0},
};

static const bad_request administration[] = {
    {"long table id", ADMIN "CreateTable", "1'" INSTANCE "' 2't'*51 3{}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'table_id' : Invalid id for collection tables : Length should be between "
     "[1,50], but found 'ttttttttttttttttttttttttttttttttttttttttttttttttttt'",
     0},
    {"no table id", ADMIN "CreateTable", "1'" INSTANCE "' 3{}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'table_id' : Invalid id for collection tables : Length should be between "
     "[1,50], but found ''",
     0},
    {"table id of two parts", ADMIN "CreateTable", "1'" INSTANCE "' 2'a/b' 3{}",
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'table_id' : Invalid id for collection tables : Should match "
     "[_a-zA-Z0-9][-_.a-zA-Z0-9]*, but found 'a/b'",
     0},
    {"parent of a table", ADMIN "CreateTable", "1'nonsense' 2'new' 3{}", MS_GRPC_INVALID_ARGUMENT,
     "Invalid name 'nonsense': expected projects/<project>/instances/<instance>", 0},
    {"long family", ADMIN "CreateTable", CREATE("(3{1'f'*65 2{}})*1"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'column_family_id' : Invalid id for collection columnFamilies : Length should "
     "be between [1,64], but found "
     "'fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'",
     0},
    {"family of wrong letters", ADMIN "ModifyColumnFamilies", T "2{1'a:b' 2{}}",
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'column_family_id' : Invalid id for collection columnFamilies : Should match "
     "[-_.a-zA-Z0-9]+, but found 'a:b'",
     0},
    {"empty family", ADMIN "ModifyColumnFamilies", T "2{1'' 2{}}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'column_family_id' : Invalid id for collection columnFamilies : Length should "
     "be between [1,64], but found ''",
     0},
    {"families of a table", ADMIN "CreateTable", CREATE("(3{1'f@' 2{}})*1001"),
     MS_GRPC_INVALID_ARGUMENT, "Error in field 'column_families' : 1001 families; limit 1000", 0},
    {"splits of a table", ADMIN "CreateTable", CREATE("") "(4{1'k@'})*10001",
     MS_GRPC_INVALID_ARGUMENT, "Error in field 'initial_splits' : 10001 splits; limit 10000", 0},
    {"long project", ADMIN "CreateTable", "1'projects/" P32 P32 P32 P32 "p/instances/i' 2'new' 3{}",
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'project_id' : Invalid id for collection projects : Length should be between "
     "[1,128], but found '" P32 P32 P32 "ppppppppppppppppppppppppp...'",
     0},
    {"long instance", ADMIN "CreateTable", "1'projects/p/instances/" P32 P32 "p' 2'new' 3{}",
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'instance_id' : Invalid id for collection instances : Length should be "
     "between [1,64], but found '" P32 P32 "p'",
     0},
    {"granularity", ADMIN "CreateTable", CREATE("4#3"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'granularity' : 3 is no granularity", 0},
    {"retention of hours", ADMIN "CreateTable", CREATE("8{1{1#3600}}"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'change_stream_config.retention_period' : must be 1 to 7 days", 0},
    {"retention of weeks", ADMIN "CreateTable", CREATE("8{1{1#691200}}"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'change_stream_config.retention_period' : must be 1 to 7 days", 0},
    {"retention changed", ADMIN "UpdateTable",
     "1{" T "8{1{1#1}}} 2{1'change_stream_config.retention_period'}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'change_stream_config.retention_period' : must be 1 to 7 days", 0},
    {"empty split", ADMIN "CreateTable", CREATE("") "4{}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'initial_splits' : Error in element #0 : a key has 1 to 4096 bytes", 0},
    {"long split", ADMIN "CreateTable", CREATE("") "4{1'k'*4097}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'initial_splits' : Error in element #0 : a key has 1 to 4096 bytes", 0},
    {"versions", ADMIN "CreateTable", FAMILY("1#0"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'gc_rule.max_num_versions' : must be at least 1, but got 0", 0},
    {"negative versions", ADMIN "CreateTable", FAMILY("1#-1"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'gc_rule.max_num_versions' : must be at least 1, but got -1", 0},
    {"age", ADMIN "CreateTable", FAMILY("2{}"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'gc_rule.max_age' : must be at least 1 millisecond", 0},
    {"age below a millisecond", ADMIN "CreateTable", FAMILY("2{2#999999}"),
     MS_GRPC_INVALID_ARGUMENT, "Error in field 'gc_rule.max_age' : must be at least 1 millisecond",
     0},
    {"size of a rule", ADMIN "CreateTable", FAMILY("4{(1{1#2147483647})*64}"),
     MS_GRPC_INVALID_ARGUMENT, "Error in field 'gc_rule' : 515 serialized bytes; limit 500", 0},
    {"depth of a rule", ADMIN "CreateTable", FAMILY(UNION5(UNION5(UNION5(UNION5(UNION("1#1")))))),
     MS_GRPC_INVALID_ARGUMENT, "Error in field 'gc_rule' : nested more than 20 deep", 0},
    {"intersection of none", ADMIN "CreateTable", FAMILY("3{}"), MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'gc_rule' : a union or intersection needs at least one rule", 0},
    {"type without an aggregator", ADMIN "CreateTable", CREATE("3{1'f' 2{3{6{1{5{1{1{}}}}}}}}"),
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'value_type' : the aggregate of family 'f' has no aggregator", 0},
    {"sum of texts", ADMIN "CreateTable", CREATE("3{1'f' 2{3{6{1{2{}} 4{}}}}}"),
     MS_GRPC_UNIMPLEMENTED,
     "The value_type of family 'f' is not built: only aggregates of big-endian 64-bit integers "
     "are",
     0},
    {"type changed", ADMIN "ModifyColumnFamilies", T "2{1'cf' 3{} 6{1'value_type'}}",
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'update_mask' : 'value_type' of a family cannot be updated", 0},
    {"no modification", ADMIN "ModifyColumnFamilies", T "2{1'cf'}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'modifications' : a modification is not set", 0},
    {"false drop", ADMIN "ModifyColumnFamilies", T "2{1'cf' 4#0}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'modifications' : drop must be true if set", 0},
    {"mask of nothing", ADMIN "UpdateTable", "1{" T "}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'update_mask' : not set", 0},
    {"mask of families", ADMIN "UpdateTable", "1{" T "} 2{1'column_families'}",
     MS_GRPC_UNIMPLEMENTED, "Error in field 'update_mask' : column_families cannot be updated", 0},
    {"mask of everything", ADMIN "UpdateTable", "1{" T "} 2{1'*'}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'update_mask' : incorrect path '*'", 0},
    {"mask of what is not", ADMIN "UpdateTable", "1{" T "} 2{1'nope'}", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'update_mask' : incorrect path 'nope'", 0},
    {"deletion of a protected table", ADMIN "DeleteTable", "1'" TABLE "3'",
     MS_GRPC_FAILED_PRECONDITION, "The table is protected against deletion", 0},
    {"family of a protected table", ADMIN "ModifyColumnFamilies", "1'" TABLE "3' 2{1'cf' 4#1}",
     MS_GRPC_FAILED_PRECONDITION,
     "The table is protected against deletion, and so are its families", 0},
    {"negative page of profiles", INSTANCES "ListAppProfiles", "1'" INSTANCE "' 3#-1",
     MS_GRPC_INVALID_ARGUMENT, "Error in field 'page_size' : must not be negative", 0},
    {"negative page", ADMIN "ListTables", "1'" INSTANCE "' 4#-1", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'page_size' : must not be negative", 0},
    {"tables of nowhere", ADMIN "ListTables", "1'" NOWHERE "'", MS_GRPC_NOT_FOUND, NO_INSTANCE, 0},
    {"view of a table", ADMIN "GetTable", T "2#77", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'view' : 77 is no view of a table", 0},
    {"drop of no rows", ADMIN "DropRowRange", T, MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'row_key_prefix' : Row key prefixes must be non-empty", 0},
    {"drop of an empty prefix", ADMIN "DropRowRange", T "2''", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'row_key_prefix' : Row key prefixes must be non-empty", 0},
    {"token of another table", ADMIN "CheckConsistency", T "2'TokenFor-t' 3{}",
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'consistency_token' : the token is not one of this table", 0},
    {"split at no key", TABLETS "SplitTablet", T, MS_GRPC_INVALID_ARGUMENT,
     "A split key has 1 to 4096 bytes", 0},
    {"split at a long key", TABLETS "SplitTablet", T "2'k'*4097", MS_GRPC_INVALID_ARGUMENT,
     "A split key has 1 to 4096 bytes", 0},
    {"split where one is", TABLETS "SplitTablet", T "2'm'", MS_GRPC_FAILED_PRECONDITION,
     "A tablet begins at key 'm' already", 0},
    {"merge where none is", TABLETS "MergeTablets", T "2'x'", MS_GRPC_FAILED_PRECONDITION,
     "No tablet begins at key 'x'", 0},
    {"profile that exists", INSTANCES "CreateAppProfile",
     "1'" INSTANCE "' 2'plain' 3{6{1'local-c1'}}", MS_GRPC_ALREADY_EXISTS,
     "App profile \"projects/p/instances/i/appProfiles/plain\" already exists", 0},
    {"profile of an unknown cluster", INSTANCES "CreateAppProfile",
     "1'" INSTANCE "' 2'new' 3{6{1'none'}}", MS_GRPC_NOT_FOUND, NO_CLUSTER, 0},
    {"profile of an unknown cluster among others", INSTANCES "CreateAppProfile",
     "1'" INSTANCE "' 2'new' 3{5{1'local-c1' 1'none'}}", MS_GRPC_NOT_FOUND, NO_CLUSTER, 0},
    {"profile changed to an unknown cluster", INSTANCES "UpdateAppProfile",
     "1{1'" INSTANCE "/appProfiles/plain' 6{1'none'}} 2{1'single_cluster_routing'} 3#1",
     MS_GRPC_NOT_FOUND, NO_CLUSTER, 0},
    {"profile whose transactions would end", INSTANCES "UpdateAppProfile",
     "1{1'" INSTANCE "/appProfiles/default' 5{}} 2{1'multi_cluster_routing_use_any'}",
     MS_GRPC_FAILED_PRECONDITION,
     "App profile \"default\" allows single-row transactions, which multi-cluster routing does "
     "not; set ignore_warnings to update it",
     0},
    {"profile without routing", INSTANCES "CreateAppProfile", "1'" INSTANCE "' 2'new' 3{}",
     MS_GRPC_INVALID_ARGUMENT, "Error in field 'routing_policy' : a routing policy must be set", 0},
    {"profile without an id", INSTANCES "CreateAppProfile", "1'" INSTANCE "' 3{5{}}",
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'app_profile_id' : \"\" is not 1 to 50 of [_a-zA-Z0-9][-_.a-zA-Z0-9]*", 0},
    {"profile of wrong letters", INSTANCES "CreateAppProfile", "1'" INSTANCE "' 2'a/b' 3{5{}}",
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'app_profile_id' : \"a/b\" is not 1 to 50 of [_a-zA-Z0-9][-_.a-zA-Z0-9]*", 0},
    {"unknown profile", INSTANCES "GetAppProfile", "1'" INSTANCE "/appProfiles/nobody'",
     MS_GRPC_NOT_FOUND,
     "App profile \"projects/p/instances/i/appProfiles/nobody\" not found; this makes it: "
     "millstream bigtable create-profile p/i/nobody --cluster local-c1",
     0},
    {"long id of a profile", INSTANCES "CreateAppProfile", "1'" INSTANCE "' 2'a'*51 3{5{}}",
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'app_profile_id' : \"" A50 "a\" is not 1 to 50 of "
     "[_a-zA-Z0-9][-_.a-zA-Z0-9]*",
     0},
    {"name of a profile", INSTANCES "GetAppProfile", "1'nobody'", MS_GRPC_INVALID_ARGUMENT,
     "Invalid name 'nobody': expected projects/<project>/instances/<instance>/appProfiles/<id>", 0},
    {"unknown profile to delete", INSTANCES "DeleteAppProfile",
     "1'" INSTANCE "/appProfiles/nobody' 2#1", MS_GRPC_NOT_FOUND,
     "App profile \"projects/p/instances/i/appProfiles/nobody\" not found; this makes it: "
     "millstream bigtable create-profile p/i/nobody --cluster local-c1",
     0},
    {"unknown instance", INSTANCES "GetInstance", "1'" NOWHERE "'", MS_GRPC_NOT_FOUND,
     "No tables found for instance " NOWHERE "", 0},
    {"scaled cluster", INSTANCES "CreateInstance", "1'projects/p' 2'new' 4{1'c' 2{7{1{}}}}",
     MS_GRPC_UNIMPLEMENTED, "cluster_config of a cluster is not built", 0},
    {"cluster of large nodes", INSTANCES "CreateCluster", "1'" INSTANCE "' 2'c' 3{9#2}",
     MS_GRPC_UNIMPLEMENTED, "node_scaling_factor of a cluster is not built", 0},
    {"encrypted cluster", INSTANCES "CreateCluster", "1'" INSTANCE "' 2'c' 3{6{1'k'}}",
     MS_GRPC_UNIMPLEMENTED, "encryption_config of a cluster is not built", 0},
    {"name of an instance", INSTANCES "GetInstance", "1'projects/p'", MS_GRPC_INVALID_ARGUMENT,
     "Invalid name 'projects/p': expected projects/<project>/instances/<instance>", 0},
    {"unknown cluster", INSTANCES "GetCluster", "1'" INSTANCE "/clusters/none'", MS_GRPC_NOT_FOUND,
     "The instance has no such cluster", 0},
    {"unknown operation", "google.longrunning.Operations/GetOperation", "1'operations/none'",
     MS_GRPC_NOT_FOUND, "Operation \"operations/none\" not found", 0},
    {"ping of no instance", DATA "PingAndWarm", "1'nonsense'", MS_GRPC_INVALID_ARGUMENT,
     "Invalid name 'nonsense': expected projects/<project>/instances/<instance>", 0},
    {"snapshot", ADMIN "SnapshotTable", T, MS_GRPC_UNIMPLEMENTED,
     "Unknown method /" ADMIN "SnapshotTable", 0},
    {"backup", ADMIN "CreateBackup", "1'" INSTANCE "/clusters/local-c1'", MS_GRPC_UNIMPLEMENTED,
     "Unknown method /" ADMIN "CreateBackup", 0},
    {"policy", ADMIN "GetIamPolicy", T, MS_GRPC_UNIMPLEMENTED,
     "Unknown method /" ADMIN "GetIamPolicy", 0},
};

/* What is just within the limits, written to another table. */
#define T2 "1'" TABLE "2' "
static const bad_request within[] = {
    {"row key", DATA "MutateRow", T2 "2'k'*4096 3{" SET_OK "}", MS_GRPC_OK, "", 0},
    {"row key to read", DATA "ReadRows", T "2{1'k'*4096}", MS_GRPC_OK, "", 0},
    {"qualifiers", DATA "MutateRow", T2 "2'k' 3{1{1'cf' 2'q'*16384}} 3{1{1'cf' 2''}}", MS_GRPC_OK,
     "", 0},
    {"value", DATA "MutateRow", T2 "2'large' 3{1{1'cf' 4'v'*104857600}}", MS_GRPC_OK, "", 0},
    {"mutations", DATA "MutateRow", T2 "2'k' (3{4{}})*100000", MS_GRPC_OK, "", 0},
    {"mutations of entries", DATA "MutateRows", T2 "(2{1'k' (2{4{}})*20000})*5", MS_GRPC_OK, "", 5},
    {"rules", DATA "ReadModifyWriteRow", T2 "2'k' (3{1'cf' 4#1})*100000", MS_GRPC_OK, "", 0},
    {"size of a read", DATA "ReadRows", T "2{(1'00000000')*52425}", MS_GRPC_OK, "", 0},
    {"one row as a range", DATA "ReadRows", RANGES("2{1'a' 4'a'}"), MS_GRPC_OK, "", 0},
    {"range without bounds", DATA "ReadRows", RANGES("2{1'' 3''}"), MS_GRPC_OK, "", 0},
    {"size of a filter", DATA "ReadRows", FILTER("9'v'*20476"), MS_GRPC_OK, "", 0},
    {"depth of a filter", DATA "ReadRows",
     FILTER(NEST5(NEST5(NEST5(NEST(NEST(NEST(NEST("17#1")))))))), MS_GRPC_OK, "", 0},
    {"label", DATA "ReadRows", FILTER("19'abcdefghij-0123'"), MS_GRPC_OK, "", 0},
    {"time ranges of any microseconds", DATA "ReadRows", FILTER("8{1#1 2#1001}"), MS_GRPC_OK, "",
     0},
    {"time of a client", DATA "MutateRow", T2 "2'k' 3{1{1'cf' 3#1} 7#2}", MS_GRPC_OK, "", 0},
    {"branch of nothing", DATA "CheckAndMutateRow", T2 "2'k' 4{" SET_OK "}", MS_GRPC_OK, "", 0},
    {"drop of nothing", ADMIN "DropRowRange", T "3#0", MS_GRPC_OK, "", 0},
    {"id of a profile", INSTANCES "CreateAppProfile", "1'" INSTANCE "' 2'a'*50 3{5{}}", MS_GRPC_OK,
     "", 0},
    {"table id", ADMIN "CreateTable", "1'" INSTANCE "' 2't'*50 3{3{1'f'*64 2{}}}", MS_GRPC_OK, "",
     0},
};

static void each_row_of_the_error_table(void **state)
{
    check_all(*state, errors, sizeof(errors) / sizeof(errors[0]));
}

static void each_limit(void **state)
{
    check_all(*state, limits, sizeof(limits) / sizeof(limits[0]));
}

static void what_is_just_within_the_limits_is_served(void **state)
{
    check_all(*state, within, sizeof(within) / sizeof(within[0]));
}

static void each_rule_of_administration(void **state)
{
    check_all(*state, administration, sizeof(administration) / sizeof(administration[0]));
}

/* More than a table of texts can say. */

/* The time where it stands still. */
static ms_env_clock standing;

static int setup_standing(void **state)
{
    standing = (ms_env_clock){.wall_us = START_MICROS};
    ms_env_set_clock(&standing);
    return setup(state);
}

static int teardown_standing(void **state)
{
    int result = teardown(state);
    ms_env_set_clock(NULL);
    return result;
}

static void reverse_scans_go_with_the_flag(void **state)
{
    caller *c = *state;
    const ms_grpc_pair flag = {ms_str_lit("bigtable-features"), ms_str_lit("CAE=")};
    c->headers = &flag;
    c->header_count = 1;
    caller_call(c, DATA "ReadRows", T "7#1");
    assert_int_equal(c->code, MS_GRPC_OK);
    assert_int_equal(c->messages, 1);
    c->header_count = 0;
    caller_call(c, DATA "ReadRows", T "7#1");
    assert_int_equal(c->code, MS_GRPC_UNIMPLEMENTED);
    assert_string_equal(c->message, REVERSE);
}

static void full_queue_of_mutations(void **state)
{
    caller *c = *state;
    fixture *f = c->f;
    f->queued_mutations_max = 25;
    reopen(c);
    caller *others = calloc(2, sizeof(*others));
    held_pool held;
    pool_hold(f, &held);
    /* Two calls fit; the third does not, and is told at once. */
    const char *ten = "1'" TABLE "2' 2{1'k' (2{1{1'cf' 3#@}})*10}";
    for (int i = 0; i < 2; i++) {
        caller_init(&others[i], f, c->channel);
        request_make(ten, &others[i].request);
        caller_begin(&others[i], DATA "MutateRows");
    }
    caller_call(c, DATA "MutateRows", ten);
    assert_int_equal(c->code, MS_GRPC_RESOURCE_EXHAUSTED);
    assert_string_equal(c->message, "You have reached the limit of total mutations in your queue. "
                                    "Throttle your usage and wait for operations to finish.");
    pool_let_go(&held);
    for (int i = 0; i < 2; i++) {
        caller_wait(&others[i]);
        assert_int_equal(others[i].code, MS_GRPC_OK);
        caller_release(&others[i]);
    }
    caller_call(c, DATA "MutateRows", ten);
    assert_int_equal(c->code, MS_GRPC_OK);
    check_server(c, "after a full queue");
    sem_destroy(&held.gate);
    free(others);
}

static void row_that_is_too_large_is_named_in_the_details(void **state)
{
    caller *c = *state;
    c->f->row_bytes_max = 1000;
    reopen(c);
    make(c, DATA "MutateRow", T "2'n\\xff' 3{1{1'cf' 4'v'*1001}}");
    caller_call(c, DATA "ReadRows", T);
    assert_int_equal(c->code, MS_GRPC_FAILED_PRECONDITION);
    assert_string_equal(c->message,
                        "row 'n\\xff' is larger than 1000 bytes: leave cells out by a filter, read "
                        "the rows before and behind it, or delete some of its cells");
    ms_arena arena;
    ms_wire_status status;
    ms_str key;
    ms_arena_init(&arena, 0);
    assert_true(ms_wire_status_decode(ms_buf_view(&c->details), &arena, &status));
    assert_int_equal(status.code, MS_BT_FAILED_PRECONDITION);
    assert_str_equal(status.reason, "LargeRowReadError");
    assert_str_equal(status.metadata[0].key, "rowKeyBase64Encoded");
    assert_str_equal(status.metadata[0].value, "bv8=");
    assert_true(ms_wire_large_row_decode(&status, &arena, &key));
    ms_arena_release(&arena);
    /* Other failures have no such details, and the rest of the table can be read. */
    caller_call(c, DATA "ReadRows", T "4#-1");
    assert_int_equal(c->details.bytes, 0);
    make(c, ADMIN "DropRowRange", T "2'n'");
    check_server(c, "after a large row");
}

static void row_of_256_mebibytes_cannot_be_read(void **state)
{
    caller *c = *state;
    make(c, DATA "MutateRow", T "2'huge' 3{1{1'cf' 3#0 4'v'*104857600}}");
    make(c, DATA "MutateRow", T "2'huge' 3{1{1'cf' 3#1000 4'v'*104857600}}");
    make(c, DATA "MutateRow", T "2'huge' 3{1{1'cf' 3#2000 4'v'*104857600}}");
    caller_call(c, DATA "ReadRows", T);
    assert_int_equal(c->code, MS_GRPC_FAILED_PRECONDITION);
    assert_non_null(strstr(c->message, "row 'huge' is larger than 268435456 bytes: "));
    /* A filter leaves cells out; then one of them is deleted. */
    make(c, DATA "ReadRows", T "3{13#1}");
    make(c, DATA "MutateRow", T "2'huge' 3{2{1'cf' 3{1#1000 2#2000}}}");
    make(c, DATA "ReadRows", T);
    make(c, DATA "MutateRow", T "2'huge' 3{4{}}");
    check_server(c, "after a row that is too large");
}

/* Positions in a change stream, when time goes on. */

static void positions_that_are_not_retained_are_out_of_range(void **state)
{
    caller *c = *state;
    char by_token[256];
    stream s = stream_from(c->f, "", "m", START_MICROS);
    assert_changes(&s, 1, "good{cf:q@0=v}");
    snprintf(by_token, sizeof(by_token),
             CHANGES_TO_M "6{1{1{1{1'' 3'm'}} 2'%.*s'}} 5{1#1700000000}", MS_STR_ARG(s.token));
    stream_close(&s);
    const char *by_time = CHANGES_TO_M "4{1#1700000000} 5{1#1700000000}";
    const char *message = "The position is older than the changes that are retained";
    const bad_request gone[] = {
        {"time", DATA "ReadChangeStream", by_time, MS_GRPC_OUT_OF_RANGE, message, 0},
        {"token", DATA "ReadChangeStream", by_token, MS_GRPC_OUT_OF_RANGE, message, 0},
    };
    /* The table's changes are retained for a day: its last second is there. */
    ms_env_clock_advance_us(&standing, DAY_MICROS);
    make(c, DATA "ReadChangeStream", by_time);
    make(c, DATA "ReadChangeStream", by_token);
    ms_env_clock_advance_us(&standing, 1000000);
    check_all(c, gone, 2);
    /* Nor do positions come back when more is retained. */
    make(c, ADMIN "UpdateTable",
         "1{" T "8{1{1#604800}}} 2{1'change_stream_config.retention_period'}");
    check_all(c, gone, 2);
}

#define TEST_STANDING(name) cmocka_unit_test_setup_teardown(name, setup_standing, teardown_standing)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_row_of_the_error_table),
        TEST(each_limit),
        TEST(what_is_just_within_the_limits_is_served),
        TEST(each_rule_of_administration),
        TEST(reverse_scans_go_with_the_flag),
        TEST(full_queue_of_mutations),
        TEST(row_that_is_too_large_is_named_in_the_details),
        TEST(row_of_256_mebibytes_cannot_be_read),
        TEST_STANDING(positions_that_are_not_retained_are_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
