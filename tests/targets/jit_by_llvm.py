"""jit_by_llvm -- two modules compiled by llvmlite; each has a loop, and an outer function that calls it. Prints the CPU time of the loops"""

import ctypes
import sys
import time

import llvmlite.binding as llvm

CODE = """
define i64 @{name}(i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%j, %loop]
  %s = phi i64 [1, %entry], [%t, %loop]
  %m = mul i64 %s, 6364136223846793005
  %t = add i64 %m, %i
  %j = add i64 %i, 1
  %c = icmp slt i64 %j, %n
  br i1 %c, label %loop, label %out
out:
  ret i64 %t
}}
define i64 @{name}_outer(i64 %n) {{
  %r = call i64 @{name}(i64 %n)
  %x = add i64 %r, 1
  ret i64 %x
}}
"""


def compile_module(name: str):
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(CODE.format(name=name)), machine)
    engine.finalize_object()
    return engine, ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(engine.get_function_address(f"{name}_outer"))


def run(function, ms: int) -> int:
    begun = time.thread_time_ns()
    while time.thread_time_ns() - begun < ms * 1_000_000:
        function(400_000)
    return time.thread_time_ns() - begun


def main() -> None:
    if hasattr(llvm, "initialize") and tuple(map(int, llvm.llvm_version_info)) < (20,):
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    ms, kept = int(sys.argv[1]), []
    for name, times in (("once", 1), ("twice", 2)):
        engine, function = compile_module(name)
        kept.append(engine)
        print(name, run(function, times * ms))


main()
