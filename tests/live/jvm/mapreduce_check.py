"""What queries answered of MapReduce jobs against what clients (StressTest.java), jobs (SortJob.java) and DataNodes counted.

mapreduce_check.py ANSWERS BYTES TRUTH...: BYTES is what all DataNodes have sent; TRUTH is NAME@HOST=FILE; says each difference.
Containers stand still until they are woven (docs/jvm.md): nothing of them is missing.
"""
import collections
import glob
import json
import re
import sys

CHUNK, CHECKSUM = 512, 4


def answered(folder, name):
    seconds, rows = {}, collections.Counter()
    with open("%s/%s.answer" % (folder, name), encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if "n" in row:
                seconds[(row["time"],) + tuple(str(row[k]) for k in "abc" if k in row)] = row["n"]
    for key, n in seconds.items():
        rows[key[1:]] += n
    return rows


def lost(folder):
    """What all answers say is missing."""
    found = collections.Counter()
    for path in glob.glob(folder + "/*.answer"):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("{"):
                    found.update(json.loads(line).get("losses", {}))
    return dict(found)


def sent(n):
    """Of a file that is read whole: with the checksums, which DataNodes count as well."""
    return n + (n + CHUNK - 1) // CHUNK * CHECKSUM


def truths(given):
    found = {}
    for one in given:
        client, path = one.split("=", 1)
        with open(path, encoding="utf-8") as file:
            found[client.split("@")[0]] = [line.rstrip("\n").split("\t") for line in file]
    return found


def total(lines, *words):
    return sum(int(n) for what, key, n in lines if (what, key)[: len(words)] == words)


wrong = 0


def check(what, is_so):
    global wrong
    print("%s: %s" % (what, "as it is" if is_so else "WRONG"))
    wrong += not is_so


def job(folder, name, lines):
    files, disk = answered(folder, "files"), collections.Counter()
    for what, path, n in lines:
        if what == "input":
            got = files[name, "YarnChild", path]
            check("%s read %d of %s" % (name, got, path), got == sent(int(n)))
    check("%s read some file" % name, any(k[0] == name and k[2].startswith("/sort") for k in files))
    for query, tasks in (("maps", "input"), ("reduces", "output")):
        nr = answered(folder, query)[name,]
        check("%s: %d %s" % (name, nr, query), nr == sum(what == tasks for what, _, _ in lines))
    for query in ("read", "written"):
        for key, n in answered(folder, query).items():
            disk[query] += n if key[1:] == (name, "YarnChild") else 0
    print("%s: tasks read %d and wrote %d bytes of local disks, by the job's counters %d and %d" % (name, disk["read"], disk["written"],
        total(lines, "counter", "FILE_BYTES_READ"), total(lines, "counter", "FILE_BYTES_WRITTEN")))
    check("%s: spills are written" % name, disk["written"] > total(lines, "counter", "FILE_BYTES_WRITTEN") / 4)


def figure(folder):
    """Disks by host and client, as a person sees it, is what the rows say."""
    with open("%s/figure1c.answer" % folder, encoding="utf-8") as file:
        lines = [line for line in file if line.strip()]
    print("".join(lines))
    head = next(i for i, line in enumerate(lines) if line.split()[0] == "f.host")
    ends = [(word.group(), word.end()) for word in re.finditer(r"\S+", lines[head].rstrip()) if word.group() not in ("f.host", "over", "time")]
    shown, told = {}, collections.Counter()
    for line in lines[head + 1:]:
        # numbers end where their heads do; of what was not seen there is a dash
        cells = {client: re.search(r"([\d,]+|-)$", line[:end].rstrip("\n")) for client, end in ends}
        if all(cells.values()):
            shown.update({(line.split()[0], c): int(m.group().replace(",", "")) for c, m in cells.items() if m.group() != "-"})
    for (host, client, _), n in answered(folder, "written").items():
        for key in (host, client), (host, "all"), ("all", client), ("all", "all"):
            told[key] += n
    check("the table of hosts and clients, %d cells" % len(shown), shown == dict(told))


def main(folder, sum_read, given):
    read, written = answered(folder, "q2"), answered(folder, "q2w")
    known = truths(given)
    print(dict(read), dict(written))
    check("nobody else reads", {k for k, in read} == {n for n in known if total(known[n], "bytes") or total(known[n], "input")})
    check("all that DataNodes have sent, %d bytes" % sum_read, sum(read.values()) == sum_read)
    check("nobody else writes", {k for k, in written} <= set(known))
    for name, lines in known.items():
        if total(lines, "input"):
            job(folder, name, lines)
            check("%s reads its files, and writes" % name, read[name,] >= sum(sent(int(n)) for w, _, n in lines if w == "input") and written[name,] > 0)
        else:
            check("%s reads and writes what it counted" % name, read[name,] == sent(total(lines, "bytes")) and written[name,] == total(lines, "written"))
    check("no machine was late or missed, %s" % lost(folder), not any(k.startswith("machines_") for k in lost(folder)))
    figure(folder)
    return 1 if wrong else 0


sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
