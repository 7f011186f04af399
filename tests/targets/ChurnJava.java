// ChurnJava.java -- the same class under so many names, each loaded, run for 4 or 8 ms of CPU time and unloaded; prints what each used by the thread's clock
import java.io.InputStream;
import java.lang.management.*;
import java.nio.charset.StandardCharsets;

public class ChurnJava {
    public static class Work00 implements Runnable {
        static volatile long sink;

        public void run() {
            long x = sink | 1;
            for (int i = 0; i < 20000; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            sink = x;
        }
    }

    static class Loader extends ClassLoader {
        Class<?> define(byte[] bytes) { return defineClass(null, bytes, 0, bytes.length); }
    }

    static byte[] renamed(byte[] bytes, int number) {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        return text.replace("Work00", String.format("Work%02d", number)).getBytes(StandardCharsets.ISO_8859_1);
    }

    public static void main(String[] arguments) throws Exception {
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        byte[] bytes;
        try (InputStream file = ChurnJava.class.getResourceAsStream("ChurnJava$Work00.class")) {
            bytes = file.readAllBytes();
        }
        for (int number = 1; number <= Integer.parseInt(arguments[0]); number++) {
            Runnable work = (Runnable) new Loader().define(renamed(bytes, number)).getDeclaredConstructor().newInstance();
            long begin = clock.getCurrentThreadCpuTime(), end = begin;
            while (end - begin < (number % 2 + 1) * 4000000L) {
                for (int i = 0; i < 10; i++)
                    work.run();
                end = clock.getCurrentThreadCpuTime();
            }
            System.out.printf("Work%02d %d%n", number, end - begin);
            if (number % 8 == 0)
                System.gc();
        }
    }
}
