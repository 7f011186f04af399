"""runtimes -- language runtimes that make code as they run: how they are recognised, and what makes them name it and keep its stacks whole"""

import os

from collector.named_tuple import NamedTuple


class Setting(NamedTuple):
    """A variable of the environment for `record --jit`. `separator` stands between the user's words and ours; None: what the user has there stays as it is.

    In the value `{objects}` is the directory of the experiment that keeps copies of code, and `{files}` where this package has files for runtimes.
    """

    variable: str
    value: str
    separator: str | None = None
    is_first: bool = False


class Runtime(NamedTuple):
    """A runtime is recognised by the file names of its program and libraries (`*`: anything); `remedy` are the options that give names, empty if none does.

    `has_whole_stacks`: with the remedy, and not without. `caveat` is why something may be missing in spite of `--jit`. A runtime whose own functions the
    recorder reads has frames of the kind `read_as`; then neither is needed, and `is_named_by_jit` is false where the settings give something else.
    """

    name: str
    files: str
    remedy: str
    settings: tuple[Setting, ...] = ()
    caveat: str = ""
    has_whole_stacks: bool = False
    read_as: str = ""
    is_named_by_jit: bool = True

    def owns(self, file_name: str) -> bool:
        """Whether a file of that name is part of the runtime."""
        return any(_fits(file_name, pattern) for pattern in self.files.split())


def _fits(name: str, pattern: str) -> bool:
    """Patterns are `name`, `beginning*` and `beginning*part*`: regular expressions for all runtimes take 2 ms to compile."""
    beginning, star, rest = pattern.partition("*")
    return name.startswith(beginning) and rest.removesuffix("*") in name[len(beginning) :] if star else name == pattern


_JAVA = "-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"
_IS_JAVA_READ = os.uname().machine == "x86_64"  # there only its debug information may be made finer
# OpenJDK before 17 knows no DumpPerfMapAtExit, and would not start but for the first option.
_JAVA_SETTING = "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints" if _IS_JAVA_READ else f"-XX:+IgnoreUnrecognizedVMOptions {_JAVA}"
_V8 = "--perf-basic-prof --interpreted-frames-native-stack"

RUNTIMES = (
    Runtime(
        "Java", "libjvm.so", _JAVA, (Setting("JAVA_TOOL_OPTIONS", _JAVA_SETTING, " "),),
        "a JVM writes the names when it exits, so not when it is killed, and not before version 17", has_whole_stacks=True,
        read_as="java", is_named_by_jit=not _IS_JAVA_READ,
    ),
    Runtime(
        "node", "node nodejs libnode.so*", _V8, (Setting("NODE_OPTIONS", _V8, " "),),
        "a node whose NODE_OPTIONS were replaced does not name its code",
    ),
    Runtime("deno", "deno", f"--v8-flags={_V8.replace(' ', ',')}", (Setting("DENO_V8_FLAGS", _V8.replace(" ", ","), ","),)),
    Runtime("V8", "electron chrome chromium d8 libv8*.so*", f"V8's options {_V8}"),
    Runtime(
        ".NET", "libcoreclr.so", "DOTNET_PerfMapEnabled=1", (Setting("DOTNET_PerfMapEnabled", "1"), Setting("COMPlus_PerfMapEnabled", "1")),
        "code compiled ahead of time stays nameless",
    ),
    Runtime("mono", "mono mono-sgen mono-boehm libmono*.so*", "MONO_ENV_OPTIONS=--jitmap", (Setting("MONO_ENV_OPTIONS", "--jitmap", " "),)),
    Runtime(
        "LuaJIT", "luajit* libluajit*.so*", "", (Setting("LUA_INIT", 'dofile("{files}/luajit_traces.lua")', "\n", is_first=True),),
        "of LuaJIT only the program luajit itself reads LUA_INIT",
    ),
    Runtime("PyPy", "pypy* libpypy*.so*", "", (Setting("PYPYLOG", "jit-backend-addr:{objects}/pypy-%d.log"),)),
    Runtime("PHP", "opcache.so", "-d opcache.jit_debug=16", (Setting("PHP_INI_SCAN_DIR", ":{files}/php", ""),)),
    Runtime("Ruby", "ruby* libruby*.so*", "--yjit-perf, from Ruby 3.3 on"),
    Runtime(
        "bun", "bun bun.exe", "BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=/tmp",
        (Setting("BUN_JSC_useJITDump", "1"), Setting("BUN_JSC_jitDumpDirectory", "{objects}")),
    ),
    Runtime("Wasmtime", "wasmtime libwasmtime*.so* _libwasmtime.so", "its profiler perfmap"),
    Runtime("Erlang", "beam beam.smp beam.jit", 'ERL_FLAGS="+JPperf true"'),
)  # fmt: skip
