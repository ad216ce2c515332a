"""The fields of the tables that the search for row patterns shares with the code that fills them."""

from __future__ import annotations

#: operations of a search program
ROW, SPLIT, BEGIN, END, MATCH = range(5)
#: fields of an operation: what it is; of ROW the variable, where to go on, whether the row is left out of the output;
#: of SPLIT where to go first, where to go else, the memory of failures and the bit in it; of BEGIN, END where to go on
OP, ONE, TWO, THREE, FOUR = range(5)
CODE_FIELDS = 5
#: memories of failures: none, of one attempt, of the whole partition
NEVER, ATTEMPT, ALWAYS = range(3)

#: what a mask has for a variable at a row: its condition is false, true so far, undecided by an overflow, or depends on
#: rows that are not known yet
FALSE, TRUE, LOST, OPEN = range(4)

#: fields of a partition: its rows from where to before where, the first row to try, is it closed, is its first row the
#: first of the partition at all, the matches so far; and in the end the row that waits (behind the last one: none)
LOW, HIGH, START, CLOSED, WHOLE, NUMBER, WAITS = range(7)
PART_FIELDS = 7

#: fields of a variable: its mask (-1: none), its code from where to before where, the roles that its code reads from
#: where to before where, whether somebody else evaluates the rest of its condition, whether its bit says all, whether
#: what is known of the mapping changes with it
MASK, CODE_BEGIN, CODE_STOP, ROLE_BEGIN, ROLE_STOP, ASKS, PLAIN, CHANGES = range(8)
VARIABLE_FIELDS = 8
#: variables with smaller numbers have a bit per row
BITS = 16
#: fields of a use of a role: the role, its kind, its slot, how many rows before the last or after the first, how many
#: rows beyond it are read
ROLE, KIND, SLOT, OFFSET, AHEAD = range(5)
ROLE_FIELDS = 5
#: kinds of roles: the last row, the first row of a slot
LAST, FIRST = range(2)

#: fields of a running value: what it is, its slot, the column of the values it is made of (-1: rows are counted), its
#: column among the values that are read, are the values floats; of LEAST_BY and GREATEST_BY the column of which the
#: value is taken; of DISTINCT the column that has the row before with an equal value (-1: all values count)
AGGREGATE, OF_SLOT, FROM_COLUMN, TO_COLUMN, REAL, TAKEN, EARLIER = range(7)
AGGREGATE_FIELDS = 7
COUNT, MATCHES, SUM, AVERAGE, LEAST, LEAST_BY, GREATEST, GREATEST_BY = range(8)

#: skip to: past the last row, to the next row, to the first, to the last row of a set of variables
PAST, NEXT, TO_FIRST, TO_LAST = range(4)

#: fields of a match: its partition, first row, number of rows, where its variables begin, its number
PART, FROM, SIZE, LABELS, NR = range(5)
MATCH_FIELDS = 5
#: fields of a mapped row that matches share: its row, its label, the next one (-1: none), how many follow, itself too
N_ROW, N_LABEL, N_NEXT, N_SIZE = range(4)
NODE_FIELDS = 4
#: what became of a row: nothing, it is in a match, no match begins there and it is in none
FREE, COVERED, UNMATCHED = range(3)

#: registers of the search
(
    R_PART, R_FIRST, R_ROW, R_AT, R_TOP, R_TRAIL, R_USED, R_MATCHES, R_STEPS, R_BEGUN, R_ASKED, R_ANSWER, R_ENDED,
    R_ENDED_USED, R_CUT, R_EPOCH, R_TOTAL, R_KNOWN, R_NODES,
) = range(19)  # fmt: skip
REGISTERS = 19
#: how a run of the search ends: all is done; an array is full; a condition is asked for; SKIP TO a row that is not
#: there, to the first row; too many steps
FINISHED, FULL, ASKING, NO_ROW, SAME_ROW, TOO_LONG = range(6)
#: what is known of the rows of a slot: the last one, the first one, how many, and what was known before the last one
SLOT_LAST, SLOT_FIRST, SLOT_COUNT, SLOT_BEFORE = range(4)
SLOT_FIELDS = 4
#: of a running value: how many values, their sum, least or greatest as an int, whether that is not exact; of LEAST_BY
#: and GREATEST_BY the row, of DISTINCT the last row of the slot with the value of the row at hand, plus one (0: none)
RUN_COUNT, RUN_VALUE, RUN_LOST, RUN_ROW = range(4)
RUN_FIELDS = 4
