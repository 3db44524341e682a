// SPDX-License-Identifier: Apache-2.0

// Change streams with Google's Java client, the one that has a public API for them, against a running server;
// BIGTABLE_EMULATOR_HOST says where it is, the only argument is the program that splits and merges.
// Prints a line a case and ends with "N passed, N failed". Needs com.google.cloud:google-cloud-bigtable.

import com.google.api.gax.rpc.ApiException;
import com.google.api.gax.rpc.FailedPreconditionException;
import com.google.api.gax.rpc.InvalidArgumentException;
import com.google.api.gax.rpc.ServerStream;
import com.google.cloud.bigtable.admin.v2.BigtableTableAdminClient;
import com.google.cloud.bigtable.admin.v2.BigtableTableAdminSettings;
import com.google.cloud.bigtable.admin.v2.models.CreateTableRequest;
import com.google.cloud.bigtable.data.v2.BigtableDataClient;
import com.google.cloud.bigtable.data.v2.BigtableDataSettings;
import com.google.cloud.bigtable.data.v2.models.ChangeStreamContinuationToken;
import com.google.cloud.bigtable.data.v2.models.ChangeStreamMutation;
import com.google.cloud.bigtable.data.v2.models.ChangeStreamRecord;
import com.google.cloud.bigtable.data.v2.models.CloseStream;
import com.google.cloud.bigtable.data.v2.models.ConditionalRowMutation;
import com.google.cloud.bigtable.data.v2.models.DeleteCells;
import com.google.cloud.bigtable.data.v2.models.DeleteFamily;
import com.google.cloud.bigtable.data.v2.models.Entry;
import com.google.cloud.bigtable.data.v2.models.Filters;
import com.google.cloud.bigtable.data.v2.models.Heartbeat;
import com.google.cloud.bigtable.data.v2.models.Mutation;
import com.google.cloud.bigtable.data.v2.models.Range.ByteStringRange;
import com.google.cloud.bigtable.data.v2.models.ReadChangeStreamQuery;
import com.google.cloud.bigtable.data.v2.models.ReadModifyWriteRow;
import com.google.cloud.bigtable.data.v2.models.RowMutation;
import com.google.cloud.bigtable.data.v2.models.SetCell;
import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;

public final class ChangeStreams {
    private static final String TABLE = "changes";

    private final BigtableTableAdminClient admin;
    private final BigtableDataClient data;
    private final String program;
    private final String address;
    private Instant start;
    private int passed;
    private int failed;

    /** Tokens that a case leaves to the next one. */
    private List<ChangeStreamContinuationToken> tokens = new ArrayList<>();

    private interface Body {
        void run() throws Exception;
    }

    private ChangeStreams(String program, String address) throws Exception {
        String[] parts = address.split(":");
        int port = Integer.parseInt(parts[1]);
        this.program = program;
        this.address = address;
        admin = BigtableTableAdminClient.create(BigtableTableAdminSettings.newBuilderForEmulator(parts[0], port)
                .setProjectId("conformance").setInstanceId("java").build());
        data = BigtableDataClient.create(BigtableDataSettings.newBuilderForEmulator(parts[0], port)
                .setProjectId("conformance").setInstanceId("java").build());
    }

    private void test(String name, Body body) {
        try {
            body.run();
            passed++;
            System.out.println("passed  " + name);
        } catch (Exception | AssertionError error) {
            failed++;
            System.out.println("FAILED  " + name + ": " + error);
        }
    }

    private static void same(Object found, Object wanted) {
        if (!found.equals(wanted)) {
            throw new AssertionError(found + " is not " + wanted);
        }
    }

    private static void refused(Class<? extends ApiException> kind, Body body) throws Exception {
        try {
            body.run();
        } catch (ApiException error) {
            same(error.getClass(), kind);
            return;
        }
        throw new AssertionError("it was taken");
    }

    /** The partition as "[start,end)". */
    private static String text(ByteStringRange range) {
        return "[" + range.getStart().toStringUtf8() + "," + range.getEnd().toStringUtf8() + ")";
    }

