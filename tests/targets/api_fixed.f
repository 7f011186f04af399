! api_fixed.f -- truth: samples "fixed" and "padded", pauses, resumes, terminates
      program main
      implicit none
      include "libfcollector.h"
      character*40 label
      label = 'padded'
      call collector_sample('fixed')
      call collector_sample(label)
      call collector_pause()
      call collector_resume()
      call collector_sample('  inner  blanks  ')
      call collector_sample(' ')
      call collector_terminate_expt()
      print '(a)', 'done'
      call exit(3)
      end
