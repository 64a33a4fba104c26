# YARN 3.3.6 with MapReduce for tests, over hdfs.bash: a resource manager and two node managers, each a JVM of its own, which start more of
# them. HDFS_PIDS has the process of each (rm, nm1, nm2). $DIR/classes is among what containers find.

YARN_CACHE=${CULPRIT_CACHE:-$HOME/.cache/culprit}/yarn-3.3.6
YARN_LIB=$YARN_CACHE/lib
YARN_OPENS="--add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.net=ALL-UNNAMED"

# The jars, once; or the test is skipped.
yarn_fetch() {
	[ -d "$YARN_LIB" ] && return
	command -v mvn >/dev/null || skip "the jars of YARN are not in the cache, and there is no Maven"
	mkdir -p "$YARN_CACHE"
	mvn -B -q -Dmaven.repo.local="$YARN_CACHE/../m2" -f "$JVM/yarn-pom.xml" \
		org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
		-DoutputDirectory="$YARN_LIB.part" -DincludeScope=runtime >"$DIR/mvn.log" 2>&1 ||
		skip "the jars of YARN are not in the cache, and cannot be fetched"
	mv "$YARN_LIB.part" "$YARN_LIB"
}

# yarn_conf NODE NUMBER
yarn_conf() {
	local c=$DIR/conf/$1 e java="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC $YARN_OPENS"
	hdfs_conf "$1" 0 name
	mkdir -p "$c/webapps/cluster" "$c/webapps/node" "$c/webapps/jobhistory"
	{
		echo "<configuration>"
		hdfs_property yarn.resourcemanager.hostname 127.0.0.1
		hdfs_property yarn.resourcemanager.bind-host 127.0.0.1
		hdfs_property yarn.resourcemanager.nodemanagers.heartbeat-interval-ms 500
		hdfs_property yarn.nodemanager.hostname 127.0.0.1
		hdfs_property yarn.nodemanager.bind-host 127.0.0.1
		hdfs_property yarn.nodemanager.address "127.0.0.1:804$2"
		hdfs_property yarn.nodemanager.localizer.address "127.0.0.1:805$2"
		hdfs_property yarn.nodemanager.webapp.address "127.0.0.1:806$2"
		hdfs_property yarn.nodemanager.collector-service.address "127.0.0.1:807$2"
		hdfs_property yarn.nodemanager.aux-services mapreduce_shuffle
		hdfs_property yarn.nodemanager.aux-services.mapreduce_shuffle.class org.apache.hadoop.mapred.ShuffleHandler
		hdfs_property yarn.nodemanager.resource.memory-mb 2048
		hdfs_property yarn.nodemanager.resource.cpu-vcores 8
		hdfs_property yarn.scheduler.minimum-allocation-mb 256
		hdfs_property yarn.nodemanager.vmem-check-enabled false
		hdfs_property yarn.nodemanager.pmem-check-enabled false
		hdfs_property yarn.nodemanager.local-dirs "$DIR/data/$1/local"
		hdfs_property yarn.nodemanager.log-dirs "$DIR/logs/containers-$1"
		hdfs_property yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage 99
		hdfs_property yarn.application.classpath "$DIR/classes:$YARN_LIB/*"
		echo "</configuration>"
	} >"$c/yarn-site.xml"
	{
		echo "<configuration>"
		hdfs_property mapreduce.framework.name yarn
		hdfs_property mapreduce.application.classpath "$DIR/classes:$YARN_LIB/*"
		hdfs_property yarn.app.mapreduce.am.resource.mb 512
		hdfs_property yarn.app.mapreduce.am.command-opts "-Xmx300m $java"
		hdfs_property yarn.app.mapreduce.am.staging-dir /staging
		hdfs_property mapreduce.jobhistory.address 127.0.0.1:10020
		hdfs_property mapreduce.jobhistory.webapp.address 127.0.0.1:19888
		hdfs_property mapreduce.map.speculative false
		hdfs_property mapreduce.reduce.speculative false
		hdfs_property mapreduce.map.memory.mb 384
		hdfs_property mapreduce.reduce.memory.mb 384
		hdfs_property mapreduce.map.java.opts "-Xmx220m $java"
		hdfs_property mapreduce.reduce.java.opts "-Xmx220m $java"
		hdfs_property mapreduce.task.io.sort.mb 1
		hdfs_property mapreduce.shuffle.port "1356$2"
		for e in mapreduce.map.env mapreduce.reduce.env yarn.app.mapreduce.am.env; do
			hdfs_property "$e" "HADOOP_MAPRED_HOME=$DIR"
		done
		echo "</configuration>"
	} >"$c/mapred-site.xml"
	{
		echo "<configuration>"
		hdfs_property yarn.scheduler.capacity.root.queues default
		hdfs_property yarn.scheduler.capacity.root.default.capacity 100
		hdfs_property yarn.scheduler.capacity.maximum-am-resource-percent 0.7
		echo "</configuration>"
	} >"$c/capacity-scheduler.xml"
}

# yarn_java NODE ARGUMENTS...: in the namespace, with the configuration of the node
yarn_java() {
	local node=$1
	shift
	exec ip netns exec "$NS" "${HDFS_JAVA[@]}" $YARN_OPENS -Djava.io.tmpdir="$DIR/tmp" -Dhadoop.home.dir="$DIR" -Dyarn.log.dir="$DIR/logs" \
		-cp "$DIR/conf/$node:$DIR/classes:$YARN_LIB/*" "$@"
}

# yarn_server NODE CLASS
yarn_server() {
	(yarn_java "$1" "org.apache.hadoop.yarn.server.$2") >"$DIR/logs/$1.out" 2>&1 3>&- &
	HDFS_PIDS[$1]=$!
	PIDS+=($!)
}

yarn_live_nodes() {
	[ "$(grep -c 'Node Transitioned from NEW to RUNNING' "$DIR/logs/rm.log")" -ge "$1" ]
}

# yarn_up SOURCE...: HDFS is up
yarn_up() {
	local i
	javac -nowarn -cp "$YARN_LIB/*" -d "$DIR/classes" "$@"
	yarn_conf rm 0
	yarn_conf job 0
	yarn_server rm resourcemanager.ResourceManager
	for i in 1 2; do
		yarn_conf "nm$i" "$i"
		yarn_server "nm$i" nodemanager.NodeManager
	done
	# who asks for a job that is done is told by this one
	yarn_conf jhs 0
	(yarn_java jhs org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer) >"$DIR/logs/jhs.out" 2>&1 3>&- &
	HDFS_PIDS[jhs]=$!
	PIDS+=($!)
	wait_until yarn_live_nodes 2
}
