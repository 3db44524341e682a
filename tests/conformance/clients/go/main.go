// SPDX-License-Identifier: Apache-2.0

// Google's Go client against a running server; BIGTABLE_EMULATOR_HOST says where it is.
// Prints a line a case and ends with "N passed, N failed". Needs cloud.google.com/go/bigtable.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"
	"time"

	"cloud.google.com/go/bigtable"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	project  = "conformance"
	instance = "go"
	people   = "people"
)

type fixture struct {
	ctx       context.Context
	admin     *bigtable.AdminClient
	instances *bigtable.InstanceAdminClient
	client    *bigtable.Client
	table     *bigtable.Table
}

// failure is what a case panics with; the panic ends the case and nothing else.
type failure string

func check(err error) {
	if err != nil {
		panic(failure(err.Error()))
	}
}

func same(found, wanted any) {
	if !reflect.DeepEqual(found, wanted) {
		panic(failure(fmt.Sprintf("%v is not %v", found, wanted)))
	}
}

func refused(err error, code codes.Code) {
	if status.Code(err) != code {
		panic(failure(fmt.Sprintf("%v is not %v", err, code)))
	}
}

// read gives the rows as "key family:qualifier=value[labels] ...".
func (f *fixture) read(rows bigtable.RowSet, options ...bigtable.ReadOption) []string {
	found := []string{}
	check(f.table.ReadRows(f.ctx, rows, func(row bigtable.Row) bool {
		found = append(found, text(row))
		return true
	}, options...))
	return found
}

func text(row bigtable.Row) string {
	families := []string{}
	for family := range row {
		families = append(families, family)
	}
	sort.Strings(families)
	line := row.Key()
	for _, family := range families {
		for _, item := range row[family] {
			line += fmt.Sprintf(" %s=%s", item.Column, item.Value)
			if len(item.Labels) > 0 {
				line += fmt.Sprint(item.Labels)
			}
		}
	}
	return line
}

func (f *fixture) createAndList() {
	if f.admin.DeleteTable(f.ctx, people) == nil {
		fmt.Println("a table of an earlier run is removed")
	}
	check(f.admin.CreateTableFromConf(f.ctx, &bigtable.TableConf{
		TableID:   people,
		SplitKeys: []string{"m"},
		ColumnFamilies: map[string]bigtable.Family{
			"cf":    {GCPolicy: bigtable.MaxVersionsPolicy(3)},
			"other": {GCPolicy: bigtable.MaxAgePolicy(120 * time.Hour)},
			"sum": {ValueType: bigtable.AggregateType{
				Input: bigtable.Int64Type{}, Aggregator: bigtable.SumAggregator{}}},
		},
	}))
	tables, err := f.admin.Tables(f.ctx)
	check(err)
	same(tables, []string{people})
	refused(f.admin.CreateTable(f.ctx, people), codes.AlreadyExists)
}

func (f *fixture) bulkWrite() {
	for start := 0; start < 2000; start += 500 {
		keys := []string{}
		mutations := []*bigtable.Mutation{}
		for i := start; i < start+500; i++ {
			mutation := bigtable.NewMutation()
			mutation.Set("cf", "n", bigtable.Timestamp(1000000000), []byte(fmt.Sprint(i)))
			mutation.Set("other", "even", bigtable.ServerTime, []byte(fmt.Sprint(i%2 == 0)))
			keys = append(keys, fmt.Sprintf("row-%05d", i))
			mutations = append(mutations, mutation)
		}
		failures, err := f.table.ApplyBulk(f.ctx, keys, mutations)
		check(err)
		same(len(failures), 0)
	}
	same(len(f.read(bigtable.InfiniteRange(""))), 2000)
}

func (f *fixture) anUnknownFamilyIsNotFound() {
	mutation := bigtable.NewMutation()
	mutation.Set("nope", "q", 1000, []byte("v"))
	refused(f.table.Apply(f.ctx, "x", mutation), codes.NotFound)
	failures, err := f.table.ApplyBulk(f.ctx, []string{"x"}, []*bigtable.Mutation{mutation})
	check(err)
	same(len(failures), 1)
	refused(failures[0], codes.NotFound)
}

func (f *fixture) rangesAndKeys() {
	latest := bigtable.RowFilter(bigtable.FamilyFilter("cf"))
	same(f.read(bigtable.NewRange("row-00010", "row-00012"), latest),
		[]string{"row-00010 cf:n=10", "row-00011 cf:n=11"})
	same(f.read(bigtable.RowList{"row-00100", "row-00011", "absent"}, latest),
		[]string{"row-00011 cf:n=11", "row-00100 cf:n=100"})
	same(f.read(bigtable.NewOpenClosedRange("row-01997", "row-01998"), latest),
		[]string{"row-01998 cf:n=1998"})
	same(len(f.read(bigtable.PrefixRange("row-001"), bigtable.LimitRows(17))), 17)
	row, err := f.table.ReadRow(f.ctx, "absent")
	check(err)
	same(len(row), 0)
}

