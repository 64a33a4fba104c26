# The Pivot Tracing paper's Q2 over HBase 2.5.11 on HDFS: region servers read and write for clients, and what DataNodes do for a region
# server is told of the client. Master, two region servers, a NameNode, three DataNodes and clients that count what they ask for.

setup() {
	. "$BATS_TEST_DIRNAME/jvm/systems.bash"
	systems_begin hbase
	ROWS=4000
	TP=("$SETS/hdfs.tp" "$SETS/hadoop.tp" "$SETS/hbase.tp" "$JVM/hstress.tp")
	. "$JVM/hbase.bash"
	hdfs_fetch
	hbase_fetch
	hub
}

teardown() {
	systems_end
}

# client HOST NAME OPERATION OPERATIONS SEED
client() {
	(hbase_java hclient -Dculprit.name="$2" HStress "$3" "$2" "$DIR/go" "$DIR/$2.truth" "$ROWS" "$4" "$5") \
		>"$DIR/logs/$2.out" 2>&1 3>&- &
	PIDS+=($!)
	AGENT_PIDS[$1]="${AGENT_PIDS[$1]} $!"
	TRUTHS+=("$2@$1=$DIR/$2.truth")
}

up() {
	local i
	hdfs_up
	hbase_up "$JVM/HStress.java"
	(hbase_java hclient HStress make "$ROWS") >"$DIR/logs/make.out" 2>&1
	AGENT_PIDS[name]="${HDFS_PIDS[nn]} ${HDFS_PIDS[master]}"
	for i in 1 2 3; do
		AGENT_PIDS[${HDFS_HOSTS[$i]}]="${HDFS_PIDS[dn$i]} ${HDFS_PIDS[rs$i]:-}"
	done
}

# What DataNodes tell after clients have gone on has been told.
have_told() {
	local was
	was=$(told)
	sleep 2
	[ "$(told)" = "$was" ]
}

sum() {
	sums "$1" a | awk '{ s += $2 } END { print s + 0 }'
}

@test "what region servers, and DataNodes behind them, do is told of the clients that asked" {
	up
	client hostA Hget get 300 1
	client hostA Hscan scan 150 2
	client hostB Hmulti multi 150 3
	client hostC Hput put 300 4
	client hostC Hasync async 200 5
	wait_until are_ready
	agents "${HDFS_HOSTS[@]}"
	begin "$JVM/hbase.queries"
	wait_until have_ended
	wait_until have_told
	read=$(told)
	end_queries
	grep -E '^(calls|back)' "$JVM/hbase.queries" >"$DIR/counted"
	python3 "$JVM/hdfs_check.py" answers "$DIR/counted" "$DIR" "${TRUTHS[@]}"
	sums q1 a
	sums q2 a
	sums q2w a
	# all that was read was read for one of them
	[ "$(sum q1)" = "$read" ]
	[ "$(sum q2)" = "$read" ]
	# the log is one file for all, and what is written to it is of nobody
	[ -z "$(sums q2w a | grep '^H[a-z]')" ]
	[ "$(sums q2 a | cut -d ' ' -f 1 | tr '\n' ' ')" = "Hasync Hget Hmulti Hscan " ]
	no_losses
}
