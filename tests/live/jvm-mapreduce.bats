# A MapReduce sort (YARN 3.3.6) over HDFS, beside clients of HDFS under other names: containers are processes that node managers start, and
# what they do is done for who submitted the job. What is answered is what clients, the job and the DataNodes counted.

setup() {
	. "$BATS_TEST_DIRNAME/jvm/systems.bash"
	systems_begin mr
	chmod 755 "$DIR" # containers may be of another user
	TP=("$SETS/hdfs.tp" "$SETS/hadoop.tp" "$SETS/yarn.tp" "$SETS/stress.tp")
	. "$JVM/yarn.bash"
	hdfs_fetch
	yarn_fetch
	hub
}

# Containers that still run are ended as YARN does it: by their numbers, which node managers have written down.
teardown() {
	local f pids=()
	for f in "$DIR"/data/nm*/local/nmPrivate/*/*/*.pid; do
		[ -f "$f" ] && pids+=("-$(cat "$f")")
	done
	systems_end
	[ ${#pids[@]} = 0 ] || kill -9 -- "${pids[@]}" 2>/dev/null || true
}

# client HOST NAME OPERATION OPERATIONS SEED
client() {
	(hdfs_java client -Dhost="$1" -Dculprit.name="$2" StressTest "$3" "$2" "$DIR/go" "$DIR/$2.truth" 12 "$4" "$5") \
		>"$DIR/logs/$2.out" 2>&1 3>&- &
	PIDS+=($!)
	AGENT_PIDS[$1]="${AGENT_PIDS[$1]} $!"
	TRUTHS+=("$2@$1=$DIR/$2.truth")
}

# job HOST NAME FOLDER REDUCES
job() {
	(yarn_java job -Dculprit.name="$2" SortJob sort "$2" "$DIR/go" "$DIR/$2.truth" "$3" "$4") >"$DIR/logs/$2.out" 2>&1 3>&- &
	PIDS+=($!)
	AGENT_PIDS[$1]="${AGENT_PIDS[$1]} $!"
	TRUTHS+=("$2@$1=$DIR/$2.truth")
}

up() {
	local i
	hdfs_up "$JVM/StressTest.java"
	yarn_up "$JVM/SortJob.java"
	(hdfs_java client StressTest make 12 2097152 2) >"$DIR/logs/make.out" 2>&1
	(yarn_java job SortJob make /sortA 3 20000) >>"$DIR/logs/make.out" 2>&1
	(yarn_java job SortJob make /sortB 2 20000) >>"$DIR/logs/make.out" 2>&1
	AGENT_PIDS[name]="${HDFS_PIDS[nn]} ${HDFS_PIDS[rm]} ${HDFS_PIDS[jhs]}"
	for i in 1 2 3; do
		AGENT_PIDS[${HDFS_HOSTS[$i]}]="${HDFS_PIDS[dn$i]} ${HDFS_PIDS[nm$i]}"
	done
}

# The last of what DataNodes count comes after clients have gone on; the master of a job goes later still.
is_still() {
	local now
	now=$(told)
	[ "$now" = "$LAST" ] && ! pgrep -f "$DIR.*MRAppMaster" >/dev/null && return 0
	LAST=$now
	sleep 2
	return 1
}

@test "what containers read and write is told by the program that submitted their job" {
	up
	client hostA FSread read 400 1
	client hostC FSmixed mixed 300 4
	job hostB SortA /sortA 2
	job hostC SortB /sortB 1
	agents "${HDFS_HOSTS[@]}"
	begin "$JVM/mapreduce.queries"
	wait_until have_ended
	wait_until is_still
	end_queries
	python3 "$JVM/mapreduce_check.py" "$DIR" "$(told)" "${TRUTHS[@]}"
}
