# Requests of HDFS 3.3.6, recorded in a NameNode, three DataNodes and a client that counts what it does: each of its reads is one request
# that crosses three of them.

setup() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	[ "$(id -u)" = 0 ] || skip "entering a process needs root"
	command -v javac >/dev/null || skip "there is no JDK"
	JVM=$BATS_TEST_DIRNAME/jvm
	DIR=$(mktemp -d)
	NS=culprit-rec$$
	PIDS=()
	. "$BATS_TEST_DIRNAME/wait.bash"
	. "$JVM/hdfs.bash"
	hdfs_fetch
}

teardown() {
	[ -n "$DIR" ] || return 0
	rm -f "$DIR/go"
	hdfs_down
	[ -n "$KEEP" ] || rm -rf "$DIR"
}

@test "each read of a client is one request, from the client over the NameNode to the DataNode that has the block" {
	local i nodes=()
	hdfs_up "$JVM/StressTest.java"
	(hdfs_java client StressTest make 12 2097152 2) >"$DIR/logs/make.out" 2>&1
	(hdfs_java client -Dhost=hostA -Dculprit.name=FSread StressTest read FSread "$DIR/go" "$DIR/truth" 12 300 1) >"$DIR/logs/client.out" 2>&1 3>&- &
	client=$!
	PIDS+=("$client")
	for i in 1 2 3; do
		nodes+=("DataNode:${HDFS_PIDS[dn$i]}=${HDFS_HOSTS[$i]}")
	done
	# the client is a JVM before it is entered
	wait_until grep -q libjvm "/proc/$client/maps"
	"$CULPRIT" record --jvm --span StressTest.doNextOp --tracepoints rpc -p "$client,${HDFS_PIDS[nn]},${HDFS_PIDS[dn1]},${HDFS_PIDS[dn2]},${HDFS_PIDS[dn3]}" \
		-o "$DIR/run" -- bash -c '. "$0"; touch "$1/go"; wait_until test -f "$1/truth"; sleep 2' "$BATS_TEST_DIRNAME/wait.bash" "$DIR" >"$DIR/told" 2>"$DIR/said" 3>&- ||
		{ cat "$DIR/said" "$DIR/told"; false; }
	cat "$DIR/told"
	"$CULPRIT" export "$DIR/run" --format otlp -o "$DIR/spans"
	python3 "$JVM/record_check.py" hdfs "$DIR/truth" "$DIR/spans" "${nodes[@]}"
	! grep -q 'dropped' "$DIR/told"
	"$CULPRIT" paths "$DIR/run" --json | grep -q NameNode
}
