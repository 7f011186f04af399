# load.pl -- hashes, regular expressions and sorting, so many rounds
my $sum = 0;
for my $round (1 .. $ARGV[0]) {
    my %counts;
    $counts{ ( $_ * 7919 * $round ) % 3001 }++ for 1 .. 20000;
    my @rows = sort { $counts{$b} <=> $counts{$a} || $a <=> $b } keys %counts;
    $sum += scalar grep { /7(\d)\1?/ } @rows;
}
print "$sum\n";
