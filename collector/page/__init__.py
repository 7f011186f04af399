"""page -- an experiment as one HTML file that needs nothing else: no server, no network, no other file"""
