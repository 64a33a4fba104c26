# The queries of the Pivot Tracing paper on HDFS 3.3.6, of clients with several threads that do all that clients do: reads at a place, by
# streams and into buffers, lists, writes that are flushed, appends, files of several blocks, renames, deletes.

setup() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	[ "$(id -u)" = 0 ] || skip "entering a process needs root"
	command -v javac >/dev/null || skip "there is no JDK"
	command -v curl >/dev/null || skip "there is no curl"
	"$CULPRIT" hub --help 2>&1 | grep -q queries || skip "culprit is built without the bus"
	JVM=$BATS_TEST_DIRNAME/jvm
	SETS=$BATS_TEST_DIRNAME/../../share/tracepoints
	DIR=$(mktemp -d)
	NS=culprit-hdfs-k$$-$BATS_TEST_NUMBER
	PIDS=()
	TP=("$SETS/hdfs.tp" "$SETS/hadoop.tp" "$JVM/dfskinds.tp")
	. "$BATS_TEST_DIRNAME/wait.bash"
	. "$JVM/hdfs.bash"
	. "$JVM/ask.bash"
	hdfs_fetch
	hub
}

teardown() {
	[ -n "$DIR" ] || return 0
	rm -f "$DIR/go"
	hdfs_down
	[ -z "$KEEP" ] || cp -r "$DIR" "$KEEP"
	rm -rf "$DIR"
}

# client HOST NAME OPERATIONS THREADS SEED
client() {
	(hdfs_java client -Dhost="$1" -Dculprit.name="$2" DfsKinds "$2" "$DIR/go" "$DIR/$2.truth" 12 "$3" "$4" "$5") \
		>"$DIR/logs/$2.out" 2>&1 3>&- &
	PIDS+=($!)
	AGENT_PIDS[$1]="${AGENT_PIDS[$1]} $!"
	TRUTHS+=("$2@$1=$DIR/$2.truth")
}

# What clients have read (and 4 bytes of checksum for each 512) is what the DataNodes have counted.
have_told() {
	[ "$(told)" = "$(cat "${TRUTHS[@]#*=}" | awk '$1 == "bytes" { s += $3 + $3 / 128 } END { print s + 0 }')" ]
}

@test "Q1 to Q7, of clients with several threads that do all that clients do" {
	# a file that is appended to right away may be on fewer nodes: it is taken as it is, without a copy that its client does not tell
	# (nor does the NameNode have one made)
	HDFS_MORE="$(hdfs_property dfs.client.block.write.replace-datanode-on-failure.enable false)"
	HDFS_MORE+=$(hdfs_property dfs.namenode.redundancy.interval.seconds 3600)
	hdfs_up "$JVM/StressTest.java" "$JVM/DfsKinds.java"
	(hdfs_java client StressTest make 12 2097152 2) >"$DIR/logs/make.out" 2>&1
	AGENT_PIDS[name]=${HDFS_PIDS[nn]}
	for i in 1 2 3; do
		AGENT_PIDS[${HDFS_HOSTS[$i]}]=${HDFS_PIDS[dn$i]}
	done
	client hostA KindsA 80 4 1
	client hostB KindsB 80 3 2
	client hostC KindsC 80 2 3
	agents "${HDFS_HOSTS[@]}"
	begin "$JVM/hdfs.queries"
	wait_until have_ended
	wait_until have_told
	end_queries
	python3 "$JVM/hdfs_check.py" answers "$JVM/hdfs.queries" "$DIR" "${TRUTHS[@]}"
	for i in 1 2 3; do
		sums q1 a | grep -qx "${HDFS_HOSTS[$i]} $(($(hdfs_metric "dn$i" BytesRead) - BEFORE[dn$i]))"
	done
	no_losses
}
