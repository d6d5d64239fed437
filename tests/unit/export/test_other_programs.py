"""Files that we write are read by other programs, with the same posteriors; and files as they write them are read."""

import logging
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from tanbark.export import bif, net, xdsl
from tanbark.export.notation import words
from tanbark.export.xmlbif import spaced

gum = pytest.importorskip("pyagrum", reason="pyAgrum is one of the programs that must read our files")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    readwrite = pytest.importorskip("pgmpy.readwrite", reason="pgmpy is one of the programs that must read our files")
    from pgmpy.inference import VariableElimination

logging.getLogger("pgmpy").setLevel(logging.ERROR)
STATES = {
    "plain": ["u", "v"],
    "spaces": ["a b", "a  b"],
    "slashes": ["a/b", "a\\b"],
    "quotes": ['say "hi"', "it's"],
    "digits": ["1", "2"],
    "integers": [1, -2],
    "decimals": [1.5, -2.25],
    "unicode": ["ünï", "名前"],
    "marks": ["{a;b}", "(c), |d|"],
    "comments": ["// a", "% /* b"],
    "keywords": ["table", "default"],
    "truth": [False, True],
}
ENDING = {"bif": "bif", "xmlbif": "bifxml", "net": "net", "xdsl": "xdsl"}
READERS = {
    "bif": lambda path: readwrite.BIFReader(path), "xmlbif": lambda path: readwrite.XMLBIFReader(path),
    "net": lambda path: readwrite.NETReader(path), "xdsl": lambda path: readwrite.XDSLReader(path),
}  # fmt: skip


