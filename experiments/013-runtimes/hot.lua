-- hot.lua -- functions, tables, closures, recursion, text and sorting, for so many milliseconds of CPU time
local function collatz(n)
  local steps = 0
  while n ~= 1 do
    n = n % 2 == 0 and n / 2 or 3 * n + 1
    steps = steps + 1
  end
  return steps
end
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local function words(count)
  local counts, keys = {}, {}
  for i = 1, count do
    local word = tostring(i * 7919 % 1009)
    counts[word] = (counts[word] or 0) + 1
  end
  for word in pairs(counts) do keys[#keys + 1] = word end
  table.sort(keys, function(a, b) return a < b end)
  return #keys
end
local stop, sum = os.clock() + arg[1] / 1000, 0
while os.clock() < stop do
  for i = 1, 3000 do sum = sum + collatz(i) end
  sum = sum + fib(20) + words(5000)
end
print(sum > 0)
