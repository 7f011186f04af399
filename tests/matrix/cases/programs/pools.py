"""pools -- multiprocessing in each of its ways, asyncio, threads and subprocesses, in one Python program"""

import asyncio
import concurrent.futures
import multiprocessing
import subprocess
import sys
import threading


def work(n: int) -> int:
    return sum(i * i % 7 for i in range(n))


async def tick(n: int) -> int:
    await asyncio.sleep(0.001)
    return work(n)


async def gather() -> list:
    process = await asyncio.create_subprocess_exec("echo", "from a child", stdout=subprocess.PIPE)
    text, _ = await process.communicate()
    return [sum(await asyncio.gather(*(tick(1000 + i) for i in range(50)))), text.decode().strip()]


def main() -> None:
    match sys.argv[1]:
        case "fork" | "spawn" | "forkserver" as way:
            with multiprocessing.get_context(way).Pool(2) as pool:
                print(pool.map(work, range(40000, 40010)))
        case "asyncio":
            print(asyncio.run(gather()))
        case "threads":
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                print(list(pool.map(work, range(30000, 30010))))
            lock, total = threading.Lock(), [0]

            def add() -> None:
                for _ in range(2000):
                    with lock:
                        total[0] += 1

            threads = [threading.Thread(target=add) for _ in range(8)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            print(total)
        case "subprocesses":
            print([subprocess.run(["sh", "-c", f"exit {i}"]).returncode for i in range(12)])


if __name__ == "__main__":
    main()
