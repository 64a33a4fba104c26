"""Runs the map, combine and reduce steps of culprit on Spark; the records come back in order.

spark-submit engine_spark.py FAILURE run PROGRAM PLAN RECORDS FILES [MODEL...]
spark-submit engine_spark.py FAILURE reduce PROGRAM PLAN CHAINS FRAGMENTS REDUCERS [MODEL...]
spark-submit engine_spark.py FAILURE look LISTING HEADS URI

FILES holds lines "NUMBER<tab>URI". Lines are handed to the program as the bytes that they are: Spark's text source
keeps bytes that are not UTF-8, and with \\n named as the end of lines also the \\r in front of it.
"""

import gzip
import os
import re
import subprocess
import sys
import threading

from pyspark import SparkFiles, StorageLevel
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

FRAME_BYTES = 1 << 18
HEAD_BYTES = 1 << 19
KEY_BYTES = 32


def plain(uri):
    """The path alone: file:/x, file:///x, /x are the same file, and machines may be named or not."""
    return "/" + re.sub(r"^[a-z0-9+.-]+:(//[^/]*)?", "", uri).lstrip("/")


def write_frames(rows, numbers, out, failures):
    """Lines of one part after the other, in pieces."""
    try:
        part, lines, size = None, [], 0
        for value, uri, start in rows:
            if part != (uri, start) or size >= FRAME_BYTES:
                flush(part, lines, numbers, out)
                part, lines, size = (uri, start), [], 0
            lines.append(bytes(value))
            size += len(value) + 1
        flush(part, lines, numbers, out)
    except BrokenPipeError:
        pass  # the program went away; its exit status tells why
    except Exception as e:
        failures.append(e)
    finally:
        try:
            out.close()
        except BrokenPipeError:
            pass


def flush(part, lines, numbers, out):
    if not lines:
        return
    data = b"\n".join(lines) + b"\n"
    out.write(b"%d %d %d\n" % (numbers[plain(part[0])], part[1], len(data)))
    out.write(data)


def steps(program, models, numbers):
    """For each partition: lines -> map -> combine -> (key, rest)."""

    def run(rows):
        exe = program or SparkFiles.get("culprit")
        command = [exe, "step", "map", "--frames", "--plan", SparkFiles.get("plan")]
        if models:
            command += ["--model", ",".join(SparkFiles.get(m) for m in models)]
        try:
            first = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            second = subprocess.Popen([exe, "step", "combine"], stdin=first.stdout, stdout=subprocess.PIPE)
        except OSError as e:
            raise RuntimeError("CULPRIT<a worker cannot run '%s': %s>" % (exe, e.strerror))
        first.stdout.close()
        failures = []
        writer = threading.Thread(target=write_frames, args=(rows, numbers, first.stdin, failures))
        writer.start()
        for line in second.stdout:
            line = line.rstrip(b"\n")
            yield line[:KEY_BYTES].decode(), line[KEY_BYTES:]
        writer.join()
        said = first.stderr.read().decode(errors="replace").strip().split("\n")[-1]
        if failures:
            raise failures[0]
        if first.wait() or second.wait():
            raise RuntimeError("CULPRIT<%s>" % (said or "a map step was ended (status %d)" % first.returncode))

    return run


def write_lines(rows, out, failures):
    try:
        for key, rest in rows:
            out.write(key.encode() + rest + b"\n")
    except BrokenPipeError:
        pass  # the program went away; its exit status tells why
    except Exception as e:
        failures.append(e)
    finally:
        try:
            out.close()
        except BrokenPipeError:
            pass


def reducer(program, models):
    """For each partition: records of whole chains, in order -> reduce -> records of requests."""

    def run(rows):
        exe = program or SparkFiles.get("culprit")
        command = [exe, "step", "reduce", "--plan", SparkFiles.get("plan")]
        if models:
            command += ["--model", ",".join(SparkFiles.get(m) for m in models)]
        try:
            one = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as e:
            raise RuntimeError("CULPRIT<a worker cannot run '%s': %s>" % (exe, e.strerror))
        failures = []
        writer = threading.Thread(target=write_lines, args=(rows, one.stdin, failures))
        writer.start()
        yield from one.stdout
        writer.join()
        said = one.stderr.read().decode(errors="replace").strip().split("\n")[-1]
        if failures:
            raise failures[0]
        if one.wait():
            raise RuntimeError("CULPRIT<%s>" % (said or "a reduce step was ended (status %d)" % one.returncode))

    return run


def read(spark, uris):
    lines = spark.read.option("lineSep", "\n").text(uris)
    return lines.select(F.col("value").cast("binary"), F.input_file_name(), F.expr("input_file_block_start()"))


