# A NameNode of HDFS 3.3.6 under load, into which queries are woven and taken out again, a thousand times: nothing grows, and its log has no
# complaint that it would not have had without.

setup() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	[ "$(id -u)" = 0 ] || skip "entering a process needs root"
	command -v javac >/dev/null || skip "there is no JDK"
	[ -x "$BUILD/tests/unit/weave_rounds" ] || skip "weave_rounds is not built"
	JVM=$BATS_TEST_DIRNAME/jvm
	DIR=$(mktemp -d)
	NS=culprit-rounds$$
	PIDS=()
	. "$BATS_TEST_DIRNAME/wait.bash"
	. "$JVM/hdfs.bash"
	HDFS_JAVA=(java -XX:+UseSerialGC -Xmx256m -XX:NativeMemoryTracking=summary -Djava.net.preferIPv4Stack=true)
	hdfs_fetch
}

teardown() {
	[ -n "$DIR" ] || return 0
	rm -f "$DIR/go"*
	hdfs_down
	rm -rf "$DIR"
}

# load OPERATION: one client after the other, while $DIR/go is there
load() {
	local i
	for ((i = 0; i < 1000; i++)); do
		[ -e "$DIR/go" ] || break
		touch "$DIR/go$1$i"
		(hdfs_java client StressTest "$1" "$1" "$DIR/go$1$i" "$DIR/truth$1$i" 12 1000 "$i") >"$DIR/logs/$1.out" 2>&1 &
		wait_until test -e "$DIR/truth$1$i" || true
		rm -f "$DIR/go$1$i"
		wait $! || true
	done
}

# Of the NameNode, in KiB: what it has allocated itself, its compilers aside, and what is on its heap.
native_kb() {
	jcmd "${HDFS_PIDS[nn]}" VM.native_memory summary scale=KB |
		awk '/^-/ { left = /Compiler|Arena Chunk/ } /\(malloc=/ && !left { sub(/.*\(malloc=/, ""); sum += $0 + 0 } END { print sum }'
}

heap_kb() {
	jcmd "${HDFS_PIDS[nn]}" GC.run >/dev/null
	jcmd "${HDFS_PIDS[nn]}" GC.heap_info |
		awk '/generation .*used/ { sub(/.*used /, ""); sum += $0 + 0 } END { print sum }'
}

# Of its classes, after a collection: old versions of them lie there until one finds that no thread is in them any more. What the machine
# has given back, but not put together again, is not theirs: it grows with an agent that changes nothing as well (docs/jvm.md).
classes_kb() {
	jcmd "${HDFS_PIDS[nn]}" VM.metaspace scale=KB |
		awk '/Both:.*deallocated/ { sub(/.*committed, */, ""); used = $1; sub(/.*with */, ""); printf "%d\n", used - $1; exit }'
}

# Who complains, and how loudly.
complaints() {
	sed -nE 's/^[^ ]+ [^ ]+ (WARN|ERROR|FATAL) +\[[^]]*\] ([^:]+):.*/\1 \2/p' "$DIR/logs/nn.log" | sort -u
}

# rounds NUMBER: of two queries that pack, in turns
rounds() {
	"$BUILD/tests/unit/weave_rounds" "${HDFS_PIDS[nn]}" "$1" "$DIR/points.tp" \
		'From g In NN.GetBlockLocations Join c In First(NN.ClientProtocol) On c -> g GroupBy c.src Select c.src, COUNT, AVERAGE(g.took)' \
		'From r In RPC.Handled Join q In MostRecent(RPC.Receive) On q -> r GroupBy r.method Select r.method, COUNT, AVERAGE(r.time - q.time)'
}

@test "a NameNode under load is woven and taken out a thousand times" {
	local loads
	hdfs_up "$JVM/StressTest.java"
	cat "$BATS_TEST_DIRNAME"/../../share/tracepoints/{hdfs,hadoop}.tp >"$DIR/points.tp"
	(hdfs_java client StressTest make 12 65536 2) >"$DIR/logs/make.out" 2>&1
	touch "$DIR/go"
	load open 3>&- &
	loads=$!
	load read 3>&- &
	loads="$loads $!"
	sleep 20
	complaints >"$DIR/before"
	rounds 20
	heap=$(heap_kb) native=$(native_kb) classes=$(classes_kb)
	echo "after 20 rounds: heap $heap KiB, native $native, classes $classes"
	for quarter in 1 2 3 4; do
		rounds $((${ROUNDS:-1000} / 4))
		heap_then=$(heap_kb) native_then=$(native_kb)
		[ $quarter != 2 ] || classes=$(classes_kb)
		classes_then=$(classes_kb)
		echo "after $quarter of 4: heap $heap_then KiB, native $native_then, classes $classes_then"
	done
	rm "$DIR/go"
	# shellcheck disable=SC2086
	wait $loads || true
	heap_then=$(heap_kb) native_then=$(native_kb)
	complaints >"$DIR/after"
	echo "heap $heap KiB, then $heap_then; native $native KiB, then $native_then"
	jcmd "${HDFS_PIDS[nn]}" VM.native_memory summary scale=KB
	jcmd "${HDFS_PIDS[nn]}" GC.heap_info # which tells of Metaspace
	[ $((heap_then - heap)) -lt 8192 ]
	[ $((native_then - native)) -lt 8192 ]
	# they level off: the second half adds little to the first
	[ $((classes_then - classes)) -lt 8192 ]
	diff "$DIR/before" "$DIR/after"
	! grep 'culprit.Advice\|libculprit' "$DIR/logs/nn.out" "$DIR/logs/nn.log" || false
}
