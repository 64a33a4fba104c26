# The queries of the Pivot Tracing paper on HDFS 3.3.6, of clients with several threads that do all that clients do: reads at a place, by
# streams and into buffers, lists, writes that are flushed, appends, files of several blocks, renames, deletes.

setup() {
	. "$BATS_TEST_DIRNAME/jvm/systems.bash"
	systems_begin hdfs-k
	TP=("$SETS/hdfs.tp" "$SETS/hadoop.tp" "$JVM/dfskinds.tp")
	hdfs_fetch
	hub
}

teardown() {
	systems_end
}

# client HOST NAME OPERATIONS THREADS SEED
client() {
	(hdfs_java client -Dhost="$1" -Dculprit.name="$2" DfsKinds "$2" "$DIR/go" "$DIR/$2.truth" 12 "$3" "$4" "$5") \
		>"$DIR/logs/$2.out" 2>&1 3>&- &
	PIDS+=($!)
	AGENT_PIDS[$1]="${AGENT_PIDS[$1]} $!"
	TRUTHS+=("$2@$1=$DIR/$2.truth")
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
	wait_until have_read
	end_queries
	python3 "$JVM/hdfs_check.py" answers "$JVM/hdfs.queries" "$DIR" "${TRUTHS[@]}"
	for i in 1 2 3; do
		sums q1 a | grep -qx "${HDFS_HOSTS[$i]} $(($(hdfs_metric "dn$i" BytesRead) - BEFORE[dn$i]))"
	done
	no_losses
}
