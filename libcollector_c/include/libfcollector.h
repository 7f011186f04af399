! libfcollector.h -- what a Fortran program may tell its recording
!
! In the specification part of a procedure that calls one of these,
! fixed or free form:
!     include "libfcollector.h"
! Link with -lfcollector. A program that is not being recorded runs
! normally; the calls do nothing. Callable from any thread. Errors are
! never reported.
!
! call collector_sample("label")
!     Records a sample point: the readings of the whole process now,
!     with this label. Trailing blanks are padding and removed; 1023
!     bytes of a longer label are kept.
! call collector_pause()
! call collector_resume()
!     Stop and start the recording of profile events for the whole
!     process. Pauses do not nest.
! call collector_terminate_expt()
!     Closes the experiment for good; the program runs on, unrecorded.
!
! The module collector (use collector) offers the same and the version.
!
! No line goes beyond column 72, begins before column 7 or is continued.
      interface
        subroutine collector_sample(string)
          character(len=*), intent(in) :: string
        end subroutine collector_sample
        subroutine collector_pause()
        end subroutine collector_pause
        subroutine collector_resume()
        end subroutine collector_resume
        subroutine collector_terminate_expt()
        end subroutine collector_terminate_expt
      end interface
