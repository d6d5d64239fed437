/* The same script is the page and its worker. */

const tanbark = {
  Model, Part, Tasks, Work, Found, JOBS, posterior, information, contributions, leaveOneOut, surprise, intervals, support, finish, readRow, codeValue,
  parseLines, writeScenario, readScenario, hardState, percent, expectedInformation, outcomes, sensitivity, counterfactual,
  columnStates, decide, predicted, ManyRows, connectedTo, pathsBetween, eliminationSteps,
};
if (typeof document === "undefined") serve(globalThis);
else {
  const started = performance.now();
  const script = document.currentScript.textContent;
  window.tanbark = tanbark;
  const holder = byId("model");
  tanbark.app = new App(JSON.parse(holder.textContent), holder.dataset.id);
  tanbark.app.script = script;
  tanbark.app.work.start(script, holder.textContent);
  tanbark.app.start();
  tanbark.opened = performance.now() - started;
}
