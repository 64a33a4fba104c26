"""Makes logs that are hard to cut: odd bytes, events of many lines, lines in front of the first and after the last."""


def stamp(i):
    return b"2024-05-01 10:%02d:%02d,%03d" % (i // 60 % 60, i % 60, i * 7 % 1000)


def event(i, text, end=b"\n"):
    return stamp(i) + b" INFO  [worker-%d] shop.Cart: " % (i % 3) + text + end


def write(name, data):
    with open("odd/" + name, "wb") as f:
        f.write(data)


write("bom.log", b"\xef\xbb\xbf" + b"".join(event(i, b"request_id=%08x-77aa begins" % (i * 77)) for i in range(20)))
write("crlf.log", b"".join(event(i, b"request_id=%08x-77aa step %d" % (i // 3 * 40503, i % 3), b"\r\n") for i in range(60)))
write(
    "odd.log",
    b"a line in front\n\nand one more\n"
    + b"".join(
        event(i, b"request_id=%08x-77aa \xff\xfe says \x00 and \\t \t tab " % (i * 40503))
        + (b"\n\n" if i % 5 == 0 else b"")
        + (b"goes on with \x1e and \\1 \r inside\n" if i % 4 == 0 else b"")
        for i in range(40)
    )
    + b"and stops",
)
write(
    "traces.log",
    b"".join(
        event(i, b"request_id=%08x-77aa failed for blk_%d" % (i // 2 * 40503, 1000 + i))
        + (b"java.io.IOException: blk_%d of /data/%d is gone\n" % (1000 + i, i))
        + b"".join(b"\tat shop.Cart.put%d(Cart.java:%d)\n" % (k, k) for k in range(i % 7))
        for i in range(60)
    ),
)
