// Work.java -- threads, garbage and a process, in Java
import java.util.concurrent.*;
import java.util.stream.*;

public class Work {
    public static void main(String[] words) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        long sum = 0;
        for (Future<Long> part : pool.invokeAll(IntStream.range(0, 6).mapToObj(i -> (Callable<Long>) () -> LongStream.range(0, 200000).map(x -> x * x % (7 + i)).sum()).collect(Collectors.toList())))
            sum += part.get();
        pool.shutdown();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 20000; i++) text.append(new String("piece") + i);
        Process child = new ProcessBuilder("echo", "from a child").start();
        System.out.println(sum + " " + text.length() + " " + new String(child.getInputStream().readAllBytes()).trim() + " " + child.waitFor());
        System.exit(3);
    }
}
