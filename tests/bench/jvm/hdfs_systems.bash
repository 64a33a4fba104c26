# An HDFS with a client that waits for orders, for tests/bench/jvm/hdfs and hdfs-profile, which set $build; $top is a folder for all of them.
JVM=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../live/jvm" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(mktemp -d)
PIDS=()
SYSTEMS=()
skip() {
	echo "skipped: $*"
	exit 0
}
# shellcheck source=/dev/null
. "$JVM/../wait.bash"
# shellcheck source=/dev/null
. "$JVM/hdfs.bash"
down() {
	local p which
	for which in "${SYSTEMS[@]}"; do
		NS=culprit-cost-$$-$which hdfs_down
	done
	for p in "${PIDS[@]}"; do
		wait "$p" || true # here, so that nothing is said of it
	done
	rm -rf "$top"
}
trap 'down 2>/dev/null' EXIT
# As servers run: compiled for good, which takes ten thousand calls of a method otherwise: a minute of creates after each change.
# (Threads that compile stay, so that their time can be told apart.)
HDFS_JAVA=(java -XX:+UseSerialGC -Xmx256m -XX:CompileThresholdScaling=0.1 -XX:-UseDynamicNumberOfCompilerThreads -Djava.net.preferIPv4Stack=true ${JAVA_MORE:-})

# up NAME: one more, whose processes are in pids afterwards: client, NameNode, DataNodes
up() {
	DIR=$top/$1
	NS=culprit-cost-$$-$1
	SYSTEMS+=("$1")
	mkdir "$DIR"
	hdfs_fetch
	hdfs_up "$here/HdfsCost.java"
	mkfifo "$DIR/say" "$DIR/hear"
	(hdfs_java client -Dculprit.name=Cost HdfsCost) <"$DIR/say" >"$DIR/hear" 2>"$DIR/client.err" &
	PIDS+=($!)
	pids="$!,${HDFS_PIDS[nn]},${HDFS_PIDS[dn1]},${HDFS_PIDS[dn2]},${HDFS_PIDS[dn3]}"
}