    private static String text(Entry entry) {
        if (entry instanceof SetCell) {
            SetCell cell = (SetCell) entry;
            return "set " + cell.getFamilyName() + ":" + cell.getQualifier().toStringUtf8() + "@"
                    + cell.getTimestamp() + "=" + cell.getValue().toStringUtf8();
        }
        if (entry instanceof DeleteCells) {
            DeleteCells cells = (DeleteCells) entry;
            return "delete " + cells.getFamilyName() + ":" + cells.getQualifier().toStringUtf8();
        }
        return "delete " + ((DeleteFamily) entry).getFamilyName();
    }

    private static String text(ChangeStreamMutation change) {
        StringBuilder line = new StringBuilder(change.getRowKey().toStringUtf8());
        for (Entry entry : change.getEntries()) {
            line.append(" ").append(text(entry));
        }
        return line.toString();
    }

    private ReadChangeStreamQuery query(String begin, String end) {
        return ReadChangeStreamQuery.create(TABLE).streamPartition(begin, end).heartbeatDuration(Duration.ofSeconds(1));
    }

    /** All changes of a partition up to now; the service ends the stream by itself. */
    private List<ChangeStreamMutation> changes(ReadChangeStreamQuery query) {
        List<ChangeStreamMutation> found = new ArrayList<>();
        for (ChangeStreamRecord record : data.readChangeStream(query.endTime(Instant.now()))) {
            if (record instanceof ChangeStreamMutation) {
                found.add((ChangeStreamMutation) record);
            } else if (record instanceof CloseStream) {
                same(((CloseStream) record).getStatus().getCode().name(), "OK");
            }
        }
        return found;
    }

    private List<String> partitions() {
        List<String> found = new ArrayList<>();
        for (ByteStringRange range : data.generateInitialChangeStreamPartitions(TABLE)) {
            found.add(text(range));
        }
        return found;
    }

    private void tablet(String action, String key) throws Exception {
        Process process = new ProcessBuilder(program, "bigtable", action, "conformance/java/" + TABLE, key,
                "--bigtable", address).inheritIO().start();
        same(process.waitFor(), 0);
    }

    private void partitionsTileTheTable() {
        if (admin.exists(TABLE)) {
            admin.deleteTable(TABLE);
        }
        admin.createTable(CreateTableRequest.of(TABLE).addFamily("cf").addFamily("other")
                .addSplit(ByteString.copyFromUtf8("m"))
                .addChangeStreamRetention(org.threeten.bp.Duration.ofDays(1)));
        start = Instant.now();
        same(partitions(), List.of("[,m)", "[m,)"));
    }

    private void aTableWithoutAStreamIsRefused() throws Exception {
        if (!admin.exists("plain")) {
            admin.createTable(CreateTableRequest.of("plain").addFamily("cf"));
        }
        refused(FailedPreconditionException.class, () -> {
            for (ByteStringRange range : data.generateInitialChangeStreamPartitions("plain")) {
                throw new AssertionError("a partition: " + text(range));
            }
        });
    }

    private void writesArriveInOrder() {
        data.mutateRow(RowMutation.create(TABLE, "a").setCell("cf", "q", 1000, "one").setCell("other", "r", 2000, "two"));
        data.mutateRow(RowMutation.create(TABLE, "b").setCell("cf", "q", 1000, "x"));
        data.mutateRow(RowMutation.create(TABLE, "a").deleteCells("cf", ByteString.copyFromUtf8("q")));
        data.mutateRow(RowMutation.create(TABLE, "a").deleteRow());
        data.mutateRow(RowMutation.create(TABLE, "z").setCell("cf", "q", 1000, "elsewhere"));
        List<String> found = new ArrayList<>();
        for (ChangeStreamMutation change : changes(query("", "m").startTime(start))) {
            same(change.getType(), ChangeStreamMutation.MutationType.USER);
            same(change.getSourceClusterId(), "local-c1");
            same(change.getToken().isEmpty(), false);
            found.add(text(change));
        }
        same(found, List.of("a set cf:q@1000=one set other:r@2000=two", "b set cf:q@1000=x", "a delete cf:q",
                "a delete cf delete other"));
        same(changes(query("m", "").startTime(start)).size(), 1);
    }

