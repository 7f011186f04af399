-- work.lua -- LuaJIT: a compiled loop, an error, a coroutine
local sum = 0
for i = 1, 3e7 do sum = sum + i % 7 end
print(sum, pcall(error, "thrown"))
local step = coroutine.wrap(function() for i = 1, 1e5 do coroutine.yield(i) end end)
local total = 0
for _ = 1, 1e5 do total = total + step() end
print(total)
os.exit(3)
