"""Learn: d-separation, elimination and changed CPTs against Python's."""

import numpy as np
import pytest

import tanbark as tb
from networks import asia
from pages import mixed_rows
from tanbark.explorer.data import page_data
from tanbark.graph.separation import reachable

pytestmark = pytest.mark.xdist_group("browser")


def random_network(seed, n=7):
    """Draw a network of n variables with two or three states and up to three parents."""
    rng = np.random.default_rng(seed)
    names = [f"v{k}" for k in range(n)]
    sizes = rng.integers(2, 4, n)
    states = {name: [f"s{s}" for s in range(size)] for name, size in zip(names, sizes, strict=True)}
    tables = {}
    for k, name in enumerate(names):
        parents = sorted(rng.choice(k, size=min(k, int(rng.integers(0, 4))), replace=False).tolist())
        shape = [sizes[p] for p in parents] + [sizes[k]]
        tables[name] = (tuple(names[p] for p in parents), rng.dirichlet(np.ones(sizes[k]), size=shape[:-1]))
    return tb.Network.from_tables(states, tables)


SEPARATED = """([data, questions]) => { const model = new tanbark.Model(data); return questions.map(([from, given]) => {
  const others = model.names.map((_, node) => node).filter((node) => node !== from && !given.includes(node));
  return { connected: [...tanbark.connectedTo(model, from, given)],
    open: others.filter((to) => { const { paths, whole } = tanbark.pathsBetween(model, from, to, given);
      if (!whole) throw new Error("not all paths"); return paths.some(({ open }) => open); }) }; }); }"""


def test_d_separation_is_that_of_python_and_of_the_paths(read):
    reader = read().open(asia())
    for seed in range(6):
        network = random_network(seed, n=6)
        rng = np.random.default_rng(seed)
        questions = []
        for _ in range(12):
            source, *given = rng.permutation(6)[: int(rng.integers(1, 5))].tolist()
            questions.append((source, given))
        told = reader.tab.evaluate(SEPARATED, [page_data(network), questions])
        for (source, given), answer in zip(questions, told, strict=True):
            expected = reachable(network.dag, [source], given) - {source, *given}
            assert set(answer["connected"]) == expected
            assert set(answer["open"]) == expected


def test_two_variables_and_what_is_known_are_chosen_in_the_drawing(read):
    network = asia()
    reader = read().open(network, view="teach")
    lesson = reader.tab.locator("#lesson-separation")
    place = {name: k for k, name in enumerate(network.dag.names)}

    def click(name):
        lesson.locator(f'.path-node[data-node="{place[name]}"]').click()

    def open_arcs():
        arcs = lesson.locator(".path-arc.open").evaluate_all("all => all.map((arc) => arc.dataset.arc)")
        return {tuple(network.dag.names[int(end)] for end in arc.split()) for arc in arcs}

    reader.tab.locator("#choose-again").click()
    click("smoke")
    click("tub")
    assert "smoke and tub are d-separated" in lesson.inner_text()
    assert "blocking" in lesson.locator(f'.path-node[data-node="{place["either"]}"]').get_attribute("class")
    assert open_arcs() == set()
    click("xray")
    assert "smoke and tub are d-connected given these" in lesson.inner_text()
    assert open_arcs() == {("smoke", "lung"), ("lung", "either"), ("tub", "either")}
    lesson.locator(f'.path-node[data-node="{place["xray"]}"]').press("Enter")
    assert "smoke and tub are d-separated" in lesson.inner_text()


def test_a_path_names_what_blocks_it(read):
    reader = read().open(asia(), view="teach")
    lesson = reader.tab.locator("#lesson-separation")
    lesson.get_by_label("First variable").select_option(label="smoke")
    lesson.get_by_label("Second variable").select_option(label="tub")
    assert "are d-separated" in lesson.inner_text()
    assert "either is a collider; neither it nor a descendant is known" in lesson.inner_text()
    lesson.get_by_label("Add a known variable").select_option(label="xray")
    assert "are d-connected given these" in lesson.inner_text()
    assert lesson.locator(".paths .open").count() == 1
    lesson.get_by_label("Add a known variable").select_option(label="lung")
    assert "lung is known, and blocks the chain" in lesson.inner_text()
    lesson.get_by_role("button", name="xray is not known").click()
    lesson.get_by_role("button", name="as in the case").click()
    assert "nothing" in lesson.inner_text()


