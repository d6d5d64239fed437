"""Files of other programs: exact round trips, hostile names, and damaged files that name their line."""

import contextlib
import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanbark as tb
from networks import asia, five_nodes
from strategies import make_network, seeds
from tanbark.export import FORMATS, bif, net, uai, xmlbif
from tanbark.graph import Dag
from tanbark.graph import Network as Net
from tanbark.table import Column, Schema

NAMED = {"bif": bif, "xmlbif": xmlbif, "net": net}
names = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=8)
awkward = st.sampled_from(
    ["", " ", "a b", 'say "hi"', "it's", "back\\slash", "table", "variable", "node", "ünïcödé", "名前", "<b>&amp;",
     "a,b", "a|b", "{x}", "(y)", "a;b", "// no", "/* no */", "% no", "1", "-1", "line\nend", "tab\tin", "\r",
     "]]>", "true", "data", "\N{PILE OF POO}", " edge ", "a=b", "\u2028", "\x85", "\ufeff", "\\n", "node_1", "default"]
)  # fmt: skip


def same(left, right, *, named=True):
    """Compare two networks to the last bit."""
    if named:
        assert left.schema == right.schema
        assert [type(s) for c in left.schema.columns for s in c.levels] == [
            type(s) for c in right.schema.columns for s in c.levels
        ]
    assert left.dag.parents == right.dag.parents
    for mine, other in zip(left.tables, right.tables, strict=True):
        assert np.array_equal(mine, other)


@pytest.mark.parametrize("form", list(NAMED))
@given(seeds, st.integers(1, 6), st.booleans())
@settings(max_examples=25)
def test_random_networks_come_back_to_the_last_bit(form, seed, n_features, zeros):
    network = make_network(np.random.default_rng(seed), n_features=n_features, zeros=zeros)
    same(network, NAMED[form].loads(NAMED[form].dumps(network)))


@given(seeds, st.integers(1, 6), st.booleans())
@settings(max_examples=25)
def test_uai_keeps_all_but_the_names(seed, n_features, zeros):
    network = make_network(np.random.default_rng(seed), n_features=n_features, zeros=zeros)
    plain = Net(Schema(network.schema.columns, has_class=False), network.dag, network.tables)
    read = uai.loads(uai.dumps(network))
    same(read, uai.loads(uai.dumps(read)))
    assert read.dag.parents == plain.dag.parents
    rng = np.random.default_rng(seed)
    row = {k: int(rng.integers(r)) for k, r in enumerate(network.schema.cardinalities)}
    theirs = read.probability_of_evidence({f"x{k}": code for k, code in row.items()})
    ours = network.probability_of_evidence({network.dag.names[k]: code for k, code in row.items()})
    assert theirs == pytest.approx(ours, rel=1e-12)


@pytest.mark.parametrize("form", list(NAMED))
@given(
    st.lists(names | awkward, min_size=3, max_size=3, unique=True),
    st.lists(names | awkward, min_size=2, max_size=4, unique=True),
)
@settings(max_examples=60)
def test_hostile_names_survive(form, variables, states):
    a, b, c = variables
    spread = np.full(len(states), 1 / len(states))
    tables = {a: spread, b: ((a,), [spread] * len(states)), c: ((b, a), [[[0.25, 0.75]] * len(states)] * len(states))}
    network = tb.Network.from_tables({a: states, b: states, c: [False, True]}, tables)
    same(network, NAMED[form].loads(NAMED[form].dumps(network)))


@pytest.mark.parametrize("form", list(NAMED))
def test_types_cuts_and_the_class_survive(form):
    columns = (
        Column("age", "interval", "number", cuts=(18.0, 65.123456789012345)),
        Column("number", "category", "number", (1, 2.5, -3)),
        Column("flag", "category", "boolean", (False, True)),
        Column("never"),
        Column("class", "category", "text", ("1", "2")),
    )
    tables = (np.full((3, 2), 1 / 3), np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.9]), np.ones(1), np.array([0.4, 0.6]))
    dag = Dag.from_arcs([("class", "age")], [column.name for column in columns])
    network = Net(Schema(columns), dag, tables)
    same(network, NAMED[form].loads(NAMED[form].dumps(network)))
    alike = tb.Network.from_tables({"A": [1, "1"]}, {"A": [0.5, 0.5]})
    with pytest.raises(tb.errors.InputError, match="would call '1'"):
        NAMED[form].dumps(alike)


