# work.cr -- fibers and a channel, garbage, a child, an exception
def f(n)
  n < 2 ? n : f(n - 1) + f(n - 2)
end

puts f(30)
channel = Channel(Int32).new
100.times { |i| spawn { channel.send i } }
puts (1..100).sum { channel.receive }
words = [] of String
200000.times { |i| words << i.to_s; words.clear if i % 1000 == 0 }
puts `echo child`
begin
  raise "caught"
rescue error
  puts error.message
end
exit 3
