! symbols_fortran.f90 -- Fortran's kinds of procedures; its truth: the program calls smooth of the module kern, which calls its own
! inner, and apart, an external procedure, which calls an inner of its own
module kern
  implicit none
contains
  subroutine smooth(values)
    real(8), intent(inout) :: values(:)
    integer :: i
    do i = 2, size(values) - 1
      values(i) = inner(values(i - 1), values(i + 1))
    end do
  contains
    real(8) function inner(before, after)
      real(8), intent(in) :: before, after
      inner = (before + after) / 2 + size(values)
    end function inner
  end subroutine smooth
end module kern

subroutine apart(values, count)
  implicit none
  integer, intent(in) :: count
  real(8), intent(inout) :: values(count)
  call inner(3)
contains
  subroutine inner(step)
    integer, intent(in) :: step
    values(1:count:step) = count
  end subroutine inner
end subroutine apart

program fortran
  use kern
  implicit none
  real(8) :: values(100)
  external apart
  values = 1
  call smooth(values)
  call apart(values, 100)
  print *, sum(values)
end program fortran