def reason(text):
    """What went wrong, in one line: as the program says, or as the innermost exception does."""
    said = re.findall(r"CULPRIT<([^%>]+)>", text)
    thrown = re.findall(r"^(?:Caused by: )?[\w.]+(?:Error|Exception): .+", text, re.M)
    return (said or thrown or text.strip().split("\n"))[-1]


def find_files(jvm, conf, uri):
    """Status of every file at or below a URI, hidden ones left out."""
    path = jvm.org.apache.hadoop.fs.Path(uri)
    fs = path.getFileSystem(conf)
    for found in fs.globStatus(path) or []:
        inside = fs.listFiles(found.getPath(), True)
        while inside.hasNext():
            status = inside.next()
            name = status.getPath().toString()[len(found.getPath().toString()):]
            if status.getLen() and "/." not in name and "/_" not in name:
                yield fs, status


def look(spark, listing, heads, uri):
    """What is there, and how each file begins."""
    jvm, conf = spark._jvm, spark.sparkContext._jsc.hadoopConfiguration()
    with open(listing, "w") as out:
        for nr, (fs, status) in enumerate(find_files(jvm, conf, uri)):
            size = status.getLen()
            stream = fs.open(status.getPath())
            data = jvm.org.apache.commons.io.IOUtils.toByteArray(stream, min(size, HEAD_BYTES))
            stream.close()
            with open(heads + str(nr), "wb") as f:
                f.write(data)
            out.write("%d\t%d\t%s\n" % (size, status.getModificationTime() // 1000, status.getPath().toString()))


def send(sc, program, plan, models):
    """What workers need; the program that they are to run, None for the one that was sent."""
    for path in (plan,) + models:
        sc.addFile(path)
    if os.path.basename(program) != "culprit":
        return program
    sc.addFile(program)
    return None


def run(spark, program, plan, records, files, *models):
    """Map, combine, and the records in order."""
    numbers, uris = {}, []
    with open(files) as f:
        for line in f:
            number, uri = line.rstrip("\n").split("\t")
            numbers[plain(uri)] = int(number)
            uris.append("file://" + uri if uri.startswith("/") else uri)
    sc = spark.sparkContext
    program = send(sc, program, plan, models)
    rdd = read(spark, uris).rdd.mapPartitions(steps(program, [os.path.basename(m) for m in models], numbers))
    most = max(numbers.values()) + 1
    nr = min(most, 2 * sc.defaultParallelism)
    ordered = rdd.repartitionAndSortWithinPartitions(nr, lambda key: int(key[:8], 16) * nr // most)
    with gzip.open(records, "wb", 6) as out:
        for key, rest in ordered.toLocalIterator():
            out.write(key.encode() + rest + b"\n")


def put(spark, path):
    """Where workers find a file of this machine: in the file system that they share, if there is one."""
    jvm, conf = spark._jvm, spark.sparkContext._jsc.hadoopConfiguration()
    fs = jvm.org.apache.hadoop.fs.FileSystem.get(conf)
    if fs.getUri().getScheme() == "file" or spark.sparkContext.master.startswith("local"):
        return None, "file://" + path
    name = os.path.basename(os.path.dirname(path)) + "." + os.path.basename(path)
    there = jvm.org.apache.hadoop.fs.Path(fs.getHomeDirectory(), name)
    fs.copyFromLocalFile(jvm.org.apache.hadoop.fs.Path("file://" + path), there)
    fs.deleteOnExit(there)
    return lambda: fs.delete(there, False), there.toString()


def reduce(spark, program, plan, chains, fragments, nr, *models):
    """Chains to reducers, and what they write back, in any order of chains."""
    sc, nr = spark.sparkContext, int(nr)
    program = send(sc, program, plan, models)
    remove, uri = put(spark, chains)
    lines = spark.read.option("lineSep", "\n").text(uri).select(F.col("value").cast("binary")).rdd
    keyed = lines.map(lambda row: (bytes(row[0][:KEY_BYTES]).decode(), bytes(row[0][KEY_BYTES:])))
    dealt = keyed.repartitionAndSortWithinPartitions(nr, lambda key: int(key[:8], 16) % nr)
    made = dealt.mapPartitions(reducer(program, [os.path.basename(m) for m in models]))
    made.persist(StorageLevel.DISK_ONLY)
    made.count()  # all at once: an iterator has one after the other made
    with gzip.open(fragments, "wb", 6) as out:
        for line in made.toLocalIterator():
            out.write(line)
    if remove:
        remove()


def main():
    failure, what, *args = sys.argv[1:]
    try:
        spark = SparkSession.builder.getOrCreate()
        {"run": run, "reduce": reduce, "look": look}[what](spark, *args)
        spark.stop()
    except Exception as e:
        with open(failure, "w") as f:
            f.write(reason(str(e)))
        sys.exit(1)


main()