func (f *fixture) filters() {
	chain := bigtable.ChainFilters(bigtable.RowKeyFilter("row-0000."), bigtable.FamilyFilter("cf"),
		bigtable.ColumnFilter("n"), bigtable.ValueFilter("[3-5]"))
	same(f.read(bigtable.InfiniteRange(""), bigtable.RowFilter(chain)),
		[]string{"row-00003 cf:n=3", "row-00004 cf:n=4", "row-00005 cf:n=5"})
	union := bigtable.InterleaveFilters(
		bigtable.ValueRangeFilter([]byte("1999"), []byte("1999\x00")),
		bigtable.ChainFilters(bigtable.ColumnRangeFilter("cf", "n", "o"), bigtable.ValueFilter("5"),
			bigtable.LabelFilter("five")))
	same(f.read(bigtable.InfiniteRange(""), bigtable.RowFilter(union)),
		[]string{"row-00005 cf:n=5[five]", "row-01999 cf:n=1999"})
	condition := bigtable.ConditionFilter(bigtable.ValueFilter("true"), bigtable.PassAllFilter(),
		bigtable.BlockAllFilter())
	same(len(f.read(bigtable.NewRange("", "row-00010"), bigtable.RowFilter(condition))), 5)
	strip := bigtable.ChainFilters(bigtable.CellsPerRowLimitFilter(1), bigtable.StripValueFilter())
	same(f.read(bigtable.InfiniteRange(""), bigtable.RowFilter(strip), bigtable.LimitRows(2)),
		[]string{"row-00000 cf:n=", "row-00001 cf:n="})
	times := bigtable.TimestampRangeFilterMicros(1000000000, 1000001000)
	same(f.read(bigtable.SingleRow("row-00007"), bigtable.RowFilter(times)),
		[]string{"row-00007 cf:n=7"})
	err := f.table.ReadRows(f.ctx, bigtable.InfiniteRange(""),
		func(bigtable.Row) bool { return true }, bigtable.RowFilter(bigtable.ValueFilter("[a")))
	refused(err, codes.InvalidArgument)
}

func (f *fixture) reversed() {
	latest := bigtable.RowFilter(bigtable.FamilyFilter("cf"))
	same(f.read(bigtable.InfiniteRange(""), latest, bigtable.ReverseScan(), bigtable.LimitRows(2)),
		[]string{"row-01999 cf:n=1999", "row-01998 cf:n=1998"})
	same(f.read(bigtable.NewRange("row-00010", "row-00012"), latest, bigtable.ReverseScan()),
		[]string{"row-00011 cf:n=11", "row-00010 cf:n=10"})
	all := f.read(bigtable.InfiniteRange(""), latest)
	backwards := f.read(bigtable.InfiniteRange(""), latest, bigtable.ReverseScan())
	same(len(backwards), len(all))
	for i := range all {
		same(backwards[len(all)-1-i], all[i])
	}
}

func (f *fixture) statistics() {
	var found *bigtable.FullReadStats
	same(len(f.read(bigtable.PrefixRange("row-0000"), bigtable.RowFilter(bigtable.ValueFilter("5")),
		bigtable.WithFullReadStats(func(stats *bigtable.FullReadStats) { found = stats }))), 1)
	if found == nil {
		panic(failure("no statistics came"))
	}
	same(found.ReadIterationStats.RowsReturnedCount, int64(1))
	same(found.ReadIterationStats.CellsReturnedCount, int64(1))
	same(found.ReadIterationStats.RowsSeenCount >= 1, true)
}

func (f *fixture) checkAndMutate() {
	one := bigtable.NewMutation()
	one.Set("cf", "q", 1000, []byte("1"))
	two := bigtable.NewMutation()
	two.Set("cf", "r", 1000, []byte("was one"))
	for _, matches := range []bool{false, true} {
		var matched bool
		conditional := bigtable.NewCondMutation(bigtable.ValueFilter("1"), two, one)
		check(f.table.Apply(f.ctx, "cas", conditional, bigtable.GetCondMutationResult(&matched)))
		same(matched, matches)
	}
	same(f.read(bigtable.SingleRow("cas")), []string{"cas cf:q=1 cf:r=was one"})
}

