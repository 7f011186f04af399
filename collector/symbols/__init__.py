"""symbols -- from (module file, address in it) to function, source file and line: `symbolizer` is the way in"""
