/* Work.cs -- Mono: compiled at run time, faults that become exceptions, threads that make garbage */
using System;
using System.Linq;
using System.Threading;

class Work
{
    static int Fibonacci(int n) { return n < 2 ? n : Fibonacci(n - 1) + Fibonacci(n - 2); }

    static void Main()
    {
        int zero = 0;
        string nothing = null;
        Console.WriteLine(Fibonacci(30));
        try { Console.WriteLine(nothing.Length); } catch (NullReferenceException) { Console.WriteLine("no object"); }
        try { Console.WriteLine(1 / zero); } catch (DivideByZeroException) { Console.WriteLine("division"); }
        var threads = Enumerable.Range(1, 4).Select(k => new Thread(() => { for (int i = 0; i < 200; i++) GC.KeepAlive(new byte[100000]); })).ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        GC.Collect();
        Environment.Exit(5);
    }
}