    private void transactionsArriveAsWhatTheyDid() {
        Instant now = Instant.now();
        data.readModifyWriteRow(ReadModifyWriteRow.create(TABLE, "t").append("cf", "s", "ab"));
        data.checkAndMutateRow(ConditionalRowMutation.create(TABLE, "t")
                .condition(Filters.FILTERS.value().exactMatch("ab"))
                .then(Mutation.create().setCell("cf", "u", 1000, "yes"))
                .otherwise(Mutation.create().setCell("cf", "u", 1000, "no")));
        List<ChangeStreamMutation> found = changes(query("m", "").startTime(now));
        same(found.size(), 2);
        SetCell result = (SetCell) found.get(0).getEntries().get(0);
        same(result.getValue().toStringUtf8(), "ab");
        same(result.getTimestamp() > 0, true);
        same(text(found.get(1)), "t set cf:u@1000=yes");
    }

    private void largeValuesArriveWhole() {
        Instant now = Instant.now();
        byte[] bytes = new byte[3 * 1024 * 1024];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 31 + i / 256);
        }
        ByteString value = ByteString.copyFrom(bytes);
        data.mutateRow(RowMutation.create(TABLE, "large")
                .setCell("cf", ByteString.copyFromUtf8("v"), 1000, value)
                .setCell("cf", ByteString.copyFromUtf8("w"), 1000, ByteString.copyFromUtf8("small")));
        List<ChangeStreamMutation> found = changes(query("", "m").startTime(now));
        same(found.size(), 1);
        same(((SetCell) found.get(0).getEntries().get(0)).getValue().equals(value), true);
        same(found.get(0).getEntries().size(), 2);
    }

    private void anIdleStreamBeats() {
        ServerStream<ChangeStreamRecord> stream = data.readChangeStream(query("m", "").startTime(Instant.now()));
        Iterator<ChangeStreamRecord> records = stream.iterator();
        Heartbeat first = (Heartbeat) records.next();
        Heartbeat second = (Heartbeat) records.next();
        stream.cancel();
        same(text(first.getChangeStreamContinuationToken().getPartition()), "[m,)");
        same(second.getEstimatedLowWatermarkTime().isAfter(first.getEstimatedLowWatermarkTime()), true);
        tokens = List.of(second.getChangeStreamContinuationToken());
    }

    private void aTokenGoesOn() {
        data.mutateRow(RowMutation.create(TABLE, "n").setCell("cf", "q", 1000, "after"));
        List<ChangeStreamMutation> found = changes(query("m", "").continuationTokens(tokens));
        same(found.size(), 1);
        same(text(found.get(0)), "n set cf:q@1000=after");
    }

    /** Reads a stream until the service closes it; changes seen before go to found. */
    private CloseStream closed(Iterator<ChangeStreamRecord> records, List<String> found) {
        while (records.hasNext()) {
            ChangeStreamRecord record = records.next();
            if (record instanceof CloseStream) {
                return (CloseStream) record;
            }
            if (record instanceof ChangeStreamMutation) {
                found.add(text((ChangeStreamMutation) record));
            }
        }
        throw new AssertionError("the stream ended without a CloseStream");
    }

    private static List<String> text(List<ByteStringRange> ranges) {
        List<String> found = new ArrayList<>();
        for (ByteStringRange range : ranges) {
            found.add(text(range));
        }
        return found;
    }

    private static List<String> partitionsOf(List<ChangeStreamContinuationToken> tokens) {
        List<String> found = new ArrayList<>();
        for (ChangeStreamContinuationToken token : tokens) {
            found.add(text(token.getPartition()));
        }
        return found;
    }

    private void aSplitClosesTheStream() throws Exception {
        ServerStream<ChangeStreamRecord> stream = data.readChangeStream(query("m", "").startTime(Instant.now()));
        Iterator<ChangeStreamRecord> records = stream.iterator();
        same(records.next() instanceof Heartbeat, true);
        data.mutateRow(RowMutation.create(TABLE, "p").setCell("cf", "q", 1000, "before the split"));
        tablet("split", "t");
        data.mutateRow(RowMutation.create(TABLE, "p").setCell("cf", "q", 1000, "low"));
        data.mutateRow(RowMutation.create(TABLE, "x").setCell("cf", "q", 1000, "high"));
        List<String> found = new ArrayList<>();
        CloseStream close = closed(records, found);
        same(found, List.of("p set cf:q@1000=before the split"));
        same(close.getStatus().getCode().name(), "OUT_OF_RANGE");
        same(text(close.getNewPartitions()), List.of("[m,t)", "[t,)"));
        same(partitionsOf(close.getChangeStreamContinuationTokens()), List.of("[m,t)", "[t,)"));
        same(partitions(), List.of("[,m)", "[m,t)", "[t,)"));
        tokens = close.getChangeStreamContinuationTokens();
    }

    private void bothHalvesGoOn() {
        List<String> low = new ArrayList<>();
        for (ChangeStreamMutation change :
                changes(query("m", "t").continuationTokens(Collections.singletonList(tokens.get(0))))) {
            low.add(text(change));
        }
        List<String> high = new ArrayList<>();
        for (ChangeStreamMutation change :
                changes(query("t", "").continuationTokens(Collections.singletonList(tokens.get(1))))) {
            high.add(text(change));
        }
        same(low, List.of("p set cf:q@1000=low"));
        same(high, List.of("x set cf:q@1000=high"));
    }

    private void aMergeClosesBothStreams() throws Exception {
        Instant now = Instant.now();
        Iterator<ChangeStreamRecord> low = data.readChangeStream(query("m", "t").startTime(now)).iterator();
        Iterator<ChangeStreamRecord> high = data.readChangeStream(query("t", "").startTime(now)).iterator();
        same(low.next() instanceof Heartbeat, true);
        same(high.next() instanceof Heartbeat, true);
        tablet("merge", "t");
        data.mutateRow(RowMutation.create(TABLE, "x").setCell("cf", "q", 1000, "merged"));
        List<ChangeStreamContinuationToken> both = new ArrayList<>();
        for (Iterator<ChangeStreamRecord> records : List.of(low, high)) {
            CloseStream close = closed(records, new ArrayList<>());
            same(text(close.getNewPartitions()), List.of("[m,)"));
            both.addAll(close.getChangeStreamContinuationTokens());
        }
        same(partitionsOf(both), List.of("[m,t)", "[t,)"));
        List<ChangeStreamMutation> found = changes(query("m", "").continuationTokens(both));
        same(found.size(), 1);
        same(text(found.get(0)), "x set cf:q@1000=merged");
        refused(InvalidArgumentException.class,
                () -> changes(query("m", "").continuationTokens(Collections.singletonList(both.get(0)))));
    }

    private void timesThatAreNotKeptAreRefused() throws Exception {
        refused(InvalidArgumentException.class,
                () -> changes(query("", "m").startTime(Instant.now().plusSeconds(3600))));
    }

    private int run() {
        test("partitions tile the table", this::partitionsTileTheTable);
        test("a table without a stream is refused", this::aTableWithoutAStreamIsRefused);
        test("writes arrive in order", this::writesArriveInOrder);
        test("transactions arrive as what they did", this::transactionsArriveAsWhatTheyDid);
        test("large values arrive whole", this::largeValuesArriveWhole);
        test("an idle stream beats", this::anIdleStreamBeats);
        test("a token goes on", this::aTokenGoesOn);
        test("a split closes the stream", this::aSplitClosesTheStream);
        test("both halves go on", this::bothHalvesGoOn);
        test("a merge closes both streams", this::aMergeClosesBothStreams);
        test("a start in the future is refused", this::timesThatAreNotKeptAreRefused);
        System.out.println(passed + " passed, " + failed + " failed");
        data.close();
        admin.close();
        return failed;
    }

    public static void main(String[] arguments) throws Exception {
        ChangeStreams streams = new ChangeStreams(arguments[0], System.getenv("BIGTABLE_EMULATOR_HOST"));
        System.exit(streams.run() == 0 ? 0 : 1);
    }
}
