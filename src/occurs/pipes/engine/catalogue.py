"""All operators: the modules that register them."""

from occurs.pipes.engine import ops_choosing as ops_choosing
from occurs.pipes.engine import ops_collections as ops_collections
from occurs.pipes.engine import ops_documents as ops_documents
from occurs.pipes.engine import ops_formulas as ops_formulas
from occurs.pipes.engine import ops_functions as ops_functions
from occurs.pipes.engine import ops_inside as ops_inside
from occurs.pipes.engine import ops_machines as ops_machines
from occurs.pipes.engine import ops_running as ops_running
from occurs.pipes.engine import ops_signals as ops_signals
from occurs.pipes.engine import ops_slices as ops_slices
from occurs.pipes.engine import ops_windows as ops_windows
