/** BusyJava -- runs in the interpreter for as many milliseconds as it is told. */
public class BusyJava {
    static int collatz(long n) {
        int steps = 0;
        for (; n != 1; steps++)
            n = (n & 1) == 0 ? n >> 1 : 3 * n + 1;
        return steps;
    }

    public static void main(String[] arguments) {
        long end = System.nanoTime() + Integer.parseInt(arguments[0]) * 1000000L, sum = 0;
        while (System.nanoTime() < end)
            for (int i = 1; i < 500; i++)
                sum += collatz(i);
        System.out.println(sum > 0);
    }
}
