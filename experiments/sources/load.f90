! load.f90 -- a stencil over a field, by four OpenMP threads, so many sweeps
program load
  implicit none
  integer, parameter :: n = 512
  real(8), allocatable :: a(:, :), b(:, :)
  integer :: i, j, sweep, sweeps
  character(16) :: word
  call get_command_argument(1, word)
  read (word, *) sweeps
  allocate (a(n, n), b(n, n))
  a = 1.0d0
  b = 0.0d0
  do sweep = 1, sweeps
    !$omp parallel do private(i)
    do j = 2, n - 1
      do i = 2, n - 1
        b(i, j) = 0.2d0*(a(i, j) + a(i - 1, j) + a(i + 1, j) + a(i, j - 1)*exp(-a(i, j + 1)))
      end do
    end do
    !$omp end parallel do
    a = b
  end do
  print *, sum(a)
end program load
