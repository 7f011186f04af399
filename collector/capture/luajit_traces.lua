-- luajit_traces.lua -- run by LuaJIT before the program (LUA_INIT): lists its compiled traces as a perf map in the experiment
-- The lines are those of LuaJIT's own LUAJIT_USE_PERFTOOLS, which distributions do not build with.
if not jit or not jit.attach then return end
local has_util, util = pcall(require, "jit.util")
local has_ffi, ffi = pcall(require, "ffi")
local experiment = os.getenv("COLLECTOR_EXPERIMENT")
if not (has_util and has_ffi and experiment and pcall(ffi.cdef, "int getpid(void);")) then return end

local file, owner
local function map_of_process()
  local pid = ffi.C.getpid()
  if pid ~= owner then -- a fork child has traces of its own from here on
    owner, file = pid, io.open(("%s/objects/perf-%d.map"):format(experiment, pid), "a")
    if file then file:setvbuf("line") end
  end
  return file
end

local places = {}
jit.attach(function(what, trace, func, pc)
  if what == "start" then
    places[trace] = util.funcinfo(func, pc).loc or "?:0"
  elseif what == "stop" then
    local code, start = util.tracemc(trace)
    local map = code and map_of_process()
    if map then map:write(("%x %x TRACE_%d::%s\n"):format(start, #code, trace, places[trace] or "?:0")) end
  end
end, "trace")
