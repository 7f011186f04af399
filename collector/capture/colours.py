"""colours -- the colour of a metric: as its definition gives it, else that of its type

Forms taken: #RGB, #RRGGBB, #RRRGGGBBB, #RRRRGGGGBBBB, and the colour words of SVG 1.1 (section 4.4).
"""

from __future__ import annotations

_CATEGORY_COLOURS = {
    "cpu_time": "#2ca02c",
    "energy": "#bcbd22",
    "instructions": "#17becf",
    "io": "#ff7f0e",
    "memory": "#d62728",
    "mpi": "#1f77b4",
    "other": "#7f7f7f",
}
_LENGTHS = (4, 7, 10, 13)  # of # and three channels
_WORDS = frozenset(
    """
    aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood cadetblue
    chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray darkgreen darkgrey
    darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen darkslateblue darkslategray
    darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen
    fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender
    lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen lightgrey
    lightpink lightsalmon lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen
    magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen
    mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange
    orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple red
    rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray slategrey snow
    springgreen steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow yellowgreen
    """.split()
)


def resolve_colour(text: str, category: str) -> str:
    """Give the colour as `#rrggbb` or a word of SVG; the type's, or that of `other`, if the text is no colour."""
    word = text.strip().lower()
    if word in _WORDS:
        return word
    if word[:1] == "#" and len(word) in _LENGTHS and set(word[1:]) <= set("0123456789abcdef"):
        return _shorten(word[1:])
    return _CATEGORY_COLOURS.get(category, _CATEGORY_COLOURS["other"])


def _shorten(digits: str) -> str:
    """Any number of digits a channel becomes two: the highest, or a single one twice."""
    width = len(digits) // 3
    channels = (digits[place : place + width] for place in range(0, len(digits), width))
    return "#" + "".join(channel * 2 if width == 1 else channel[:2] for channel in channels)
