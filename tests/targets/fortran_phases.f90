! fortran_phases.f90 -- truth: sample points "first" and "second", no trailing blanks; most of the time passes in sin, called by burn, which is inlined
program phases
  implicit none
  include "libfcollector.h"
  character(len=32) :: label
  real(8) :: total
  label = 'first'
  total = 0
  call collector_sample(label)
  call burn(total)
  label = 'second'
  call collector_sample(label)
  if (total < 0) print *, total
  print '(a)', 'done'
contains
  subroutine burn(total)
    real(8), intent(inout) :: total
    integer :: i
    do i = 1, 6000000
      total = total + sin(dble(i)) ** 2
    end do
  end subroutine burn
end program phases
