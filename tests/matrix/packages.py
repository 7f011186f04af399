"""packages -- what the cases need from the distribution (Debian, Ubuntu), and how to put it there"""

from __future__ import annotations

import os
import shutil
import subprocess

# command or file: package
PACKAGES = {
    "gcc": "gcc", "g++": "g++", "clang": "clang", "ld.lld": "lld", "make": "make", "ninja": "ninja-build", "musl-gcc": "musl-tools",
    "/usr/lib/gcc/x86_64-linux-gnu/12/32/libgcc.a": "lib32gcc-12-dev", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2": "libjemalloc2",
    "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4": "libtcmalloc-minimal4", "bwrap": "bubblewrap",
    "/usr/lib/llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.asan-x86_64.a": "libclang-rt-14-dev", "setpriv": "util-linux", "capsh": "libcap2-bin",
    "fakeroot": "fakeroot", "gdb": "gdb", "strace": "strace", "valgrind": "valgrind", "node": "nodejs", "javac": "default-jdk-headless", "perl": "perl",
    "ruby": "ruby", "php": "php-cli", "zsh": "zsh", "git": "git", "tar": "tar", "sqlite3": "sqlite3", "redis-server": "redis-server", "nginx": "nginx-light",
    "openssl": "openssl", "ffmpeg": "ffmpeg", "chromium": "chromium", "/usr/sbin/sshd": "openssh-server", "tmux": "tmux", "vim": "vim", "emacs": "emacs-nox",
    "Rscript": "r-base-core", "go": "golang-go", "rustc": "rustc", "ocamlfind": "ocaml-nox", "ocaml": "ocaml-nox", "mpirun": "openmpi-bin", "mpicc": "libopenmpi-dev",
    "pgbench": "postgresql", "busybox": "busybox-static", "xz": "xz-utils", "sbcl": "sbcl", "clisp": "clisp", "ecl": "ecl", "erl": "erlang-base", "ghc": "ghc",
    "guile": "guile-3.0", "racket": "racket", "swipl": "swi-prolog-nox", "mono": "mono-runtime", "mcs": "mono-mcs", "gnatmake": "gnat", "fpc": "fpc",
    "luajit": "luajit", "pypy3": "pypy3", "tclsh": "tcl", "octave": "octave", "mksh": "mksh", "ksh": "ksh93u+m", "fish": "fish", "qemu-x86_64": "qemu-user",
    "faketime": "faketime", "proot": "proot", "mariadbd": "mariadb-server", "apache2": "apache2", "soffice": "libreoffice-calc", "convert": "imagemagick",
    "ldc2": "ldc", "crystal": "crystal", "/usr/include/tbb/tbb.h": "libtbb-dev", "/usr/lib/x86_64-linux-gnu/libboost_fiber.so": "libboost-fiber-dev", "gsi": "gambc",
    "coqc": "coq", "/usr/lib/x86_64-linux-gnu/libprofiler.so.0": "libgoogle-perftools4", "bear": "bear", "parallel": "parallel", "brotli": "brotli", "lzip": "lzip", "zstd": "zstd", "lz4": "lz4", "7z": "p7zip-full",
    "haproxy": "haproxy", "slapd": "slapd", "ldapadd": "ldap-utils", "/usr/include/liburing.h": "liburing-dev", "uftrace": "uftrace", "/usr/include/gc.h": "libgc-dev",
    "gfortran": "gfortran", "mpirun.openmpi": "openmpi-bin", "mpicc.openmpi": "libopenmpi-dev", "mpiexec.mpich": "mpich", "mpifort.mpich": "libmpich-dev", "caf.openmpi": "libcoarrays-openmpi-dev",
    "/usr/lib/llvm-14/lib/libomp.so": "libomp-14-dev", "/etc/OpenCL/vendors/pocl.icd": "pocl-opencl-icd", "/usr/include/CL/cl.h": "ocl-icd-opencl-dev", "lmp": "lammps", "gap": "gap-core",
    "chezscheme": "chezscheme", "rakudo": "rakudo", "/usr/lib/tcltk/x86_64-linux-gnu/thread2.8.8/pkgIndex.tcl": "tcl-thread",
}


def install() -> int:
    """Install all that is missing with apt-get; 1 if something could not be."""
    missing = {package for name, package in PACKAGES.items() if not (os.path.exists(name) if "/" in name else shutil.which(name))}
    if not missing:
        print("everything is there")
        return 0
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print(f"not installed: {' '.join(sorted(missing))}; as root, where apt-get is there, this command installs them")
        return 1
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    refused = [
        package
        for package in sorted(missing)
        if subprocess.run(["apt-get", "-o", "DPkg::Lock::Timeout=600", "install", "-y", "-q", "--no-install-recommends", package], env=environment).returncode
    ]
    if refused:
        print(f"apt-get could not install {' '.join(refused)}")
    return 1 if refused else 0
