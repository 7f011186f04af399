! openmp_planted.f90 -- a parallel region of two threads, of which the second does twice the work of the first
program planted
  use omp_lib
  implicit none
  integer :: i
  do i = 1, 10
    call solve(4000000_8)
  end do
contains
  subroutine solve(n)
    integer(8), intent(in) :: n
    real(8) :: x
    !$omp parallel private(x) num_threads(2)
    call labour(n * (omp_get_thread_num() + 1), x)
    !$omp end parallel
  end subroutine
  subroutine labour(n, x)
    integer(8), intent(in) :: n
    real(8), intent(out) :: x
    integer(8) :: k
    x = 1
    do k = 1, n
      x = x * 1.0000001d0 + 0.1d0
    end do
    if (x == 3) print *, x
  end subroutine
end program
