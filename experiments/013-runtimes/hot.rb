# hot.rb -- methods, objects, blocks, recursion, text and sorting, for so many milliseconds of CPU time
def collatz(n)
  steps = 0
  while n != 1
    n = n.even? ? n / 2 : 3 * n + 1
    steps += 1
  end
  steps
end

def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)

def words(count)
  counts = Hash.new(0)
  count.times { |i| counts[(i * 7919 % 1009).to_s] += 1 }
  counts.sort_by { |word, number| [-number, word] }.length
end

stop = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + ARGV[0].to_i / 1000.0
sum = 0
while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < stop
  (1...3000).each { |i| sum += collatz(i) }
  sum += fib(18) + words(5000)
end
puts sum > 0
