"""test_runtime_settings -- what `record --jit` says to runtimes, beside what the user says"""

from __future__ import annotations

import os

from collector.capture.environment import build_environment
from collector.capture.options import RecorderOptions
from collector.capture.runtime_settings import runtime_settings

OBJECTS = "/tmp/a.expt/objects"
VARIABLES = {
    "JAVA_TOOL_OPTIONS", "NODE_OPTIONS", "DENO_V8_FLAGS", "BUN_JSC_useJITDump", "BUN_JSC_jitDumpDirectory", "DOTNET_PerfMapEnabled", "COMPlus_PerfMapEnabled", "MONO_ENV_OPTIONS", "LUA_INIT", "PYPYLOG", "PHP_INI_SCAN_DIR",
}  # fmt: skip


def test_each_variable_is_set_where_the_user_has_none() -> None:
    settings = runtime_settings({"HOME": "/root"}, OBJECTS)
    assert set(settings) == VARIABLES
    assert settings["DOTNET_PerfMapEnabled"] == "1"
    assert settings["PYPYLOG"] == f"jit-backend-addr:{OBJECTS}/pypy-%d.log"
    assert "-XX:+DebugNonSafepoints" in settings["JAVA_TOOL_OPTIONS"]


def test_the_users_words_come_first_and_ours_once() -> None:
    user = {"JAVA_TOOL_OPTIONS": "-Xmx1g", "NODE_OPTIONS": "--no-warnings", "DENO_V8_FLAGS": "--stack-size=900", "DOTNET_PerfMapEnabled": "0", "PYPYLOG": "gc:x"}
    settings = runtime_settings(user, OBJECTS)
    assert settings["JAVA_TOOL_OPTIONS"].startswith("-Xmx1g -XX:")
    assert settings["NODE_OPTIONS"] == "--no-warnings --perf-basic-prof --interpreted-frames-native-stack"
    assert settings["DENO_V8_FLAGS"] == "--stack-size=900,--perf-basic-prof,--interpreted-frames-native-stack"
    assert (settings["DOTNET_PerfMapEnabled"], settings["PYPYLOG"]) == ("0", "gc:x")
    assert runtime_settings(settings, OBJECTS) == settings


def test_lua_runs_ours_and_then_the_users_code_or_file() -> None:
    ours = runtime_settings({}, OBJECTS)["LUA_INIT"]
    path = ours.removeprefix('dofile("').removesuffix('")')
    assert os.path.isfile(path)
    assert runtime_settings({"LUA_INIT": "x = 1"}, OBJECTS)["LUA_INIT"] == f"{ours}\nx = 1"
    assert runtime_settings({"LUA_INIT": '@/a "b".lua'}, OBJECTS)["LUA_INIT"] == ours + '\ndofile("/a \\"b\\".lua")'


def test_php_reads_its_own_directories_and_ours() -> None:
    ours = runtime_settings({}, OBJECTS)["PHP_INI_SCAN_DIR"]
    assert ours[0] == ":" and os.listdir(ours[1:]) == ["jit_names.ini"], "an empty path stands for the directory that PHP was built with"
    assert runtime_settings({"PHP_INI_SCAN_DIR": ""}, OBJECTS)["PHP_INI_SCAN_DIR"] == ours[1:], "the user wants none of these"
    assert runtime_settings({"PHP_INI_SCAN_DIR": "/etc/a"}, OBJECTS)["PHP_INI_SCAN_DIR"] == f"/etc/a{ours}"


def test_without_the_option_nothing_is_said() -> None:
    asked = "/lib/libcollector.so", "/tmp/a.expt", RecorderOptions(), "on"
    assert not VARIABLES & set(build_environment({"NODE_OPTIONS": "x"}, *asked)) - {"NODE_OPTIONS"}
    assert build_environment({"NODE_OPTIONS": "x"}, *asked)["NODE_OPTIONS"] == "x"
    assert set(build_environment({}, *asked, names_jit_code=True)) >= VARIABLES
