! collector.f90 -- module collector: what a Fortran program may tell the recording it is part of
!
! Compile this file once with the program and link with -lfcollector. A program that
! is not being recorded runs normally; the calls do nothing. Callable from any thread.
! Errors are never reported.
module collector
  use, intrinsic :: iso_c_binding, only: c_char, c_size_t
  implicit none
  private
  public :: collector_sample, collector_pause, collector_resume, collector_terminate_expt
  public :: collector_version

  integer, parameter :: version_bytes = 64

  interface
    ! Stops the recording of profile events for the whole process; pauses do not nest.
    subroutine collector_pause() bind(c, name="collector_pause_")
    end subroutine collector_pause

    ! Starts the recording of profile events again.
    subroutine collector_resume() bind(c, name="collector_resume_")
    end subroutine collector_resume

    ! Closes the experiment for good; the program runs on, unrecorded.
    subroutine collector_terminate_expt() bind(c, name="collector_terminate_expt_")
    end subroutine collector_terminate_expt

    subroutine entry_sample(label, length) bind(c, name="collector_fortran_sample")
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: label(*)
      integer(c_size_t), value :: length
    end subroutine entry_sample

    function entry_version(text, capacity) result(length) bind(c, name="collector_fortran_version")
      import :: c_char, c_size_t
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t) :: length
    end function entry_version
  end interface

contains

  ! Records a sample point: the readings of the whole process now, with this label.
  ! Trailing blanks are padding and removed; 1023 bytes of a longer label are kept.
  subroutine collector_sample(label)
    character(len=*, kind=c_char), intent(in) :: label
    call entry_sample(label, len(label, c_size_t))
  end subroutine collector_sample

  ! The version of the recorder, of length 0 if there is none in the process.
  function collector_version() result(version)
    character(len=:), allocatable :: version
    character(len=version_bytes, kind=c_char) :: text
    integer(c_size_t) :: length
    length = entry_version(text, int(version_bytes, c_size_t))
    version = text(:length)
  end function collector_version

end module collector