@pytest.mark.parametrize("name", ["net.bif", "net.xml", "net.net", "net.xdsl", "net.uai", "NET.BIF", "net.bif.gz"])
def test_files_by_their_suffix(tmp_path, name):
    network = asia()
    tb.export.write_network(network, tmp_path / name)
    same(network, tb.export.read_network(tmp_path / name), named="uai" not in name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    if name.endswith("gz"):
        assert gzip.decompress((tmp_path / name).read_bytes()).startswith(b"network")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "net.bif"
    tb.export.write_network(asia(), path)
    before = path.read_bytes()
    with pytest.raises(tb.errors.InputError, match="half of a character"):
        tb.export.write_network(tb.Network.from_tables({"\ud800": [0, 1]}, {"\ud800": [0.5, 0.5]}), path, format="dot")
    assert path.read_bytes() == before
    with pytest.raises(FileNotFoundError, match="no directory"):
        tb.export.write_network(asia(), tmp_path / "none" / "net.bif")
    with pytest.raises(tb.errors.InputError, match="control character"):
        tb.export.write_network(tb.Network.from_tables({"\x01": [0, 1]}, {"\x01": [0.5, 0.5]}), tmp_path / "net.xml")
    assert [p.name for p in tmp_path.iterdir()] == ["net.bif"]


def test_formats_that_cannot_be_told(tmp_path):
    with pytest.raises(tb.errors.OptionError, match="suffix"):
        tb.export.write_network(asia(), tmp_path / "network")
    with pytest.raises(tb.errors.OptionError, match="Did you mean 'bif'"):
        tb.export.write_network(asia(), tmp_path / "network", format="biff")
    tb.export.write_network(asia(), tmp_path / "network", format="net")
    same(asia(), tb.export.read_network(tmp_path / "network", format="net"))
    tb.export.write_network(five_nodes(), tmp_path / "graph.dot")
    assert "n0 -> n1;" in (tmp_path / "graph.dot").read_text()
    with pytest.raises(tb.errors.OptionError, match="only be written"):
        tb.export.read_network(tmp_path / "graph.dot")
    assert set(FORMATS) == {"bif", "xmlbif", "net", "xdsl", "uai", "dot", "svg"}


TWO = """variable A { type discrete [ 2 ] { a, b }; }
variable B { type discrete [ 2 ] { a, b }; }
"""
TWO_NODES = 'node A { states = ("a" "b"); }\nnode B { states = ("a" "b"); }\n'
XML = """<BIF><VARIABLE><NAME>A</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME></VARIABLE>
<VARIABLE><NAME>B</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME></VARIABLE>
<DEFINITION><FOR>A</FOR><TABLE>.5 .5</TABLE></DEFINITION>
<DEFINITION>"""
WIDE = "".join(f"variable V{k} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for k in range(40))
HEAD = "network n {\n}\nvariable A {\n  type discrete [ 2 ] { a, b };\n}\n"
DAMAGED = [
    ("bif", HEAD + "probability ( A ) {\n  table 0.5, half;\n}\n", "line 7: expected a number, got 'half'"),
    ("bif", HEAD + "probability ( A ) {\n  table 0.5;\n}\n", "line 7: the CPT of 'A' must have 2 numbers, got 1"),
    ("bif", HEAD + "probability ( A ) {\n  table 0.5, 0.4;\n}\n", "line 7: .* must sum to 1; they sum to 0.9"),
    ("bif", HEAD + "probability ( AA ) {\n", "line 6: there is no variable 'AA'. Did you mean 'A'"),
    ("bif", HEAD + "probability ( A | A ) {\n", "line 6: the parents of 'A' must be different"),
    ("bif", HEAD, "line 3: the variable 'A' has no probability block"),
    ("bif", HEAD + "variable A {\n", "line 6: the variable 'A' is declared twice"),
    ("bif", "variable A {\n type discrete [ 3 ] { a, b };\n}", "line 2: expected 3 states, got 2"),
    ("bif", "variable A {\n type continuous;\n}", "line 2: expected 'discrete', got 'continuous'"),
    ("bif", "variable A {\n type discrete [ 2 ] { a, a };\n}", "line 1: The states of 'A' must be different"),
    ("bif", 'variable "A {\n', "line 1: expected a name"),
    ("bif", HEAD + "probability ( A ) {\n  table 0.5, 0.5;\n", "line 8: expected 'table', .* got the end of the file"),
    ("bif", "hello", "line 1: expected 'network', 'variable' or 'probability', got 'hello'"),
    ("bif", HEAD + "probability ( A ) {\n  table nan, 1;\n}\n", "line 7: .* must hold probabilities"),
    ("bif", HEAD + "probability ( A ) {\n  table 1.5, -0.5;\n}\n", "line 7: .* must hold probabilities"),
    ("bif", TWO + "probability ( A ) { table 1, 0; }\nprobability ( B | A ) {\n(a) 1, 0;\n}", "line 4: .* no entry"),
    ("bif", TWO + "probability ( B | A ) {\n(a) 1, 0;\n(c) 1, 0;\n}", "line 5: 'A' has no state 'c'"),
    ("bif", TWO + "probability ( B | A ) {\n(a) 1, 0;\n(b) 1, 1;\n}", "line 5: .* must sum to 1"),
    ("bif", TWO + "probability ( B | A ) {\ndefault 1, 1;\n}", "line 4: .* must sum to 1"),
    ("bif", TWO + "probability ( B |\nC\n) {\n", "line 4: there is no variable 'C'"),
    ("bif", TWO + "probability ( A | B ) { default 1, 0; }\nprobability ( B | A ) { default 1, 0; }", "line 4: .* cyc"),
    ("bif", TWO + "probability ( A ) { table 1, 0; }\nprobability ( A ) { table 1, 0; }", "line 4: .* two prob"),
    ("bif", WIDE + f"probability ( V0 | {', '.join(f'V{k}' for k in range(1, 40))} ) {{", "line 41: .* would have"),
    ("net", TWO_NODES + "potential (A | B)\n{ }\npotential (B | A)\n{ }", "line 5: the graph has a cycle"),
    ("net", TWO_NODES + "potential (A |\nC\n) { }", "line 4: there is no variable 'C'"),
    ("net", TWO_NODES + "potential (A | A) { }", "line 3: the parents of 'A' must be different"),
    ("net", TWO_NODES + "potential (A)\n{\n data = (0.5 -0.6);\n}", "line 5: .* must hold probabilities"),
    ("net", TWO_NODES + "potential (A) { }\npotential (A) { }", "line 4: the node 'A' has two potentials"),
    ("net", 'node A { states = ("a" "a"); }', "line 1: The states of 'A' must be different"),
    ("net", TWO_NODES + "node A { }", "line 3: the variable 'A' is declared twice"),
    ("net", TWO_NODES + "hello", "line 3: expected 'net', 'node' or 'potential', got 'hello'"),
    ("net", "net\n{\n}\nnode A\n{\n states = (\"a\" \"b\";\n", "line 6"),
    ("net", "node A {\n}\n", "line 1: the node 'A' has no states"),
    ("net", 'node A { states = ("a" "b"); }\npotential (A)\n{ data = (0.5 x); }', "line 3: expected a number, got 'x'"),
    ("net", 'node A { states = ("a" "b"); }\npotential (A)\n{ data = (0.5); }', "line 3: .* must have 2 numbers"),
    ("net", 'node A { states = ("a" "b"); }\n', "line 1: the node 'A' has no potential"),
    ("net", "utility U\n{\n}", "line 1: 'utility' is not supported"),
    ("uai", "MARKOV\n1\n", "line 1: expected 'BAYES', got 'MARKOV'"),
    ("uai", "BAYES\n2\n2 2\n2\n1 0\n1 0\n", "line 6: expected the family of a variable that had none"),
    ("uai", "BAYES\n1\n2\n1\n1 3\n", "line 5: expected a variable below 1, got '3'"),
    ("uai", "BAYES\n1\n2\n1\n1 0\n\n2\n0.5 0.5 0.5", "line 8: expected the end of the file"),
    ("uai", "BAYES\n1\n2\n1\n1 0\n\n2\n0.5", "line 8: expected a number, got the end of the file"),
    ("uai", "", "line 1: expected 'BAYES', got the end of the file"),
    ("uai", "BAYES\ntwo\n", "line 2: expected the number of variables, got 'two'"),
    ("uai", "BAYES\n1\n0\n", "line 3: expected a number of states, got '0'"),
    ("uai", "BAYES\n1\n2\n2\n", "line 4: expected 1 tables"),
    ("uai", "BAYES\n1\n2\n1\n1 0\n\n3\n0 0 1", "line 7: the CPT of 'x0' must have 2 numbers, got 3"),
    ("uai", "BAYES\n1\n2\n1\n1 0\n\n2\n0.5 0.6", "line 7: .* must sum to 1"),
    ("uai", "BAYES\n1\n999999999\n1\n1 0\n\n2\n0.5 0.5", "line 7: .* must have 999,999,999 numbers, got 2"),
    ("uai", "BAYES\n2\n1 1\n2\n2 0 1\n2 1 0\n1 1\n1 1", "line 6: the graph has a cycle"),
    ("xmlbif", XML + "<FOR>B</FOR><TABLE>1</TABLE></DEFINITION></BIF>", "line 4: .* must have 2 numbers, got 1"),
    ("xmlbif", XML + "<FOR>B</FOR><TABLE>1 x</TABLE></DEFINITION></BIF>", "line 4: expected a number .* got 'x'"),
    ("xmlbif", XML + "<FOR>B</FOR><TABLE>1 1</TABLE></DEFINITION></BIF>", "line 4: .* must sum to 1"),
    ("xmlbif", XML + "<FOR>C</FOR><TABLE>1 0</TABLE></DEFINITION></BIF>", "line 4: there is no variable 'C'"),
    ("xmlbif", XML + "<FOR>A</FOR><TABLE>1 0</TABLE></DEFINITION></BIF>", "line 4: the variable 'A' has two definit"),
    ("xmlbif", XML + "<FOR>B</FOR><GIVEN>B</GIVEN><TABLE>1 0</TABLE></DEFINITION></BIF>", "line 4: the parents of"),
    ("xmlbif", XML + "<FOR>B</FOR></DEFINITION></BIF>", "line 4: expected one TABLE"),
    ("xmlbif", XML.replace(".5 .5", "1 0 1 0").replace("<FOR>A</FOR>", "<FOR>A</FOR><GIVEN>B</GIVEN>")
        + "<FOR>B</FOR><GIVEN>A</GIVEN><TABLE>1 0 1 0</TABLE></DEFINITION></BIF>", "line 4: .* cyc"),
    ("xmlbif", '<BIF>\n<VARIABLE TYPE="utility"><NAME>A</NAME></VARIABLE></BIF>', "line 2: .* type 'nature'"),
    ("xmlbif", "<BIF>\n<NETWORK>\n</BIF>", "line 3: expected well-formed XML"),
    ("xmlbif", "<BIF><NETWORK></NETWORK></BIF>", "expected at least one VARIABLE"),
    ("xmlbif", "<BIF>\n<VARIABLE><OUTCOME>a</OUTCOME></VARIABLE></BIF>", "line 2: expected one NAME"),
    ("xmlbif", "<BIF>\n<VARIABLE><NAME>A</NAME><OUTCOME>a</OUTCOME></VARIABLE></BIF>", "line 2: .* has no definition"),
    ("xmlbif", '<!DOCTYPE B [\n<!ENTITY a "b">\n]><BIF>&a;</BIF>', "line 2: the file declares an entity"),
    ("xmlbif", '<!DOCTYPE B [\n<!ENTITY a SYSTEM "file:///etc/hostname">\n]><BIF>&a;</BIF>', "declares an entity"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "text", "message"), DAMAGED)
def test_a_damaged_file_names_its_line(tmp_path, form, text, message):
    path = tmp_path / "damaged"
    path.write_text(text)
    with pytest.raises(tb.errors.ModelFileError, match=message) as caught:
        tb.export.read_network(path, format=form)
    assert str(path) in str(caught.value)


def test_an_encoding_that_there_is_not():
    text = xmlbif.dumps(five_nodes()).replace("UTF-8", "UTF-0")
    with pytest.raises(tb.errors.ModelFileError, match="line 1: expected text in UTF-8"):
        xmlbif.loads(text)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "net.bif"
    path.write_bytes(b"network n {\n\xff")
    with pytest.raises(tb.errors.ModelFileError, match="line 2: expected text in UTF-8"):
        tb.export.read_network(path)
    (tmp_path / "net.bif.gz").write_bytes(gzip.compress(b"network n {}")[:-6])
    with pytest.raises(tb.errors.ModelFileError, match="damaged"):
        tb.export.read_network(tmp_path / "net.bif.gz")


@pytest.mark.parametrize("form", ["bif", "net", "uai", "xmlbif"])
@given(st.data())
@settings(max_examples=60)
def test_no_damage_goes_by_another_error(form, data):
    text = FORMATS[form].dumps(five_nodes())
    at = data.draw(st.integers(0, len(text) - 1))
    cut = data.draw(st.integers(0, 8))
    put = data.draw(st.text('{}()"|;,0.5 -a\\<>&=', max_size=3))
    with contextlib.suppress(tb.errors.ModelFileError):
        FORMATS[form].loads(text[:at] + put + text[at + cut :])


def test_spellings_of_other_programs():
    spelt = """// a comment
network "Dog \\"Problem\\"" { property credal-set constant ; }
variable light { type discrete[2] { true, false }; property position = (218, 195) ; }
variable dog { type discrete[2] {yes, no}; }
probability ( light ) { table 0.6 0.4 ; }
probability ( dog | light ) { default 0.3 0.7; (true) 0.9, 0.1; }
"""
    network = bif.loads(spelt)
    assert network.table("dog").tolist() == [[0.9, 0.1], [0.3, 0.7]]
    flat = bif.loads(spelt.replace("default 0.3 0.7; (true) 0.9, 0.1;", "table 0.9, 0.3, 0.1, 0.7;"))
    assert flat.table("dog").tolist() == [[0.9, 0.1], [0.3, 0.7]]
    hugin = """net { node_size = (80 40); }
node light % a comment
{ label = "the light"; position = (10 20); states = ("true" "false"); }
node dog { states = ("yes" "no"); }
potential ( light | ) { data = ( 0.6 0.4 ); }
potential ( dog | light ) { data = (( 0.9 0.1 ) % true
                                    ( 0.3 0.7 )); % false
}
"""
    same(network, net.loads(hugin))
    weka = """<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>
<BIF VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3">
<NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>light</NAME><OUTCOME>true</OUTCOME><OUTCOME>false</OUTCOME>
<PROPERTY>position = (0,0)</PROPERTY></VARIABLE>
<VARIABLE TYPE="nature"><NAME>dog</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<DEFINITION><FOR>light</FOR><TABLE>0.6 0.4</TABLE></DEFINITION>
<DEFINITION><FOR>dog</FOR><GIVEN>light</GIVEN><TABLE> 0.9 0.1 <!-- true --> 0.3 0.7 </TABLE></DEFINITION>
</NETWORK></BIF>"""
    same(network, xmlbif.loads(weka))
    rounded = bif.loads(spelt.replace("0.6 0.4", "0.333 0.666"))
    assert rounded.table("light").sum() == pytest.approx(1, abs=1e-15)
