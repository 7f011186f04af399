// SplitJava.java -- ways to use CPU time, each in a method of its own, on two threads, for so many milliseconds of CPU time each; prints what each used by the thread's clock
import java.lang.management.*;
import java.util.*;
import java.util.function.*;
import java.util.zip.*;

public class SplitJava {
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static final int SLICE_NS = 2000000;
    static volatile long sink;
    static volatile int[] kept;

    static long step(long x) {
        x ^= x << 13;
        x ^= x >>> 7;
        return x ^ x << 17;
    }

    static long loop(int count) {
        long x = count | 1;
        for (int i = 0; i < count; i++)
            x = step(x);
        return x;
    }

    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

    static int deep(int n) { return n == 0 ? fib(8) : 1 + deep(n - 1); }

    static int thrower(int n) {
        if (n == 0)
            throw new IllegalStateException("thrown");
        return thrower(n - 1) + 1;
    }

    interface Shape { long area(long x); }
    static class Square implements Shape { public long area(long x) { return x * x + 1; } }
    static class Circle implements Shape { public long area(long x) { return 3 * x * x; } }
    static class Line implements Shape { public long area(long x) { return x >>> 1; } }
    static class Point implements Shape { public long area(long x) { return x + 7; } }
    static final Shape[] SHAPES = {new Square(), new Circle(), new Line(), new Point()};

    static void loops() { sink += loop(20000); }

    static void recursion() { sink += fib(17); }

    static void depth() { sink += deep(900); }

    static void exceptions() {
        for (int i = 0; i < 50; i++)
            try {
                sink += thrower(10);
            } catch (IllegalStateException thrown) {
                sink++;
            }
    }

    static void lambdas() {
        LongUnaryOperator twice = x -> step(step(x)), both = twice.andThen(x -> x + sink);
        long x = 1;
        for (int i = 0; i < 3000; i++)
            x = both.applyAsLong(x);
        sink += x;
    }

    static void interfaces() {
        long x = 1;
        for (int i = 0; i < 20000; i++)
            x += SHAPES[i * 7 >> 2 & 3].area(x);
        sink += x;
    }

    static void allocation() {
        for (int i = 0; i < 2000; i++)
            kept = new int[64 + (i & 63)];
    }

    static void strings() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 300; i++)
            text.append(i * 31).append(i % 3 == 0 ? "fizz" : "buzz");
        sink += text.toString().compareTo(text.reverse().toString()) + text.indexOf("zzz31") + text.toString().hashCode();
    }

    static void sorting() {
        Integer[] numbers = new Integer[500];
        for (int i = 0; i < numbers.length; i++)
            numbers[i] = i * 7919 % 1009;
        Arrays.sort(numbers, Comparator.comparing(Integer::intValue).reversed());
        sink += numbers[0];
    }

    static final byte[] BYTES = new byte[20000];
    static {
        for (int i = 0; i < BYTES.length; i++)
            BYTES[i] = (byte) (i * i >> 5);
    }

    /* In native code, called by JNI. */
    static void compression() {
        byte[] packed = new byte[30000];
        Deflater deflater = new Deflater();
        deflater.setInput(BYTES);
        deflater.finish();
        sink += deflater.deflate(packed);
        deflater.end();
    }

    static void copying() {
        int[] from = new int[2000], to = new int[2000];
        for (int i = 0; i < 100; i++)
            System.arraycopy(from, i, to, 100 - i, 1800);
        sink += to[5];
    }

    /* Called back from native code, which reflection and class initialisers are. */
    static void reflection() {
        try {
            for (int i = 0; i < 20; i++)
                sink += (long) SplitJava.class.getDeclaredMethod("loop", int.class).invoke(null, 100);
        } catch (ReflectiveOperationException never) {
            throw new IllegalStateException(never);
        }
    }

    static final Map<String, Runnable> WAYS = new LinkedHashMap<>();
    static {
        WAYS.put("loops", SplitJava::loops);
        WAYS.put("recursion", SplitJava::recursion);
        WAYS.put("depth", SplitJava::depth);
        WAYS.put("exceptions", SplitJava::exceptions);
        WAYS.put("lambdas", SplitJava::lambdas);
        WAYS.put("interfaces", SplitJava::interfaces);
        WAYS.put("allocation", SplitJava::allocation);
        WAYS.put("strings", SplitJava::strings);
        WAYS.put("sorting", SplitJava::sorting);
        WAYS.put("compression", SplitJava::compression);
        WAYS.put("copying", SplitJava::copying);
        WAYS.put("reflection", SplitJava::reflection);
    }

    /* The clock is read seldom enough to cost nothing. */
    static void work(long most, Map<String, Long> used) {
        Map<String, Integer> counts = new HashMap<>();
        for (long sum = 0; sum < most;)
            for (Map.Entry<String, Runnable> way : WAYS.entrySet()) {
                long begin = CLOCK.getCurrentThreadCpuTime(), before = begin, end = begin;
                for (; end - begin < SLICE_NS; before = end) {
                    int count = counts.getOrDefault(way.getKey(), 1);
                    for (int i = 0; i < count; i++)
                        way.getValue().run();
                    end = CLOCK.getCurrentThreadCpuTime();
                    if (end - before < SLICE_NS / 8)
                        counts.put(way.getKey(), 2 * count);
                    else if (end - before > SLICE_NS / 2 && count > 1)
                        counts.put(way.getKey(), count / 2);
                }
                used.merge(way.getKey(), end - begin, Long::sum);
                sum += end - begin;
            }
    }

    public static void main(String[] arguments) throws Exception {
        long most = Integer.parseInt(arguments[0]) * 1000000L;
        List<Map<String, Long>> used = List.of(new LinkedHashMap<>(), new LinkedHashMap<>());
        List<Thread> threads = new ArrayList<>();
        for (Map<String, Long> one : used)
            threads.add(new Thread(() -> work(most, one)));
        for (Thread thread : threads)
            thread.start();
        for (Thread thread : threads)
            thread.join();
        for (String name : WAYS.keySet())
            System.out.println(name + " " + (used.get(0).get(name) + used.get(1).get(name)));
    }
}
