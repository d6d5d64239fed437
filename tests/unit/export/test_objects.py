"""Networks of networkx, pgmpy and pyAgrum: there and back, and the same posteriors from published networks."""

import gzip
import sys
import warnings
from importlib.resources import files
from importlib.util import find_spec

import numpy as np
import pytest
from pytest import approx

import tanbark as tb
from networks import alarm_sized, asia, five_nodes
from tanbark.export import bif

HAVE = {name: find_spec(name) is not None for name in ("networkx", "pgmpy", "pyagrum")}
needs_networkx = pytest.mark.skipif(not HAVE["networkx"], reason="networkx is not installed")
needs_pgmpy = pytest.mark.skipif(not HAVE["pgmpy"], reason="pgmpy is not installed")
needs_pyagrum = pytest.mark.skipif(not HAVE["pyagrum"], reason="pyagrum is not installed")
quietly = pytest.mark.filterwarnings("ignore")  # the other programs warn about themselves


def same(left, right):
    assert {c.name: c.states() for c in left.schema.columns} == {c.name: c.states() for c in right.schema.columns}
    assert sorted(left.dag.arcs()) == sorted(right.dag.arcs())
    for node, name in enumerate(left.dag.names):
        axes = [left.dag.names[axis] for axis in left.axes(node)]
        there = [right.dag.names[axis] for axis in right.axes(right.dag.index(name))]
        assert np.array_equal(left.tables[node], right.table(name).transpose([there.index(a) for a in axes]))


@needs_networkx
@pytest.mark.parametrize("make", [asia, five_nodes])
def test_networkx(make):
    network = make()
    graph = tb.export.to_networkx(network)
    assert sorted(graph.edges) == sorted(network.dag.arcs())
    same(network, tb.export.from_networkx(graph))
    del graph.nodes[network.dag.names[3]]["table"]
    with pytest.raises(tb.errors.InputError, match="must have 'states' and 'table'"):
        tb.export.from_networkx(graph)


@needs_networkx
def test_networkx_keeps_the_class():
    network = tb.NaiveBayes().fit([["a", 1], ["b", 0]], ["x", "y"]).network_
    assert tb.export.from_networkx(tb.export.to_networkx(network)).schema == network.schema


@needs_pgmpy
@quietly
@pytest.mark.parametrize("make", [asia, five_nodes])
def test_pgmpy(make):
    network = make()
    model = tb.export.to_pgmpy(network)
    assert model.check_model()
    same(network, tb.export.from_pgmpy(model))


@needs_pyagrum
@quietly
def test_pyagrum():
    network = asia()
    net = tb.export.to_pyagrum(network)
    same(network, tb.export.from_pyagrum(net))
    other = sys.modules["pyagrum"].fastBN("A[0,2]->B{3|5|9}->C{no|yes}")
    read = tb.export.from_pyagrum(other)
    assert [column.states() for column in read.schema.columns] == [(0, 1, 2), (3, 5, 9), ("no", "yes")]


