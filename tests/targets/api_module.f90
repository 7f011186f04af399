! api_module.f90 -- truth: samples "module" and "padded", pauses, resumes, terminates; prints the version in brackets
program main
  use collector
  implicit none
  character(len=40) :: label = 'padded'
  call collector_sample('module')
  call collector_sample(label)
  call collector_pause()
  call collector_resume()
  call collector_sample(repeat('x', 2000))
  call collector_sample('')
  call collector_terminate_expt()
  print '(3a)', '[', collector_version(), ']'
  stop 3, quiet=.true.
end program main
