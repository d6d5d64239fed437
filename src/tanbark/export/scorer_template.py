"""A Bayesian network classifier without dependencies, written by Tanbark.

predict(row) and predict_proba(row) take a dict from column names to values; None, NaN and absent names are
missing values, which are marginalised exactly. As a program: python this_file.py < rows.csv > predictions.csv
"""

import array
import base64
import bisect
import csv
import math
import re
import sys
import zlib
from itertools import product

# the model goes here
COLUMNS, LABELS, AXES, TABLES, CHILDREN, EXPONENTS, TEMPERATURE = [], [], [], [], [], None, 1.0
CORRECTION, BASE_TEMPERATURE = None, 1.0
# end of the model
TARGET = len(COLUMNS) - 1
SIZES = [column["size"] for column in COLUMNS]
TOO_MANY = "Too many values are missing to sum them out exactly: fill some of them in."


def encode(row):
    """Return the states of a row by column number, without missing values and values not seen in training."""
    states = {}
    for place, column in enumerate(COLUMNS[:-1]):
        value = row.get(column["name"])
        first = int(column["missing_state"])
        if "written" in column and isinstance(value, str):
            value = read_number(value, *column["written"])
        if value is None or value != value:
            if first:
                states[place] = 0
        elif column["kind"] == "interval":
            number = float(value)
            if math.isinf(number):
                raise ValueError("Column %r holds infinity, which lies in no interval." % column["name"])
            states[place] = first + bisect.bisect_left(column["cuts"], number)
        else:
            for code, level in enumerate(column["levels"]):
                if level == value and isinstance(level, str) == isinstance(value, str):
                    states[place] = first + code
                    break
    return states


def read_number(text, mark, *removed):
    """Read a number such as "$1,234.50"; None where the text is none."""
    for piece in removed:
        text = text.replace(piece, "") if piece else text
    text = text.strip().replace(mark, ".")
    return float(text) if re.fullmatch(r"[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?", text) else None


def unpack(kind, text):
    """Read packed numbers; kind is a type code of the module array."""
    values = array.array(kind, zlib.decompress(base64.b64decode(text)))
    if sys.byteorder == "big":
        values.byteswap()
    return values


def add_correction(families, known, change):
    """Add the corrections of all families; of a family, the columns before the first missing one count."""
    for begin, end in zip(families["spans"], families["spans"][1:]):
        root = context = families["firsts"][begin]
        for entry in range(begin, end):
            state = known.get(families["columns"][entry])
            if state is None:
                break
            place = (context - families["firsts"][entry]) * families["states"][entry] + state
            deeper = families["children"][families["starts"][entry] + place]
            if deeper < 0:
                break
            context = deeper
        if context > root:
            for label in range(len(LABELS)):
                change[label] += families["sums"][context * len(LABELS) + label]


# prediction begins
if CORRECTION:
    CORRECTION = {_key: unpack(*_value) for _key, _value in CORRECTION.items()}


def predict_proba(row):
    """Return the probability of every label."""
    states = encode(row)
    scores = log_joint(states)
    if max(scores) == -math.inf:  # the row has probability 0 under every class: use the prior
        scores = log_joint({})
    if CORRECTION:
        scores = correct(scores, states)
    elif TEMPERATURE != 1.0:  # the exponent of P(observed values | label)
        prior = [0.0 if score == -math.inf else score for score in log_joint({})]
        scores = [TEMPERATURE * score + (1.0 - TEMPERATURE) * p for score, p in zip(scores, prior)]
    top = max(scores)
    values = [math.exp(score - top) for score in scores]
    total = sum(values)
    return {label: value / total for label, value in zip(LABELS, values)}


def correct(scores, states):
    """Return the corrected logits; the correction counts with the fraction of the families that are complete."""
    change, columns = [0.0] * len(LABELS), CORRECTION["columns"]
    add_correction(CORRECTION, states, change)
    spans = zip(CORRECTION["spans"], CORRECTION["spans"][1:])
    whole = [all(column in states for column in columns[begin:end]) for begin, end in spans]
    fraction = sum(whole) / len(whole) if whole else 1.0
    power = fraction * TEMPERATURE + (1.0 - fraction) * BASE_TEMPERATURE
    return [
        prior + power * (score - prior) + fraction * more for prior, score, more in zip(log_joint({}), scores, change)
    ]


