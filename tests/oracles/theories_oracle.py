"""Whether a theory holds of one record, condition by condition, in plain Python.

A condition is ``(column, sign, value)``, its sign ``=``, ``<=``, ``>`` or ``in``. A clause is
``(conditions, units)``, a unit ``(table, conditions, negated)``.
"""

from __future__ import annotations


def satisfied(condition, row):
    column, sign, value = condition
    found = row[column]
    if sign == "=":
        return found == value
    if sign == "in":
        return found in value
    return found <= value if sign == "<=" else found > value


def clause_holds(clause, record, rows):
    """``rows`` are the record's rows of every table, as lists of dictionaries."""
    conditions, units = clause
    if not all(satisfied(condition, record) for condition in conditions):
        return False
    for table, wanted, negated in units:
        exists = False
        for row in rows[table]:
            if all(satisfied(condition, row) for condition in wanted):
                exists = True
        if exists == negated:
            return False
    return True


def theory_holds(clauses, record, rows):
    return any(clause_holds(clause, record, rows) for clause in clauses)


def every_record(clauses, frame, key, children):
    """:func:`theory_holds` of each row of a frame, in order."""
    rows = {name: {} for name in children}
    for name, table in children.items():
        for row in table.to_dict("records"):
            rows[name].setdefault(row[key], []).append(row)
    return [
        theory_holds(clauses, record, {name: rows[name].get(record[key], []) for name in children})
        for record in frame.to_dict("records")
    ]