func (f *fixture) readModifyWrite() {
	change := func(by int64, end string) bigtable.Row {
		rule := bigtable.NewReadModifyWrite()
		rule.Increment("cf", "n", by)
		rule.AppendValue("cf", "s", []byte(end))
		row, err := f.table.ApplyReadModifyWrite(f.ctx, "counter", rule)
		check(err)
		return row
	}
	change(5, "ab")
	row := change(-7, "cd")
	same(int64(binary.BigEndian.Uint64(row["cf"][0].Value)), int64(-2))
	same(string(row["cf"][1].Value), "abcd")
	rule := bigtable.NewReadModifyWrite()
	rule.Increment("cf", "q", 1)
	_, err := f.table.ApplyReadModifyWrite(f.ctx, "cas", rule)
	refused(err, codes.FailedPrecondition)
}

func (f *fixture) aggregates() {
	for _, number := range []int64{5, 7} {
		mutation := bigtable.NewMutation()
		mutation.AddIntToCell("sum", "n", 0, number)
		check(f.table.Apply(f.ctx, "total", mutation))
	}
	row, err := f.table.ReadRow(f.ctx, "total")
	check(err)
	same(int64(binary.BigEndian.Uint64(row["sum"][0].Value)), int64(12))
}

func (f *fixture) deletes() {
	apply := func(change func(*bigtable.Mutation)) string {
		mutation := bigtable.NewMutation()
		change(mutation)
		check(f.table.Apply(f.ctx, "gone", mutation))
		return strings.Join(f.read(bigtable.SingleRow("gone")), "")
	}
	same(apply(func(m *bigtable.Mutation) {
		m.Set("cf", "a", 1000, []byte("1"))
		m.Set("cf", "a", 2000, []byte("2"))
		m.Set("cf", "b", 1000, []byte("3"))
		m.Set("other", "c", bigtable.Now(), []byte("4"))
	}), "gone cf:a=2 cf:a=1 cf:b=3 other:c=4")
	same(apply(func(m *bigtable.Mutation) { m.DeleteTimestampRange("cf", "a", 1000, 2000) }),
		"gone cf:a=2 cf:b=3 other:c=4")
	same(apply(func(m *bigtable.Mutation) { m.DeleteCellsInColumn("cf", "a") }), "gone cf:b=3 other:c=4")
	same(apply(func(m *bigtable.Mutation) { m.DeleteCellsInFamily("cf") }), "gone other:c=4")
	same(apply(func(m *bigtable.Mutation) { m.DeleteRow() }), "")
}

func (f *fixture) largeValues() {
	// With an emulator this client takes messages of at most 4 MiB, and a row is one message.
	value := []byte(strings.Repeat("0123456789abcdef", 240000))
	mutation := bigtable.NewMutation()
	mutation.Set("cf", "v", 1000, value)
	check(f.table.Apply(f.ctx, "large", mutation))
	row, err := f.table.ReadRow(f.ctx, "large")
	check(err)
	same(reflect.DeepEqual(row["cf"][0].Value, value), true)
}

func (f *fixture) samples() {
	keys, err := f.table.SampleRowKeys(f.ctx)
	check(err)
	same(strings.Contains(" "+strings.Join(keys, " ")+" ", " m "), true)
}

func (f *fixture) familiesAndPolicies() {
	check(f.admin.CreateColumnFamily(f.ctx, people, "third"))
	refused(f.admin.CreateColumnFamily(f.ctx, people, "third"), codes.AlreadyExists)
	policy := bigtable.UnionPolicy(bigtable.MaxVersionsPolicy(9),
		bigtable.IntersectionPolicy(bigtable.MaxAgePolicy(time.Hour), bigtable.MaxVersionsPolicy(2)))
	check(f.admin.SetGCPolicy(f.ctx, people, "third", policy))
	found := map[string]string{}
	info, err := f.admin.TableInfo(f.ctx, people)
	check(err)
	for _, family := range info.FamilyInfos {
		found[family.Name] = family.GCPolicy
	}
	same(found, map[string]string{"cf": "versions() > 3", "other": "age() > 5d", "sum": "<never>",
		"third": "(versions() > 9 || (age() > 1h && versions() > 2))"})
	check(f.admin.DeleteColumnFamily(f.ctx, people, "third"))
	refused(f.admin.DeleteColumnFamily(f.ctx, people, "third"), codes.NotFound)
}

func (f *fixture) dropping() {
	check(f.admin.DropRowRange(f.ctx, people, "row-00"))
	same(len(f.read(bigtable.PrefixRange("row-00"))), 0)
	same(len(f.read(bigtable.PrefixRange("row-01"))), 1000)
	check(f.admin.DropAllRows(f.ctx, people))
	same(len(f.read(bigtable.InfiniteRange(""))), 0)
}

