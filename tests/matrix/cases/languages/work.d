// work.d -- garbage made by a task pool, whose threads the collector stops by signals; a thread, a fiber, a child
import std.stdio, std.parallelism, std.range, core.memory, core.thread, std.process;

class Node { Node next; int[10] numbers; }

void main()
{
    foreach (round; 0 .. 3) {
        foreach (j; parallel(iota(8))) {
            Node head;
            foreach (k; 0 .. 20_000) { auto node = new Node; node.next = k % 100 ? head : null; head = node; }
        }
        GC.collect();
    }
    writeln(taskPool.reduce!"a + b"(iota(1_000_000L)));
    auto thread = new Thread({ foreach (i; 0 .. 100_000) { auto numbers = new int[10]; } }).start();
    thread.join();
    auto fiber = new Fiber({ Fiber.yield(); });
    fiber.call();
    fiber.call();
    writeln(executeShell("echo child; exit 3").status);
}
