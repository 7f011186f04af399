// Load.java -- hash maps, text and sorting, so many rounds
import java.util.*;

public class Load {
    static long round(int seed) {
        Map<String, Integer> counts = new HashMap<>();
        Random random = new Random(seed);
        for (int i = 0; i < 20000; i++)
            counts.merge(Integer.toString(random.nextInt(3000)), 1, Integer::sum);
        List<Map.Entry<String, Integer>> rows = new ArrayList<>(counts.entrySet());
        rows.sort(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()));
        return rows.get(0).getValue() + rows.size();
    }

    public static void main(String[] words) {
        long sum = 0;
        for (int i = 0; i < Integer.parseInt(words[0]); i++)
            sum += round(i);
        System.out.println(sum);
    }
}