func (f *fixture) appProfiles() {
	for _, name := range []string{"one", "many"} {
		_ = f.instances.DeleteAppProfile(f.ctx, instance, name)
	}
	_, err := f.instances.CreateAppProfile(f.ctx, bigtable.ProfileConf{
		ProfileID: "one", InstanceID: instance, Description: "test", IgnoreWarnings: true,
		RoutingConfig: &bigtable.SingleClusterRoutingConfig{ClusterID: "local-c1",
			AllowTransactionalWrites: true}})
	check(err)
	profile, err := f.instances.GetAppProfile(f.ctx, instance, "one")
	check(err)
	same(profile.Description, "test")
	same(profile.GetSingleClusterRouting().GetClusterId(), "local-c1")
	_, err = f.instances.CreateAppProfile(f.ctx, bigtable.ProfileConf{ProfileID: "many",
		InstanceID: instance, IgnoreWarnings: true, RoutingConfig: &bigtable.MultiClusterRoutingUseAnyConfig{}})
	check(err)
	many, err := bigtable.NewClientWithConfig(f.ctx, project, instance,
		bigtable.ClientConfig{AppProfile: "many", MetricsProvider: bigtable.NoopMetricsProvider{}})
	check(err)
	defer many.Close()
	rule := bigtable.NewReadModifyWrite()
	rule.Increment("cf", "n", 1)
	_, err = many.Open(people).ApplyReadModifyWrite(f.ctx, "x", rule)
	refused(err, codes.FailedPrecondition)
	check(f.instances.DeleteAppProfile(f.ctx, instance, "one"))
	_, err = f.instances.GetAppProfile(f.ctx, instance, "one")
	refused(err, codes.NotFound)
}

func (f *fixture) retentionOfChangeStreams() {
	day := 24 * time.Hour
	check(f.admin.UpdateTableWithChangeStream(f.ctx, people, day))
	info, err := f.admin.TableInfo(f.ctx, people)
	check(err)
	same(info.ChangeStreamRetention, day)
	check(f.admin.UpdateTableDisableChangeStream(f.ctx, people))
	info, err = f.admin.TableInfo(f.ctx, people)
	check(err)
	same(info.ChangeStreamRetention, nil)
}

func (f *fixture) deletionProtection() {
	check(f.admin.UpdateTableWithDeletionProtection(f.ctx, people, bigtable.Protected))
	refused(f.admin.DeleteTable(f.ctx, people), codes.FailedPrecondition)
	check(f.admin.UpdateTableWithDeletionProtection(f.ctx, people, bigtable.Unprotected))
}

func (f *fixture) droppingTheTable() {
	check(f.admin.DeleteTable(f.ctx, people))
	err := f.table.ReadRows(f.ctx, bigtable.InfiniteRange(""), func(bigtable.Row) bool { return true })
	refused(err, codes.NotFound)
}

// passes runs a case and says what came of it.
func passes(name string, function func()) (passed bool) {
	defer func() {
		if caught := recover(); caught != nil {
			fmt.Printf("FAILED  %s: %v\n", name, caught)
			passed = false
		}
	}()
	function()
	fmt.Printf("passed  %s\n", name)
	return true
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	f := &fixture{ctx: ctx}
	var err error
	f.admin, err = bigtable.NewAdminClient(ctx, project, instance)
	check(err)
	f.instances, err = bigtable.NewInstanceAdminClient(ctx, project)
	check(err)
	f.client, err = bigtable.NewClientWithConfig(ctx, project, instance,
		bigtable.ClientConfig{MetricsProvider: bigtable.NoopMetricsProvider{}})
	check(err)
	f.table = f.client.Open(people)
	cases := []struct {
		name     string
		function func()
	}{
		{"create and list", f.createAndList},
		{"bulk write", f.bulkWrite},
		{"an unknown family is not found", f.anUnknownFamilyIsNotFound},
		{"ranges and keys", f.rangesAndKeys},
		{"filters", f.filters},
		{"reversed", f.reversed},
		{"statistics of a read", f.statistics},
		{"check and mutate", f.checkAndMutate},
		{"read, modify, write", f.readModifyWrite},
		{"aggregates", f.aggregates},
		{"deletes", f.deletes},
		{"large values", f.largeValues},
		{"sample keys", f.samples},
		{"families and policies", f.familiesAndPolicies},
		{"dropping rows", f.dropping},
		{"app profiles", f.appProfiles},
		{"retention of change streams", f.retentionOfChangeStreams},
		{"deletion protection", f.deletionProtection},
		{"dropping the table", f.droppingTheTable},
	}
	passed, failed := 0, 0
	for _, c := range cases {
		if passes(c.name, c.function) {
			passed++
		} else {
			failed++
		}
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