@pytest.mark.parametrize("order", ["min-fill", "min-size", "columns"])
def test_elimination_ends_with_the_posterior(read, order):
    reader = read().open(asia())
    for seed in range(4):
        network = random_network(seed + 20)
        known = {"v1": "s1", "v5": "s0"} if seed else {}
        evidence = [1 if name == "v1" else 0 if name == "v5" else None for name in network.dag.names]
        found = reader.tab.evaluate(
            """([data, known, order]) => { const model = new tanbark.Model(data);
            const evidence = known.map((state, node) => (state === null ? null : model.observed(node, state)));
            return tanbark.eliminationSteps(model, 3, evidence, order); }""",
            [page_data(network), evidence if seed else [None] * 7, order],
        )
        assert found["probabilities"] == pytest.approx(np.asarray(network.query("v3", known)), abs=1e-12)
        summed = {step["node"] for step in found["steps"]}
        assert 3 not in summed
        assert all(step["made"]["entries"] * 2 <= step["entries"] for step in found["steps"])
        assert found["largest"] >= max((step["entries"] for step in found["steps"]), default=1)


def test_steps_are_shown_one_by_one(read):
    network = asia()
    reader = read().open(network, view="teach", target="dysp")
    place = reader.tab.locator("#elimination")
    steps = place.locator("tbody tr").count()
    assert steps == 6  # xray tells nothing where it is not known
    assert "P(dysp | known)" in place.inner_text()
    reader.tab.get_by_role("button", name="From the start").click()
    assert place.locator("tbody tr").count() == 0
    reader.tab.get_by_role("button", name="Next step").click()
    assert place.locator("tbody tr").count() == 1
    assert reader.tab.locator("#eliminated").count() == 0


def test_a_factor_that_is_too_large_stops_the_elimination(read):
    names = ["hub", *(f"v{k:02d}" for k in range(22))]
    tables = {"hub": [0.5, 0.5]} | {name: (("hub",), [[0.9, 0.1], [0.2, 0.8]]) for name in names[1:]}
    star = tb.Network.from_tables({name: ["a", "b"] for name in names}, tables)
    found = (
        read()
        .open(asia())
        .tab.evaluate(
            """(data) => { const model = new tanbark.Model(data); const soft = Float64Array.from([1, 0.5]);
        return ["columns", "min-fill"].map((order) =>
          tanbark.eliminationSteps(model, 1, model.sizes.map((_, node) => (node < 2 ? null : soft)), order)); }""",
            page_data(star),
        )
    )
    assert found[0]["stopped"] == {"node": 0, "entries": 2**23}
    assert found[1]["stopped"] is None
    assert sum(found[1]["probabilities"]) == pytest.approx(1)


def edited(network, name, table):
    """Return the network with another CPT, the states of its own variable last."""
    tables = {}
    for k, (node, values) in enumerate(zip(network.dag.names, network.tables, strict=True)):
        axes = network.axes(k)
        parents = tuple(network.dag.names[p] for p in axes if p != k)
        tables[node] = (parents, np.moveaxis(values, axes.index(k), -1))
    tables[name] = (tables[name][0], table)
    states = {column.name: list(column.states()) for column in network.schema.columns}
    return tb.Network.from_tables(states, tables)


def test_a_changed_cpt_changes_every_answer_until_it_is_put_back(read):
    network = asia()
    reader = read().open(network, view="teach", target="lung")
    before = reader.wait().posterior()
    lesson = reader.tab.locator("#lesson-tables")
    lesson.get_by_label("Variable whose CPT").select_option(label="lung")
    first = lesson.locator("tbody tr >> nth=0 >> input >> nth=0")
    first.fill("0.4")
    first.press("Enter")
    own = network.dag.index("lung")
    axis = network.axes(own).index(own)
    table = np.moveaxis(network.tables[own], axis, -1).copy()
    table[0] = [0.4, 0.6]
    changed = edited(network, "lung", table)
    assert dict(zip(network.schema.columns[own].states(), reader.wait().posterior(), strict=True)) == pytest.approx(
        dict(zip(changed.schema.columns[own].states(), np.asarray(changed.query("lung")), strict=True)), abs=1e-9
    )
    assert "no longer the model that was learnt" in reader.tab.inner_text("#edited")
    bits = reader.tab.evaluate("tanbark.app.bits")
    plain = reader.tab.evaluate(
        """(data) => { const model = new tanbark.Model(data);
        return tanbark.finish(tanbark.expectedInformation(model, model.target, model.nothing)); }""",
        page_data(changed, target="lung"),
    )
    assert bits == pytest.approx(plain, abs=1e-9)  # the worker has the changed CPT too
    first.fill("1.4")
    first.press("Enter")
    assert first.get_attribute("aria-invalid") == "true"
    reader.tab.locator("#edited").get_by_role("button", name="Back to the model").click()
    assert reader.wait().posterior() == pytest.approx(before, abs=1e-12)
    assert reader.tab.locator("#edited").count() == 0


def test_an_average_says_that_its_answer_is_more_than_one_network(read):
    X, y = mixed_rows(n=120)
    reader = read().open(tb.AODE().fit(X, y), view="teach")
    assert "not about the pooled or averaged ones" in reader.tab.inner_text("#view-teach")
    assert "would not change it" in reader.tab.inner_text("#lesson-tables")
