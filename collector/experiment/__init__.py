"""experiment -- what reached the disk: the event logs of an experiment, read back as typed events"""
