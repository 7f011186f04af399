// WaitingJava -- truth: three threads that wait, each in a method of its own, for as many milliseconds as the first argument says; "NAME ns" is the time that its waits took
//
// Each wait is longer than the time between looks of collector record --wall. Runs a method often enough beforehand that it is compiled.

import java.util.concurrent.locks.LockSupport;

public final class WaitingJava {
    interface Wait { void once(long milliseconds) throws InterruptedException; }

    private static final Object monitor = new Object();
    private static volatile long work;

    private static void sleeping(long milliseconds) throws InterruptedException {
        if (milliseconds > 0)
            Thread.sleep(milliseconds);
        work++;
    }

    private static void parking(long milliseconds) {
        if (milliseconds > 0)
            LockSupport.parkNanos(milliseconds * 1_000_000);
        work++;
    }

    private static void waiting(long milliseconds) throws InterruptedException {
        synchronized (monitor) {
            if (milliseconds > 0)
                monitor.wait(milliseconds);
        }
        work++;
    }

    private static Thread start(String name, Wait wait, long milliseconds) {
        Thread thread = new Thread(() -> {
            try {
                for (int i = 0; i < 50_000; i++)
                    wait.once(0);
                long begun = System.nanoTime(), sum = 0;
                while (System.nanoTime() - begun < milliseconds * 1_000_000) {
                    long start = System.nanoTime();
                    wait.once(25);
                    sum += System.nanoTime() - start;
                }
                System.out.println(name + " " + sum);
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
        });
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws InterruptedException {
        long milliseconds = Long.parseLong(arguments[0]);
        Thread[] threads = {
            start("sleeping", WaitingJava::sleeping, milliseconds),
            start("parking", WaitingJava::parking, milliseconds),
            start("waiting", WaitingJava::waiting, milliseconds),
        };
        for (Thread thread : threads)
            thread.join();
    }
}
