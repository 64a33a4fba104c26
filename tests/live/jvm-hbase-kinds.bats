# HBase 2.5.11 as it comes: with its log of AsyncFSWAL, which writes to DataNodes by Netty; clients of several threads that read, change and
# fill tables in many ways, while region servers flush and compact.

setup() {
	. "$BATS_TEST_DIRNAME/jvm/systems.bash"
	systems_begin hbase-k
	ROWS=4000
	HBASE_WAL=
	TP=("$SETS/hdfs.tp" "$SETS/hadoop.tp" "$SETS/hbase.tp" "$JVM/hkinds.tp")
	. "$JVM/hbase.bash"
	hdfs_fetch
	hbase_fetch
	hub
}

teardown() {
	systems_end
}

# client HOST NAME OPERATION ROUNDS THREADS SEED
client() {
	(hbase_java hclient -Dculprit.name="$2" HKinds "$3" "$2" "$DIR/go" "$DIR/$2.truth" "$ROWS" "$4" "$5" "$6") \
		>"$DIR/logs/$2.out" 2>&1 3>&- &
	PIDS+=($!)
	AGENT_PIDS[$1]="${AGENT_PIDS[$1]} $!"
	TRUTHS+=("$2@$1=$DIR/$2.truth")
}

up() {
	local i
	hdfs_up
	# who fills is not sent away, which its client would not tell
	HBASE_MORE=$(hdfs_property hbase.hregion.memstore.block.multiplier 64)
	hbase_up "$JVM/HKinds.java"
	(hbase_java hclient HKinds make "$ROWS") >"$DIR/logs/make.out" 2>&1
	AGENT_PIDS[name]="${HDFS_PIDS[nn]} ${HDFS_PIDS[master]}"
	for i in 1 2 3; do
		AGENT_PIDS[${HDFS_HOSTS[$i]}]="${HDFS_PIDS[dn$i]} ${HDFS_PIDS[rs$i]:-}"
	done
}

# What DataNodes tell after clients have gone on, and compactions, has been told.
have_told() {
	local was
	was=$(told)
	sleep 4
	[ "$(told)" = "$was" ]
}

sum() {
	sums "$1" a | awk '{ s += $2 } END { print s + 0 }'
}

# complaints: what servers complain of in their logs, as one word each, with how often
complaints() {
	cat "$DIR"/logs/{nn,dn,rs,master}*.log | grep -v 'Unexpected value for data transfer' | grep -E ' (WARN|ERROR|FATAL) ' | sed -E 's/^[^ ]+( [0-9:,]+)? (WARN|ERROR|FATAL) +\[.*\] ([A-Za-z0-9.$]+): .*/\2 \3/' | sort | uniq -c
}

@test "with HBase's own log, what is read is told of the clients that asked, and flushes and compactions of nobody" {
	up
	client hostA Hread read 40 2 1
	client hostB Hchange change 40 2 2
	client hostC Hasync async 40 2 3
	client hostA Hfill fill 250 2 4
	wait_until are_ready
	agents "${HDFS_HOSTS[@]}"
	begin "$JVM/hbase-kinds.queries"
	wait_until have_ended
	wait_until have_told
	complaints
	grep -q AsyncFSWALProvider "$DIR/logs/rs1.log"
	read=$(told)
	end_queries
	for q in q1 q2 q2w flushes flushed compacts compacted; do
		sums $q a | sed "s/^/$q: /"
	done
	grep -E '^(calls|back)' "$JVM/hbase-kinds.queries" >"$DIR/counted"
	python3 "$JVM/hdfs_check.py" answers "$DIR/counted" "$DIR" "${TRUTHS[@]}"
	# all that was read, by the count of DataNodes
	[ "$(sum q1)" = "$read" ]
	[ "$(sum q2)" = "$read" ]
	# for clients that read, and for the servers themselves
	[ "$(sums q2 a | cut -d ' ' -f 1 | grep '^H[a-z]' | tr '\n' ' ')" = "Hasync Hchange Hread " ]
	# what is written is of all
	[ -z "$(sums q2w a | grep '^H[a-z]')" ]
	[ "$(sum flushes)" -gt 1 ] && [ "$(sum compacts)" -gt 0 ]
	[ -z "$(sums flushed a | grep '^H[a-z]')" ] && [ -z "$(sums compacted a | grep '^H[a-z]')" ]
	no_losses
}
