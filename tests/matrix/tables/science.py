"""science -- parallel programs: MPI, OpenMP, coarrays, accelerators that are the host, and what is calculated with them"""

from __future__ import annotations

from matrix.case import Build, Case

_ROOT = (("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"), ("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("OMPI_MCA_btl", "self,vader,tcp"))
_TEAM = (("OMP_CANCELLATION", "true"),)


def _case(name: str, sentence: str, shell: str, *needs: str, builds: tuple[Build, ...] = (), environment: tuple[tuple[str, str], ...] = ()) -> Case:
    return Case("science", name, sentence, shell=shell, needs=needs, builds=builds, environment=environment, is_quick=False, timeout_s=60)


CASES = [
    _case("mpi_spawn", "Open MPI: a process that starts another by MPI_Comm_spawn", "mpirun.openmpi -n 1 {program}", "mpirun.openmpi",
          builds=(Build("spawn", "science/spawn.c", (), "mpicc.openmpi"),), environment=_ROOT),
    _case("mpi_openmp", "MPICH and gfortran: two ranks with two threads of OpenMP in each", "mpiexec.mpich -launcher fork -n 2 {program}", "mpiexec.mpich", "gfortran",
          builds=(Build("hybrid", "science/hybrid.f90", ("-fopenmp", "-J{build}"), "mpifort.mpich"),)),
    _case("coarrays", "OpenCoarrays: two images, of which one ends all by error stop", "mpirun.openmpi -n 2 {program} 2>/dev/null; echo status $?", "mpirun.openmpi", "gfortran",
          builds=(Build("coarrays", "science/coarrays.f90", (), "caf.openmpi"),), environment=_ROOT),
    _case("openmp_tasks", "GCC's OpenMP: tasks, cancellation, teams, a target that is the host", "{program}", "gcc",
          builds=(Build("tasks", "science/tasks.c", ("-fopenmp", "-lm")),), environment=_TEAM),
    _case("openmp_tool", "LLVM's OpenMP: the same, with a tool that is called at each region", "{program}", "/usr/lib/llvm-14/lib/libomp.so",
          builds=(Build("tasks", "science/tasks.c", ("-fopenmp", "-include", "science/ompt.c", "-lm"), "clang"),), environment=_TEAM),
    _case("openacc", "OpenACC by GCC: loops and a reduction on the host", "{program}", "gcc", builds=(Build("openacc", "science/openacc.c", ("-fopenacc", "-lm")),)),
    _case("opencl", "OpenCL by pocl: a kernel compiled as it is needed, and run by threads", "mkdir cache; POCL_CACHE_DIR=$PWD/cache {program}; rm -r cache", "/etc/OpenCL/vendors/pocl.icd", "/usr/include/CL/cl.h",
          builds=(Build("opencl", "science/opencl.c", ("-lOpenCL",)),)),
    _case("lammps", "LAMMPS: a crystal that melts", "lmp -in {cases}/science/melt.lammps -log none | grep -E '^ +[0-9]+ +[-0-9.]+ +[-0-9.]+'", "lmp"),
    _case("gap", "GAP: a group, and a recursion without end", "gap -q -A {cases}/science/groups.g 2>&1; echo status $?", "gap"),
]
