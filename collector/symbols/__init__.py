"""symbols -- from (module file, address in it) to function, source file and line"""

from collector.symbols.demangle import demangle, short_name
from collector.symbols.symbolizer import Location, Symbolizer, lookup_address

__all__ = ["Location", "Symbolizer", "demangle", "lookup_address", "short_name"]