def make_network(learner=tb.TAN):
    """Variables with awkward names and states, the class among them, and one with intervals."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, (300, len(STATES))), rng.normal(size=300)])
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, 300)) > 1
    frame = {
        f"{kind} of {k}": np.array(states, object)[X[:, k].astype(int)]
        for k, (kind, states) in enumerate(STATES.items())
    }
    table = pd.DataFrame({**frame, "a number": X[:, -1] + 2 * y, "a number ": X[:, -1] - 3 * y})
    table.iloc[::9, 2] = None
    numbers = [name for name in frame if name.startswith(("integers", "decimals"))]
    model = learner(missing="category", categorical_features=numbers)
    return model.fit(table, pd.Series(y, name='the "class"')).network_


@pytest.fixture(scope="module")
def network():
    return make_network()


def posterior(network, node):
    """The distribution of the class given the last state of a variable."""
    column = network.schema.columns[node]
    return np.asarray(network.query(network.schema.names[-1], evidence={column.name: column.states()[-1]}))


# pyAgrum 3.3.1 takes the first parent of UAI and XDSL for the fastest; both formats, and pgmpy, have it as the slowest
@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")  # in pyAgrum, NumPy 2.5
@pytest.mark.parametrize("form", list(ENDING))
def test_pyagrum_reads_our_files_with_the_same_posteriors(network, tmp_path, form):
    path = tmp_path / f"network.{ENDING[form]}"
    network = make_network(tb.NaiveBayes) if form == "xdsl" else network
    tb.export.write_network(network, path, format=form)
    read = gum.loadBN(str(path))
    names = spaced(network.dag.names) if form == "xdsl" else written_names(network, form)  # it takes what GeNIe shows
    ids = [read.idFromName(name) for name in names]
    for node, column in enumerate(network.schema.columns):
        assert read.variable(ids[node]).domainSize() == column.n_states
    for node in range(len(network.schema.columns) - 1):
        inference = gum.LazyPropagation(read)
        inference.setEvidence({ids[node]: network.schema.cardinalities[node] - 1})
        inference.makeInference()
        assert inference.posterior(ids[-1]).toarray() == pytest.approx(posterior(network, node), abs=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", list(ENDING))
def test_pgmpy_reads_our_files_with_the_same_posteriors(network, tmp_path, form):
    path = tmp_path / f"network.{ENDING[form]}"
    tb.export.write_network(network, path, format=form)
    model = READERS[form](str(path)).get_model()
    names = written_names(network, form)
    solver = VariableElimination(model)
    for node in range(len(network.schema.columns) - 1):
        states = model.get_cpds(names[node]).state_names[names[node]]
        assert len(states) == network.schema.columns[node].n_states
        order = model.get_cpds(names[-1]).state_names[names[-1]]
        found = solver.query([names[-1]], evidence={names[node]: states[-1]}, show_progress=False)
        values = [found.get_value(**{names[-1]: state}) for state in order]
        assert values == pytest.approx(posterior(network, node), abs=1e-9)


def written_names(network, form):
    if form == "xdsl":
        return xdsl.identifiers(network.dag.names)
    return words(network.dag.names, {"bif": bif.KEYWORDS, "net": net.KEYWORDS}.get(form, set()), numbers=False)


@pytest.mark.parametrize("form", list(ENDING))
def test_our_files_come_back_as_they_were_with_the_state_of_missing_values(network, tmp_path, form):
    path = tmp_path / f"network.{ENDING[form]}"
    tb.export.write_network(network, path, format=form)
    read = tb.export.read_network(path, format=form)
    assert read.schema == network.schema
    assert any(column.missing_state for column in read.schema.columns)
    for ours, theirs in zip(network.tables, read.tables, strict=True):
        assert np.array_equal(ours, theirs)


def test_a_comment_may_follow_a_token_at_once():
    text = """network unknown {}
    variable A {// the first
      type discrete [2/* states */] { 1// "1"
        , 2/* "2" */ };
    }
    probability ( A ) { table 0.25, 0.75/**/; }"""
    assert bif.loads(text).schema.columns[0].levels == ("1", "2")


def test_potentials_of_net_files_need_not_be_normalised():
    text = 'node A { states = ("u" "v"); } potential (A) { data = (3 1); }'
    assert net.loads(text).tables[0].tolist() == [0.75, 0.25]


def test_rows_that_add_up_to_nearly_one_are_normalised():
    thirds = ", ".join(["0.3333333333"] * 3)
    text = f"variable A {{ type discrete [3] {{ u, v, w }}; }} probability (A) {{ table {thirds}; }}"
    assert bif.loads(text).tables[0].sum() == pytest.approx(1.0, abs=1e-15)


def test_files_of_genie_are_read():
    text = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="Network1" numsamples="1000" discsamples="10000">
  <nodes>
    <cpt id="Rain"><state id="no" /><state id="yes" /><probabilities>0.75 0.25</probabilities></cpt>
    <cpt id="Sprinkler" diagtype="observation">
      <state id="off" default="true" /><state id="on" /><state id="broken" />
      <parents>Rain</parents>
      <probabilities>0.5 0.25 0.25 0.875 0.125 0</probabilities>
    </cpt>
    <deterministic id="Wet">
      <state id="dry" /><state id="wet" /><parents>Rain Sprinkler</parents>
      <resultingstates>dry wet dry wet wet wet</resultingstates>
    </deterministic>
  </nodes>
  <extensions><genie version="1.0" name="Network1"><node id="Rain"><name>It rains</name></node></genie></extensions>
</smile>"""
    network = xdsl.loads(text)
    assert network.dag.arcs() == [("Rain", "Sprinkler"), ("Rain", "Wet"), ("Sprinkler", "Wet")]
    assert network.query("Wet").values.tolist() == [0.75 * 0.75, 1 - 0.75 * 0.75]
    for old, new, message in [
        ("<deterministic ", "<noisymax ", "line 10: a node of the kind 'noisymax' is not supported"),
        ("0.875 0.125 0<", "0.875 0.125<", "line 5: the CPT of 'Sprinkler' must have 6 numbers, got 5"),
        ("<parents>Rain<", "<parents>Rein<", "there is no variable 'Rein'. Did you mean 'Rain'"),
        ("dry wet dry", "dry damp dry", "there is no variable 'damp'"),
        ('<state id="no" />', "<state />", "line 4: expected an id of this state"),
        ("<smile", "<!DOCTYPE smile [<!ENTITY a 'b'>]><smile", "declares an entity"),
    ]:
        changed = text.replace(old, new)
        with pytest.raises(tb.errors.ModelFileError, match=re.escape(message)):
            xdsl.loads(changed.replace("</deterministic>", "</noisymax>") if "noisymax" in new else changed)
