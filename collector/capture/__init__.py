"""capture -- the recorder from outside: what it is told, how it gets into a program, what a program may say to it"""
