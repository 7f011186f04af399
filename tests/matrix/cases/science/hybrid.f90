! hybrid.f90 -- ranks of MPI with two threads of OpenMP in each
module kernels
  implicit none
contains
  real(8) function wave(start, steps)
    real(8), intent(in) :: start
    integer, intent(in) :: steps
    integer :: step
    wave = start
    do step = 1, steps
      wave = sin(wave) + 0.5d0
    end do
  end function
end module

program hybrid
  use mpi
  use kernels
  implicit none
  integer :: rank, error, given, part
  real(8) :: own, total
  call MPI_Init_thread(MPI_THREAD_FUNNELED, given, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  own = 0
  !$omp parallel do reduction(+:own) num_threads(2)
  do part = 1, 10
    own = own + wave(part * 0.1d0, 200000)
  end do
  !$omp end parallel do
  call MPI_Allreduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0) print '(f10.5)', total
  call MPI_Finalize(error)
end program
