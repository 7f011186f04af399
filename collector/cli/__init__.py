"""cli -- the commands: one file each; only here are arguments parsed, text printed and exceptions ended"""
