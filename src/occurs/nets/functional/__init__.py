"""The functional part of CPN ML: functions, ``case``, ``let``, multisets and the library that nets use."""
