"""Writes captures of one client that asks one server 100 times, whole and damaged in several ways, into this folder."""
import random
import struct

T0 = 1700000000
HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


def packet(side, seq, ack, data, flags=0x18):
    ports, hosts = ((40000, 80), (80, 40000))[side], (b"\x0a\0\0\x01", b"\x0a\0\0\x02")
    tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, flags, 65535, 0, 0) + data
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + hosts[side] + hosts[1 - side]
    return bytes(12) + b"\x08\x00" + ip + tcp


def packets():
    seq = [1000, 5000]
    said = [(0, b"", 2), (1, b"", 18)]
    for nr in range(100):
        said.append((0, b"GET /cart/%d HTTP/1.1\r\nHost: shop\r\n\r\n" % nr, 0x18))
        said.append((1, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 0x18))
    for i, (side, data, flags) in enumerate(said):
        yield i * 1000, packet(side, seq[side], seq[1 - side], data, flags)
        seq[side] += len(data) + (1 if flags & 2 else 0)


def record(us, data, snap=65535):
    return struct.pack("<IIII", T0 + us // 1000000, us % 1000000, min(snap, len(data)), len(data)) + data[:snap]


def write(name, *parts):
    with open(name, "wb") as out:
        out.write(b"".join(parts))


def main():
    all_packets = list(packets())
    whole = b"".join(record(us, data) for us, data in all_packets)
    rng = random.Random(5)
    noise = bytes(rng.randrange(256) for _ in range(3000))
    middle = sum(16 + len(data) for _, data in all_packets[:100])
    write("whole.pcap", HEAD, whole)
    write("truncated.pcap", HEAD, whole[:-20])
    write("noise-inside.pcap", HEAD, whole[:middle], noise, whole[middle:])
    write("snap-64.pcap", HEAD, *(record(us, data, 64) for us, data in all_packets))
    write("lost.pcap", HEAD, *(record(us, data) for i, (us, data) in enumerate(all_packets) if i % 20 != 7))
    write("clock-back.pcap", HEAD, *(record(us + (0 if us > 100000 else 30000000), data) for us, data in all_packets))
    write("foreign-link.pcap", HEAD[:20], struct.pack("<I", 105), whole)
    write("only-head.pcap", HEAD)
    write("half-head.pcap", HEAD[:10])


main()
