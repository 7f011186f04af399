! api_free.f90 -- truth: samples "free" and "padded", pauses, resumes, terminates; then "contained", and 1022 a of a label
! whose 1023rd byte is half of a UTF-8 character
program main
  implicit none
  include "libfcollector.h"
  character(len=40) :: label = 'padded'
  call collector_sample('free')
  call collector_sample(label)
  call collector_pause()
  call collector_resume()
  call contained_part()
  call collector_sample(repeat('a', 1022) // char(195) // char(164) // 'z')
  call collector_terminate_expt()
  print '(a)', 'done'
  stop 3, quiet=.true.
contains
  subroutine contained_part()
    call collector_sample('contained' // '   ')
  end subroutine contained_part
end program main
