! fortran_libm.f90 -- truth: calls_sine and calls_power do nothing but call libm, and print the CPU seconds they used
!
! Each round is of another length: no sampling clock keeps step with them; a CPU timer, which fires with the kernel's own tick, did with rounds of 4 ms.
program fortran_libm
  implicit none
  real(8) :: total, sine_time, power_time, before, after
  integer :: round, count
  total = 0
  sine_time = 0
  power_time = 0
  do round = 1, 60
    count = 60000 + mod(round * 7919, 100) * 1000
    call cpu_time(before)
    call calls_sine(total, count)
    call cpu_time(after)
    sine_time = sine_time + after - before
    call cpu_time(before)
    call calls_power(total, count)
    call cpu_time(after)
    power_time = power_time + after - before
  end do
  if (total < 0) print *, total
  print '(a,i0)', 'calls_sine ', nint(sine_time * 1d9, 8)
  print '(a,i0)', 'calls_power ', nint(power_time * 1d9, 8)
end program fortran_libm

subroutine calls_sine(total, count)
  implicit none
  real(8), intent(inout) :: total
  integer, intent(in) :: count
  integer :: i
  do i = 1, count
    total = total + abs(sin(1d3 + total * 1d-9 + dble(i)))
  end do
end subroutine calls_sine

subroutine calls_power(total, count)
  implicit none
  real(8), intent(inout) :: total
  integer, intent(in) :: count
  integer :: i
  do i = 1, count
    total = total + abs(dble(i)) ** (0.1d0 + 1d-12 * total)
  end do
end subroutine calls_power
