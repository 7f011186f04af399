"""target -- what is known of the recorded program: its processes and threads, and what was mapped where, when"""
