"""describing -- what the parsers of the commands say, told again as man pages and as completion for shells"""

SHELLS = ("bash", "zsh", "fish")
"""Those that there is completion for."""