@pytest.mark.parametrize("convert", [tb.export.to_networkx, tb.export.to_pgmpy, tb.export.to_pyagrum])
def test_a_package_that_is_not_installed_is_named(monkeypatch, convert):
    for name in ("networkx", "pgmpy", "pgmpy.models", "pgmpy.factors.discrete", "pyagrum"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(tb.errors.MissingPackageError, match="pip install"):
        convert(asia())


def questions(network, seed, n):
    """Random targets with evidence that can occur."""
    rng = np.random.default_rng(seed)
    rows = network.sample(n, random_state=seed).to_dict("records")
    names = network.dag.names
    for row in rows:
        chosen = [names[k] for k in rng.permutation(len(names))[: int(rng.integers(2, 10))]]
        yield chosen[0], {name: row[name] for name in chosen[1:]}


def published():
    """The networks that pgmpy brings along, written by other programs."""
    folder = files("pgmpy") / "utils" / "example_models"
    return {name: gzip.decompress((folder / f"{name}.bif.gz").read_bytes()).decode() for name in ("alarm", "asia")}


@pytest.fixture(params=["alarm", "asia", "random"])
def network(request, tmp_path):
    if request.param == "random":
        return alarm_sized(3)
    if not HAVE["pgmpy"]:
        pytest.skip("pgmpy, which brings the published networks along, is not installed")
    path = tmp_path / "published.bif"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path.write_text(published()[request.param])
    return tb.export.read_network(path)


@needs_pgmpy
@quietly
def test_posteriors_are_those_of_pgmpy(network):
    from pgmpy.inference import VariableElimination

    theirs = VariableElimination(tb.export.to_pgmpy(network))
    for target, evidence in questions(network, 1, 15):
        factor = theirs.query([target], evidence, show_progress=False)
        ours = network.query(target, evidence)
        assert [factor.get_value(**{target: state}) for state in ours.states[0]] == approx(ours.values, abs=1e-10)


@needs_pyagrum
@quietly
def test_posteriors_are_those_of_pyagrum(network):
    import pyagrum as gum

    net = tb.export.to_pyagrum(network)
    for target, evidence in questions(network, 2, 40):
        inference = gum.LazyPropagation(net)
        inference.setEvidence(evidence)
        inference.makeInference()
        assert network.query(target, evidence).values == approx(inference.posterior(target).toarray(), abs=1e-10)
        assert network.probability_of_evidence(evidence) == approx(inference.evidenceProbability(), rel=1e-9)


@needs_pgmpy
@quietly
def test_best_states_of_some_variables_are_those_of_pgmpy(network):
    from pgmpy.inference import VariableElimination

    theirs = VariableElimination(tb.export.to_pgmpy(network))
    for target, evidence in questions(network, 4, 6):
        wanted = sorted({target, *[name for name in network.dag.names if name not in evidence][:2]})
        best = theirs.map_query(wanted, evidence, show_progress=False)
        log_best = network.probability_of_evidence({**evidence, **best}, log=True)
        assert network.map(wanted, evidence).log_joint == approx(log_best, abs=1e-9)


@needs_pyagrum
@quietly
def test_best_states_of_some_variables_are_those_of_pyagrum(network):
    import pyagrum as gum

    net = tb.export.to_pyagrum(network)
    for target, evidence in questions(network, 5, 6):
        wanted = {target, *[name for name in network.dag.names if name not in evidence][:2]}
        inference = gum.LazyPropagation(net)
        inference.setEvidence(evidence)
        inference.addJointTarget(wanted)
        inference.makeInference()
        best = inference.jointPosterior(wanted).max()
        assert network.map(sorted(wanted), evidence).posterior == approx(best, rel=1e-9)


def small(name):
    """ASIA as published, or a network of our own of its size: small enough for every joint state to be looked at."""
    return five_nodes() if name == "own" else bif.loads(published()["asia"])


@needs_pgmpy
@quietly
@pytest.mark.parametrize("name", ["asia", "own"])
def test_most_probable_explanations_are_those_of_pgmpy(name):
    from pgmpy.inference import VariableElimination

    network = small(name)
    theirs = VariableElimination(tb.export.to_pgmpy(network))
    for _, evidence in questions(network, 6, 6):
        best = theirs.map_query([n for n in network.dag.names if n not in evidence], evidence, show_progress=False)
        log_best = network.probability_of_evidence({**evidence, **best}, log=True)
        assert network.mpe(evidence).log_joint == approx(log_best, abs=1e-9)


@needs_pgmpy
@needs_pyagrum
@quietly
@pytest.mark.parametrize("name", ["asia", "own"])
def test_most_probable_explanations_are_those_of_pyagrum(name):
    """By the product of all its tables, at the evidence: LazyPropagation.mpe fails there with 'Empty tensor'."""
    network = small(name)
    net = tb.export.to_pyagrum(network)
    joint = net.cpt(0)
    for node in sorted(net.nodes())[1:]:
        joint = joint * net.cpt(node)
    for _, evidence in questions(network, 7, 6):
        assert network.mpe(evidence).joint == approx(joint.extract(evidence).max(), rel=1e-9)


def best_joint(net, evidence):
    """Maximise the product of pyAgrum's tables at the evidence by its own arithmetic, variable by variable."""
    import pyagrum as gum

    tables = [net.cpt(node) for node in net.nodes()]
    for name, state in evidence.items():
        there = [float(label == state) for label in net.variable(name).labels()]
        tables.append(gum.Tensor().add(net.variable(name)).fillWith(there))
    best = 1.0
    while tables:
        around = {name: {n for t in tables if name in t.names for n in t.names} for name in sorted(net.names())}
        name = min((n for n in around if around[n]), key=lambda n: len(around[n]))
        chosen = [table for table in tables if name in table.names]
        tables = [table for table in tables if name not in table.names]
        product = chosen[0]
        for table in chosen[1:]:
            product = product * table
        if len(product.names) == 1:
            best *= product.max()
        else:
            tables.append(product.maxOut([name]))
    return best


@needs_pyagrum
@quietly
def test_most_probable_explanations_of_published_networks_are_those_of_pyagrum(network):
    net = tb.export.to_pyagrum(network)
    for _, evidence in questions(network, 8, 4):
        ours = network.mpe(evidence)
        assert ours.joint == approx(best_joint(net, evidence), rel=1e-9)
        assert network.probability_of_evidence({**evidence, **ours.states}) == approx(ours.joint, rel=1e-9)


@needs_pyagrum
@quietly
@pytest.mark.parametrize("suffix", ["bif", "net", "uai", "bifxml"])
def test_pyagrum_reads_what_we_write_and_we_what_it_writes(network, tmp_path, suffix):
    import pyagrum as gum

    ours, theirs = tmp_path / f"ours.{suffix}", tmp_path / f"theirs.{suffix}"
    tb.export.write_network(network, ours)
    read = gum.loadBN(str(ours))
    assert read.size() == len(network.dag.names)
    assert read.sizeArcs() == network.dag.n_arcs
    net = tb.export.to_pyagrum(network)
    gum.saveBN(net, str(theirs))
    back = tb.export.read_network(theirs)
    target = network.dag.names[0]
    if suffix != "uai":
        inference = gum.LazyPropagation(read)
        inference.makeInference()
        assert inference.posterior(target).toarray() == approx(network.query(target).values, abs=1e-5)
        assert back.query(target).values == approx(network.query(target).values, abs=1e-5)


@needs_pgmpy
@quietly
def test_pgmpy_reads_the_bif_that_we_write(tmp_path):
    from pgmpy.readwrite import BIFReader

    tb.export.write_network(asia(), tmp_path / "asia.bif")
    same(asia(), tb.export.from_pgmpy(BIFReader(str(tmp_path / "asia.bif")).get_model()))
