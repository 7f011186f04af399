<?php // jit.php -- PHP compiled at run time: a recursion, a loop, an exception, a child
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function half($n) {
    $s = 0;
    for ($i = 0; $i < $n; $i++) $s = ($s * 31 + $i) % 1000003;
    return $s;
}
echo fib(25), " ", half(3000000), "\n";
try { intdiv(1, 0); } catch (DivisionByZeroError $error) { echo $error->getMessage(), "\n"; }
echo shell_exec("echo child"), opcache_get_status()["jit"]["on"] ? "compiled\n" : "interpreted\n";
exit(3);
