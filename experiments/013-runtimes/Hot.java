// Hot.java -- methods, allocation, lambdas and streams, recursion, sorting, on two threads, for so many milliseconds of wall time
import java.util.*;
import java.util.function.*;
import java.util.stream.*;

public class Hot {
    static volatile long sink;

    static long collatz(long n) {
        long steps = 0;
        for (; n != 1; steps++)
            n = (n & 1) == 0 ? n / 2 : 3 * n + 1;
        return steps;
    }

    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

    record Point(double x, double y) { double length() { return Math.sqrt(x * x + y * y); } }

    static double allocate(int count) {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < count; i++)
            points.add(new Point(i, -i));
        return points.stream().mapToDouble(Point::length).filter(length -> length > 3).sum();
    }

    static int words(int count) {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < count; i++)
            counts.merge(Integer.toString(i * 7919 % 1009), 1, Integer::sum);
        List<String> keys = counts.keySet().stream().sorted(Comparator.comparing(String::length).thenComparing(Function.identity())).collect(Collectors.toList());
        return keys.size();
    }

    static void work(long end) {
        while (System.nanoTime() < end) {
            for (int i = 1; i < 3000; i++)
                sink += collatz(i);
            sink += fib(22) + words(5000) + (long) allocate(20000);
        }
    }

    public static void main(String[] arguments) throws Exception {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000;
        Thread other = new Thread(() -> work(end), "other");
        other.start();
        work(end);
        other.join();
        System.out.println(sink != 0);
    }
}
