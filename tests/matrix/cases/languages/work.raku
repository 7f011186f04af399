# work.raku -- Raku: promises, a channel, an exception, a child, a signal
sub fib($n) { $n < 2 ?? $n !! fib($n - 1) + fib($n - 2) }
say await (^4).map: -> $i { start { fib(14 + $i) } };
say (^20000).map(* % 7).sum;
my $channel = Channel.new;
start { $channel.send($_) for ^100; $channel.close };
say $channel.list.sum;
try { die "thrown" };
say $!.message;
say run('echo', 'child', :out).out.slurp;
my $come = Promise.new;
signal(SIGUSR1).tap: { $come.keep };
run('kill', '-USR1', $*PID);
await $come;
exit 3;
