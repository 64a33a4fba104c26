# Engines for live tests: Spark from PyPI and Hadoop Streaming from Maven Central, pinned, kept in the cache. Sourced.
CACHED=${CULPRIT_CACHE:-$HOME/.cache/culprit}
PYSPARK=3.5.9
STREAMING=3.3.5 # the newest of 3.3 that Central has; it runs on 3.3.6

# need_spark: spark-submit on PATH, or skip
need_spark() {
	local venv=$CACHED/spark-venv
	command -v java >/dev/null || skip "no java"
	if ! "$venv/bin/python" -c 'import pyspark' 2>/dev/null; then
		[ "$LIVE" = all ] || skip "slow: make test-live"
		python3 -m venv "$venv" || skip "no python3 -m venv"
		"$venv/bin/python" -m pip install -q "pyspark==$PYSPARK" || skip "pyspark cannot be fetched"
	fi
	PATH=$venv/bin:$PATH
	# small parts, so that small logs are cut
	mkdir -p "$DIR/spark"
	printf '%s\n' "spark.sql.files.maxPartitionBytes 300000" "spark.sql.files.openCostInBytes 1000" >"$DIR/spark/spark-defaults.conf"
	export SPARK_CONF_DIR=$DIR/spark
}

# need_hadoop: a command hadoop on PATH made of jars alone, jobs run in it, two maps or reducers at a time; or skip
need_hadoop() {
	local lib=$CACHED/yarn-3.3.6/lib jar=$CACHED/hadoop-streaming/hadoop-streaming-$STREAMING.jar
	command -v java >/dev/null || skip "no java"
	if ! [ -f "$jar" ]; then
		[ "$LIVE" = all ] || skip "slow: make test-live"
		mvn -q -B -Dmaven.repo.local="$CACHED/m2" dependency:copy -Dartifact=org.apache.hadoop:hadoop-streaming:$STREAMING \
			-DoutputDirectory="$(dirname "$jar")" >"$DIR/mvn" 2>&1 || skip "hadoop-streaming cannot be fetched"
	fi
	[ -d "$lib" ] || lib=$("$ROOT/tests/learn/fetch" yarn-3.3.6 2>/dev/null) || skip "Hadoop's jars cannot be fetched"
	mkdir -p "$DIR/hadoop"
	cat >"$DIR/hadoop/hadoop" <<-END
		#!/bin/bash
		case \$1 in
		jar) main=org.apache.hadoop.util.RunJar ;;
		fs) main=org.apache.hadoop.fs.FsShell ;;
		esac
		exec java -Xmx512m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "\${HADOOP_CONF_DIR:-$DIR/hadoop}:$lib/*" \$main "\${@:2}"
	END
	chmod +x "$DIR/hadoop/hadoop"
	echo "<configuration><property><name>hadoop.tmp.dir</name><value>$DIR/tmp</value></property></configuration>" >"$DIR/hadoop/core-site.xml"
	cat >"$DIR/hadoop/mapred-site.xml" <<-'END'
		<configuration>
		<property><name>mapreduce.job.maps</name><value>8</value></property>
		<property><name>mapreduce.local.map.tasks.maximum</name><value>2</value></property>
		<property><name>mapreduce.local.reduce.tasks.maximum</name><value>2</value></property>
		</configuration>
	END
	PATH=$DIR/hadoop:$PATH
	export HADOOP_STREAMING_JAR=$jar
}

# on_yarn COMMAND: HDFS and YARN with two nodes each are started for it, which finds its own HADOOP_CONF_DIR; or skip
on_yarn() {
	local start=${CULPRIT_SYSTEMS:-$ROOT/../shared/systems}/yarn-3.3.6/run.sh
	[ -x "$start" ] || skip "no $start"
	[ "$(id -u)" = 0 ] || skip "needs root for a network of its own"
	export W=$DIR/yarn HADOOP_USER_NAME=root DRAIN=0
	CLIENT_CMD="export HADOOP_CONF_DIR=$DIR/yarn/conf/client; $1" timeout 900 "$start" >"$DIR/yarn.log" 2>&1
}
