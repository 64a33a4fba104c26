"""Runs the map and combine steps of culprit on Spark; the records come back in order.

spark-submit engine_spark.py PROGRAM PLAN RECORDS FAILURE FILES [MODEL...]

FILES holds lines "NUMBER<tab>URI". Lines are handed to the program as the bytes that they are: Spark's text source
keeps bytes that are not UTF-8, and with \\n named as the end of lines also the \\r in front of it.
"""

import gzip
import os
import subprocess
import sys
import threading

from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

FRAME_BYTES = 1 << 18
KEY_BYTES = 32


def plain(uri):
    """file:/x, file:///x and /x are the same file."""
    if uri.startswith("file:"):
        return "/" + uri[len("file:"):].lstrip("/")
    return uri


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
        first = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        second = subprocess.Popen([exe, "step", "combine"], stdin=first.stdout, stdout=subprocess.PIPE)
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
            raise RuntimeError("CULPRIT<%s>" % (said or "the map step was ended (status %d)" % first.returncode))

    return run


def read(spark, uris):
    lines = spark.read.option("lineSep", "\n").text(uris)
    return lines.select(F.col("value").cast("binary"), F.input_file_name(), F.expr("input_file_block_start()"))


def main():
    program, plan, records, failure, files = sys.argv[1:6]
    numbers = {}
    with open(files) as f:
        for line in f:
            number, uri = line.rstrip("\n").split("\t")
            numbers[plain(uri)] = int(number)
    spark = SparkSession.builder.getOrCreate()
    sc = spark.sparkContext
    models = [os.path.basename(m) for m in sys.argv[6:]]
    for path in [plan] + sys.argv[6:]:
        sc.addFile(path)
    if os.path.basename(program) == "culprit":
        sc.addFile(program)
        program = None
    try:
        uris = ["file://" + u if u.startswith("/") else u for u in numbers]
        rdd = read(spark, uris).rdd.mapPartitions(steps(program, models, numbers))
        most = max(numbers.values()) + 1
        nr = min(most, 2 * sc.defaultParallelism)
        ordered = rdd.repartitionAndSortWithinPartitions(nr, lambda key: int(key[:8], 16) * nr // most)
        with gzip.open(records, "wb", 6) as out:
            for key, rest in ordered.toLocalIterator():
                out.write(key.encode() + rest + b"\n")
    except Exception as e:
        text = str(e)
        at = text.find("CULPRIT<")
        text = text[at + len("CULPRIT<"):].split(">")[0] if at >= 0 else text.strip().split("\n")[0]
        with open(failure, "w") as f:
            f.write(text)
        sys.exit(1)
    finally:
        spark.stop()


main()
