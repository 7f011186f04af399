! unwind_libm.f90 -- Fortran whose time is spent in libm
!
! Truth: main > MAIN__ > waves_ > libm's sin, exp and power functions.
program unwind_libm
    implicit none
    integer, external :: case_is_over
    real(8) :: total
    total = 0
    call case_begin()
    do while (case_is_over() == 0)
        call waves(total)
    end do
    call case_print()
    if (total == 1.5d0) print *, total
end program

subroutine waves(total)
    implicit none
    real(8), intent(inout) :: total
    integer :: i
    do i = 1, 1000
        total = total + sin(total + i) + exp(-1d-3 * i) + (1d0 + i)**1.7d0
        total = mod(total, 1d4)
    end do
end subroutine
