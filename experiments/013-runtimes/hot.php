<?php
// hot.php -- functions, arrays, closures, recursion, text and sorting, for so many milliseconds of wall time
function collatz(int $n): int {
    for ($steps = 0; $n != 1; $steps++)
        $n = $n % 2 == 0 ? intdiv($n, 2) : 3 * $n + 1;
    return $steps;
}
function fib(int $n): int { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function words(int $count): int {
    $counts = [];
    for ($i = 0; $i < $count; $i++) {
        $word = (string)($i * 7919 % 1009);
        $counts[$word] = ($counts[$word] ?? 0) + 1;
    }
    uasort($counts, fn($a, $b) => $b <=> $a);
    return count($counts);
}
$end = microtime(true) + $argv[1] / 1000;
$sum = 0;
while (microtime(true) < $end) {
    for ($i = 1; $i < 3000; $i++) $sum += collatz($i);
    $sum += fib(20) + words(5000);
}
var_dump($sum > 0);
