# threads.tcl -- interpreters on threads of their own, a pool of them, a child
package require Thread
proc fib n {expr {$n < 2 ? $n : [fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]}}
for {set i 0} {$i < 4} {incr i} {
    lappend threads [set thread [thread::create -joinable {thread::wait}]]
    thread::send $thread [list proc fib n [info body fib]]
    thread::send -async $thread [list fib [expr {16 + $i}]] results($i)
}
while {[array size results] < 4} {vwait results}
foreach i {0 1 2 3} {puts $results($i)}
foreach thread $threads {thread::release $thread; thread::join $thread}
set pool [tpool::create -minworkers 2 -maxworkers 4]
for {set i 0} {$i < 20} {incr i} {lappend jobs [tpool::post $pool "expr $i*7%5"]}
foreach job $jobs {tpool::wait $pool $job; lappend sums [tpool::get $pool $job]}
puts $sums
puts [exec echo child]
exit 3
