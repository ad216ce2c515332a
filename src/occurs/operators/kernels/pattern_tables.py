"""The numbers by which the machine of patterns names fields, kinds and registers (see :mod:`.pattern_machine`)."""

from __future__ import annotations

# kinds of nodes; from TIMERS on they are timers that are patterns on their own (see pattern_timers.py)
ATOM, FOLLOWED, EVERY, NOT, AND, OR, UNTIL, REPEAT, WITHIN, WHILE, TIMERS = range(11)

# fields of a node.  KIDS: its children in the table of children; POSITION: its number among its parent's.  INSTANT: may
# it report while it starts?  ABSENT: is it below a `not` or the end of an `until`?  The others:
#   ATOM: ONE its number among the atoms        FOLLOWED: ONE its limits in the table of limits, -1: none
#   EVERY: [ONE, TWO) its keys, THREE expiry or -1, FOUR: are they to be asked?
#   AND: ONE the set (bits) of children that are no `not`, TWO how many these are
#   UNTIL, REPEAT: ONE low, TWO high or -1, THREE: is it over at its high bound?  LENGTH: must these be asked for?
#   WITHIN: ONE ticks, TWO count or -1          WHILE: ONE its condition
#   INTERVAL: ONE ticks                         AT: ONE its number among the calendars, ZONE
#   SCHEDULE: ONE ticks, TWO count or -1, THREE: is its DATE the first instant?  FOUR: has it a DATE?
#   INTERVAL, SCHEDULE, WITHIN, EVERY with an expiry: if SHIFTED, YEARS, MONTHS, DAYS of local time of ZONE come before
#   its ticks.  LONGEST: ticks of an expiry at most.  LENGTH: must the length be asked for?  STAYS: is a timer due
#   again and again, directly below an `every`?
KIND, KIDS, N_KIDS, POSITION, INSTANT, ABSENT, ONE, TWO, THREE, FOUR = range(10)
SHIFTED, YEARS, MONTHS, DAYS, ZONE, LONGEST, LENGTH, DATE, STAYS = range(10, 19)
NODE_FIELDS = 19

# fields of an atom.  CLASS: 0 below a `not`, 1 below the end of an `until`, 2 others; [EQUALS, EQUALS_END) its keys:
# (own column, tag, column); CONDITION or -1; OWN_NODE: its node
CLASS, LEVEL, TAG, EQUALS, EQUALS_END, CONDITION, OWN_NODE = range(7)
ATOM_FIELDS = 7

# fields of a condition: its parts [.., ..) in the table of code ranges, the roles that it needs [.., ..), and whether
# it must be asked for
PARTS, PARTS_END, NEEDS, NEEDS_END, ASKS = range(5)
CONDITION_FIELDS = 5

#: low, times this, plus high + 1 (0: none)
NUMBERS = 2**32

# fields of an instance.  NODE -1: free.  NEXT, PREVIOUS: siblings.  HASH: of an atom's keys, or when its timer is DUE.
# QUEUE, QUEUE_BACK: neighbours in the chain of its hash (QUEUE_BACK -2: in none), or in its node's queue of timers.
# COUNT: trues so far; of a schedule: instants up to the one that is due; of `and`: children that are no `not` and still
# live; of every-distinct: how often all its keys were forgotten.  MASK: of `and`: children that have a true; of
# `until` and `[n]` whose bounds were asked for: both (NUMBERS).
# STORED, STORED_END: its stored trues.  FRESH: it is being started, by an `every`.  Behind them, if a pattern has
# limits: how many children of each step live.
NODE, PARENT, SERIAL, BINDING, FIRST, NEXT, PREVIOUS, DUE, QUEUE, QUEUE_BACK, COUNT, MASK = range(12)
STORED, STORED_END, FRESH = range(12, 15)
HASH = DUE
INSTANCE_FIELDS = 15

# fields of a bound event (a binding is the number of its last one, -1: none), and of a stored true
EVENT_TAG, EVENT, BEFORE = range(3)
STORED_POSITION, STORED_BINDING, STORED_NEXT = range(3)
# fields of an accepted key of every-distinct; its values follow.  EPOCH: the COUNT of its instance when it was accepted
KEY_INSTANCE, KEY_SERIAL, KEY_TIME, KEY_NEXT, KEY_KNOWN, KEY_EPOCH = range(6)
KEY_FIELDS = 6
# fields of a match: time, the row that completed it (-1: a timer); then an event per tag (-1: none; of a tag with a
# list where it begins), then the lengths of the lists
MATCH_TIME, MATCH_ROW = range(2)
MATCH_FIELDS = 2

# operations that wait on the stack: (operation, instance, its serial, binding, further)
NOTHING, START, TRUE, FALSE, SETTLED, JUDGE, DISTINCT = range(7)

# registers
(
    SERIALS,  # instances started so far
    USED,  # instances in the table, free ones too
    FREE,  # first free instance
    LIVE,
    BOUND,  # bound events in the table
    BOUND_LIMIT,  # collect garbage beyond
    KEPT,  # stored trues in the table, free ones too
    KEPT_FREE,
    STORED_LIVE,  # stored trues that are not free
    TOP,  # of the stack
    PICKED,  # number of filters that accept the event
    INFORMED,  # of these
    TOLD,  # filters that were informed in this call
    NEXT_EVENT,
    NOW,
    ROW,  # of the event at hand, -1: a timer
    PHASE,
    PICK_ATOM,
    PICK_INSTANCE,
    NEXT_DUE,  # no timer is due before
    WAITING,  # instances of atoms in chains
    KEYS_USED,
    MATCHES,
    MATCHES_MARK,  # matches before the event at hand
    LISTED,
    LATE,
    LATE_LISTED,
    STARTED,  # has the root been started?
    ASKED,  # what is asked for: a condition, or the node of an every-distinct
    ASKED_BINDING,
    ASKED_ROW,
    ANSWERED,  # is there an answer?
    ANSWER,
) = range(33)
REGISTERS = 33

# phases
CHOOSING, COLLECTING, INFORMING = range(3)
# how a run ends
FINISHED, ASKING, ASKING_KEYS, FULL, UNDECIDED, ASKING_LENGTH = range(6)

#: a bound that no instant reaches
NEVER = 2**63 - 1
