"""recording -- what the command `record` writes and says beside running the program"""
