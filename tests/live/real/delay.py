"""A TCP proxy that delays what clients send: delay.py ADDRESS PORT TARGET:PORT MILLISECONDS

Bytes towards the target arrive so much later, in order, several on their way at once; answers come back at once. When it
is ended it prints by how many milliseconds they were late in truth, on average.
"""
import asyncio
import signal
import sys


async def main():
    host, _, port = sys.argv[3].partition(":")
    late = float(sys.argv[4]) / 1000
    lateness = []

    async def forward(reader, line):
        loop = asyncio.get_running_loop()
        while data := await reader.read(65536):
            line.put_nowait((loop.time() + late, data))
        line.put_nowait((0, b""))

    async def deliver(line, writer):
        loop = asyncio.get_running_loop()
        while (item := await line.get())[1]:
            if item[0] > loop.time():
                await asyncio.sleep(item[0] - loop.time())
            writer.write(item[1])
            lateness.append(loop.time() - item[0] + late)
            await writer.drain()
        writer.close()

    async def back(reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def client(reader, writer):
        there, onward = await asyncio.open_connection(host, int(port))
        line = asyncio.Queue()
        try:
            await asyncio.gather(forward(reader, line), deliver(line, onward), back(there, writer))
        except ConnectionError:
            pass

    server = await asyncio.start_server(client, sys.argv[1], int(sys.argv[2]), backlog=256)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()
    server.close()
    print(round(1000 * sum(lateness) / max(len(lateness), 1)), flush=True)


asyncio.run(main())
