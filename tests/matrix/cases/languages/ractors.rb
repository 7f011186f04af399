# ractors.rb -- ractors, threads, a fiber, a time limit, the end of the stack, children, garbage that moves
Warning[:experimental] = false
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
def deep = deep
p 4.times.map { |i| Ractor.new(i) { |k| fib(18 + k) } }.map(&:take)
p 4.times.map { |i| Thread.new { fib(18 + i) } }.map(&:value)
fiber = Fiber.new { 10.times { |i| Fiber.yield i }; :done }
p 11.times.map { fiber.resume }
require 'timeout'
begin
  Timeout.timeout(0.1) { loop { fib(5) } }
rescue Timeout::Error
  puts 'time'
end
begin
  deep
rescue SystemStackError
  puts 'deep'
end
puts `echo child`
p Process.wait2(fork { exit 5 })[1].exitstatus
GC.compact
exit 3