def log_joint(states):
    """Return log P(label, observed values) for every label, up to a constant of the row."""
    needed = [node for node in range(len(COLUMNS)) if node not in barren(states)]
    missing = {node for node in needed if node != TARGET and node not in states}
    open_nodes = [node for node in needed if missing.intersection(AXES[node])]
    if open_nodes and EXPONENTS is not None:
        raise ValueError("A value is missing that another column depends on, and the CPTs are weighted: fill it in.")
    found = []
    for label in range(len(LABELS)):
        known = dict(states)
        known[TARGET] = label
        score = sum(log_entry(node, known) for node in needed if node not in open_nodes)
        found.append(score + (eliminate([restrict(node, known) for node in open_nodes], SIZES) if open_nodes else 0.0))
    return found


def barren(states):
    """Return the barren nodes: missing, not the class, and without an observed descendant."""
    out = set()
    changed = True
    while changed:
        changed = False
        for node in range(len(COLUMNS)):
            if node not in out and node != TARGET and node not in states and out.issuperset(CHILDREN[node]):
                out.add(node)
                changed = True
    return out


def log_entry(node, known):
    """Look up the logarithm of a family's probability, all of whose states are known."""
    value = TABLES[node][position(node, known)]
    power = 1.0 if EXPONENTS is None else EXPONENTS[node]
    return 0.0 if power == 0.0 else power * math.log(value) if value > 0.0 else -math.inf


def position(node, known):
    """Return the place of a combination of states in a node's flat table."""
    place = 0
    for axis in AXES[node]:
        place = place * COLUMNS[axis]["size"] + known[axis]
    return place


def restrict(node, known):
    """Return a family as a factor over its missing columns: (columns, values by their states)."""
    free = tuple(axis for axis in AXES[node] if axis not in known)
    values = {}
    for states in product(*(range(COLUMNS[axis]["size"]) for axis in free)):
        values[states] = TABLES[node][position(node, {**known, **dict(zip(free, states))})]
    return free, values


# prediction ends
def predict(row):
    """Return the most probable label; ties go to the first."""
    values = predict_proba(row)
    return max(LABELS, key=lambda label: values[label])


def eliminate(factors, column_sizes, most=math.inf):
    """Eliminate all columns from a product of factors, the smallest table first; return the logarithm."""
    scale = 0.0
    while True:
        names = {axis for free, _ in factors for axis in free}
        if not names:
            break
        neighbours = {name: {axis for free, _ in factors if name in free for axis in free} for name in names}
        sizes = {name: math.prod(column_sizes[axis] for axis in neighbours[name]) for name in names}
        name = min(sorted(names), key=sizes.__getitem__)
        if sizes[name] > most:
            raise ValueError(TOO_MANY)
        joined = [factor for factor in factors if name in factor[0]]
        factors = [factor for factor in factors if name not in factor[0]]
        free = tuple(sorted(neighbours[name] - {name}))
        values = {}
        for states in product(*(range(column_sizes[axis]) for axis in free)):
            known = dict(zip(free, states))
            total = 0.0
            for state in range(column_sizes[name]):
                known[name] = state
                term = 1.0
                for inner, table in joined:
                    term *= table[tuple(known[axis] for axis in inner)]
                total += term
            values[states] = total
        top = max(values.values())
        if top <= 0.0:
            return -math.inf
        scale += math.log(top)
        factors.append((free, {states: value / top for states, value in values.items()}))
    for _, values in factors:
        if values[()] <= 0.0:
            return -math.inf
        scale += math.log(values[()])
    return scale


def parse(text, column):
    """Read a cell of CSV as a value of its column; an empty cell is missing."""
    if text in ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "?"):
        return None
    if column["values"] == "number" and "written" not in column:
        return float(text)
    if column["values"] == "boolean":
        return {"true": True, "false": False, "1": True, "0": False}.get(text.lower(), text)
    return text


def main():
    """Read CSV from standard input and write the predictions as CSV to standard output."""
    known = {column["name"]: column for column in COLUMNS[:-1]}
    output = csv.writer(sys.stdout, lineterminator="\n")
    name = COLUMNS[TARGET]["name"]
    output.writerow([name] + ["P(%s=%s)" % (name, label) for label in LABELS])
    for line in csv.DictReader(sys.stdin):
        values = predict_proba({key: parse(line[key], column) for key, column in known.items() if line.get(key)})
        best = max(LABELS, key=lambda label: values[label])
        output.writerow([best] + [values[label] for label in LABELS])


if __name__ == "__main__":
    main()
