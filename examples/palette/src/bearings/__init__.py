"""A palette for Occurs: how far apart directions are, and how often a signal crosses a level."""

import numpy as np

from occurs import pipes


@pipes.function(inputs=(float, float), outputs=(float,))
def angle_between(a, b):
    """The angle between two directions in degrees, 0 to 180: arrays in, an array out."""
    return np.abs((a - b + 180) % 360 - 180)


def crossings(p, level=0):
    """How often a signal has crossed a level so far: a processor is a function from pipes to pipes."""
    above = p > level
    crossed = above.trim(1) != above
    return pipes.fn.if_(crossed, 1, 0).cumulate(pipes.fn.add)


PALETTE = pipes.Palette(
    functions={"angle_between": angle_between},
    phrases="""
    WHEN @P IS A PROCESSOR, @N IS A NUMBER: THE CROSSINGS OF @P AT @N IS THE PROCESSOR
      COMBINE if((TRIM 1 OF (@P > @N)) <> (@P > @N), 1, 0) WITH ADDITION.
    WHEN @P IS A PROCESSOR: THE TURNS OF @P IS THE PROCESSOR angle_between(TRIM 1 OF @P, @P).
    """,
)
