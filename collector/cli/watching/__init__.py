"""watching -- the parts of `collector watch`: the screen, and the program that is recorded meanwhile"""
