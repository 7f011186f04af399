// Hot.cs -- methods, objects, closures, recursion, text and sorting, for so many milliseconds of wall time
using System;
using System.Collections.Generic;
using System.Linq;

static class Hot {
    static long Collatz(long n) {
        long steps = 0;
        for (; n != 1; steps++)
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        return steps;
    }
    static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }
    static int Words(int count) {
        var counts = new Dictionary<string, int>();
        for (int i = 0; i < count; i++) {
            var word = (i * 7919 % 1009).ToString();
            int old;
            counts.TryGetValue(word, out old);
            counts[word] = old + 1;
        }
        return counts.OrderByDescending(pair => pair.Value).ThenBy(pair => pair.Key, StringComparer.Ordinal).Count();
    }
    static void Main(string[] arguments) {
        var clock = System.Diagnostics.Stopwatch.StartNew();
        long sum = 0;
        while (clock.ElapsedMilliseconds < long.Parse(arguments[0])) {
            for (int i = 1; i < 3000; i++)
                sum += Collatz(i);
            sum += Fib(22) + Words(5000);
        }
        Console.WriteLine(sum > 0);
    }
}
