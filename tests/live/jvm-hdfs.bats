# The queries of the Pivot Tracing paper on HDFS 3.3.6: a NameNode, three DataNodes and clients that count what they do, each a JVM,
# on four hosts as far as agents and HDFS know. What is answered is what the clients counted.

setup() {
	. "$BATS_TEST_DIRNAME/jvm/systems.bash"
	systems_begin hdfs
	TP=("$SETS/hdfs.tp" "$SETS/hadoop.tp" "$SETS/stress.tp" "$JVM/later.tp")
	hdfs_fetch
	hub
}

teardown() {
	systems_end
}

# client HOST NAME OPERATION OPERATIONS SEED
client() {
	(hdfs_java client -Dhost="$1" -Dculprit.name="$2" StressTest "$3" "$2" "$DIR/go" "$DIR/$2.truth" 12 "$4" "$5") \
		>"$DIR/logs/$2.out" 2>&1 3>&- &
	PIDS+=($!)
	AGENT_PIDS[$1]="${AGENT_PIDS[$1]} $!"
	TRUTHS+=("$2@$1=$DIR/$2.truth")
}

# finish: waits for clients, then ends the queries, which tell what is left
finish() {
	wait_until have_ended
	wait_until have_read
	end_queries
}

# Losses are the last line of an answer, and nothing but classes that come later is complained of.
no_losses() {
	local losses said
	losses=$(grep -H '"losses"' "$DIR"/*.answer || true)
	said=$(cat "$DIR"/*.said | grep -v 'is loaded yet' || true)
	echo "$losses$said"
	[ -z "$losses$said" ]
}

# up [BYTES]: of each file; a block has 1 MiB
up() {
	local i
	hdfs_up "$JVM/StressTest.java" "$JVM/StaticTopology.java" "$JVM/Later.java"
	(hdfs_java client StressTest make 12 "${1:-2097152}" 2) >"$DIR/logs/make.out" 2>&1
	AGENT_PIDS[name]=${HDFS_PIDS[nn]}
	for i in 1 2 3; do
		AGENT_PIDS[${HDFS_HOSTS[$i]}]=${HDFS_PIDS[dn$i]}
	done
}

# has_no PATTERN FILE: a '!' before grep would never fail a test
has_no() {
	[ "$(grep -c "$1" "$2")" = 0 ]
}

@test "Q1 to Q7 and times of components answer what clients and DataNodes counted" {
	up
	client hostA FSreadA read 400 1
	client hostA FSopen open 200 2
	client hostB FSreadB read 400 3
	client hostC FSmixed mixed 300 4
	agents "${HDFS_HOSTS[@]}"
	begin "$JVM/hdfs.queries"
	finish
	python3 "$JVM/hdfs_check.py" answers "$JVM/hdfs.queries" "$DIR" "${TRUTHS[@]}"
	for i in 1 2 3; do
		sums q1 a | grep -qx "${HDFS_HOSTS[$i]} $(($(hdfs_metric "dn$i" BytesRead) - BEFORE[dn$i]))"
	done
	no_losses
}

# HDFS-6268: the NameNode tells replicas of a rack in one order for all. The steps of the paper's section 6.1, as
# docs/HOWTO-hdfs-replicas.md has them.
@test "HDFS-6268 is found: clients read evenly, replicas lie evenly, and one DataNode is always taken first" {
	HDFS_MORE="$(hdfs_property dfs.use.dfs.network.topology false)"
	HDFS_MORE_CORE="$(hdfs_property net.topology.impl StaticTopology)"
	up 1048576 # one block each: the one whose replicas are told is the one that is read
	client hostA StressA read 300 1
	client hostB StressB read 300 2
	client hostC StressC read 300 3
	agents "${HDFS_HOSTS[@]}"
	grep -E '^q[3-7]	' "$JVM/hdfs.queries" >"$DIR/queries"
	begin "$DIR/queries"
	finish
	python3 "$JVM/hdfs_check.py" answers "$DIR/queries" "$DIR" "${TRUTHS[@]}"
	# Q3: DataNodes are not asked evenly
	sums q3 a
	[ "$(sums q3 a | wc -l)" = 2 ]
	# Q4: but files are, by each client: each has read each of the twelve
	[ "$(sort -u "$DIR"/*.truth | grep -c '^file')" -ge 12 ]
	[ "$(sums q4 b | wc -l)" = 12 ]
	# Q5: and replicas lie on all
	sums q5 b
	[ "$(sums q5 b | cut -d ' ' -f 1 | tr , '\n' | sort -u | wc -l)" = 3 ]
	# Q7: hostA is taken wherever it has a replica, hostB unless hostA has one, hostC never
	has_no '"a":"host[BC]","b":"[^"]*hostA' "$DIR/q7.answer"
	has_no '"a":"hostC"' "$DIR/q7.answer"
	grep -q '"a":"hostA","b":"hostA,hostB"' "$DIR/q7.answer"
	grep -q '"a":"hostB","b":"hostB,hostC"' "$DIR/q7.answer"
	no_losses
}

# A NameNode that has packed nothing tells nothing in its answer: the call itself has what it went with.
@test "who waits for an answer that another thread has asked for goes on with what that asked with" {
	up 1048576
	(hdfs_java client -Dculprit.name=Later Later "$DIR/go" "$DIR/later.truth" 300) >"$DIR/logs/later.out" 2>&1 3>&- &
	PIDS+=($!)
	AGENT_PIDS=([name]=${HDFS_PIDS[nn]} [hostA]=$!)
	agents name hostA
	echo "later	From a In Later.Answered Join q In First(Later.Ask) On q -> a GroupBy q.number, a.number Select q.number As asked, a.number As answered, COUNT As n" >"$DIR/queries"
	echo "handled	From h In RPC.Handled Join q In First(Later.Ask) On q -> h GroupBy h.method Select h.method As a, COUNT As n" >>"$DIR/queries"
	begin "$DIR/queries"
	TRUTHS=("Later@hostA=$DIR/later.truth")
	wait_until have_ended
	end_queries
	[ "$(grep -c '"asked"' "$DIR/later.answer")" = 300 ]
	[ "$(grep -c '"asked":\([0-9]*\),"answered":\1,"n":1' "$DIR/later.answer")" = 300 ]
	[ "$(sums handled a)" = "setPermission 300" ]
	no_losses
}
