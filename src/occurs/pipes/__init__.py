"""Pipes: processors that are composed like expressions or connected like boxes (pipes.md).

>>> from occurs import pipes
>>> x = pipes.source("x", type=int)
>>> y = x + x.decimate(4)
>>> y.run([7, 1, 2, 4, 3, 0, 5, 9, 6])
[14, 4, 8]
"""

from occurs.operators.process.palettes import Palette as Palette
from occurs.pipes import ltl as ltl
from occurs.pipes import plot as plot
from occurs.pipes import signal as signal
from occurs.pipes import stats as stats
from occurs.pipes.box import BOTTOM as BOTTOM
from occurs.pipes.box import INPUT as INPUT
from occurs.pipes.box import LEFT as LEFT
from occurs.pipes.box import OUTPUT as OUTPUT
from occurs.pipes.box import RIGHT as RIGHT
from occurs.pipes.box import TOP as TOP
from occurs.pipes.box import Box as Box
from occurs.pipes.box import Fork as Fork
from occurs.pipes.box import connect as connect
from occurs.pipes.callables import Function as Function
from occurs.pipes.callables import fn as fn
from occurs.pipes.callables import function as function
from occurs.pipes.constants import ALL as ALL
from occurs.pipes.constants import SILENT as SILENT
from occurs.pipes.constants import UNKNOWN as UNKNOWN
from occurs.pipes.graphviz import dot as dot
from occurs.pipes.machine import Machine as Machine
from occurs.pipes.machine import Otherwise as Otherwise
from occurs.pipes.machine import State as State
from occurs.pipes.machine import When as When
from occurs.pipes.machine import machine as machine
from occurs.pipes.operators import Lift as Lift
from occurs.pipes.operators import Mutator as Mutator
from occurs.pipes.operators import Source as Source
from occurs.pipes.operators import Window as Window
from occurs.pipes.operators import box as box
from occurs.pipes.operators import filter as filter
from occurs.pipes.operators import lift as lift
from occurs.pipes.operators import merge as merge
from occurs.pipes.operators import select as select
from occurs.pipes.operators import source as source
from occurs.pipes.operators import var as var
from occurs.pipes.operators import window as window
from occurs.pipes.pipe import Constant as Constant
from occurs.pipes.pipe import Pipe as Pipe
from occurs.pipes.processors import *  # noqa: F403
from occurs.pipes.programs import Named as Named
from occurs.pipes.programs import program as program
from occurs.pipes.running import END as END
from occurs.pipes.running import MAYBE as MAYBE
from occurs.pipes.running import NO as NO
from occurs.pipes.running import YES as YES
