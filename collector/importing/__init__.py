"""importing -- profiles of other profilers, from their files to an experiment"""
