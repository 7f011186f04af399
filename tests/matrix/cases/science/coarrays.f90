! coarrays.f90 -- images that read each other's memory, a sum over them, and an end by error stop
program coarrays
  implicit none
  integer :: own[*], image, total
  own = this_image() * 10
  total = own
  sync all
  if (this_image() == 1) then
    do image = 1, num_images()
      print '(i0)', own[image]
    end do
  end if
  call co_sum(total)
  if (this_image() == 1) then
    print '(i0)', total
    flush (6)
  end if
  sync all
  if (this_image() == 2) error stop 3
  sync all
end program
