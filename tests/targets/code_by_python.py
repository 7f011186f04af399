"""code_by_python -- a Python program that makes machine code, tells of it by collector.func_load, and runs it; prints its CPU time"""

import ctypes
import mmap
import platform
import sys
import time

import collector

if platform.machine() == "x86_64":
    CODE = b"\xb9" + (1_000_000).to_bytes(4, "little") + b"\xff\xc9\x75\xfc\xc3"  # a loop, and a return
else:
    words = (0x52884809, 0x72A001E9, 0x71000529, 0x54FFFFE1, 0xD65F03C0)
    CODE = b"".join(word.to_bytes(4, "little") for word in words)


def main() -> None:
    room = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    room.write(CODE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(room))
    function = ctypes.CFUNCTYPE(None)(address)
    collector.func_load("büsy loop", address, len(CODE), alias="made by Python", sourcename=__file__, lines=[(0, 15)])
    begun = time.thread_time_ns()
    while time.thread_time_ns() - begun < int(sys.argv[1]) * 1_000_000:
        function()
    print("busy", time.thread_time_ns() - begun)
    collector.func_unload(address)


main()
