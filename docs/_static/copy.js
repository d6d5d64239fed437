/* A button on every block of code. It copies the input alone: without prompts and, where there are prompts, without output. */
"use strict";

function inputOf(pre) {
  const copy = pre.cloneNode(true);
  const prompted = copy.querySelector(".gp") !== null;
  copy.querySelectorAll(prompted ? ".gp, .go, .gt, .gr, .linenos" : ".linenos").forEach((part) => part.remove());
  const lines = copy.textContent.split("\n").map((line) => line.trimEnd());
  return lines.filter((line) => !prompted || line !== "").join("\n").trim() + "\n";
}

async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea"); // pages that are opened from a disk in older browsers
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

function addButton(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy this code");
  button.addEventListener("click", async () => {
    await toClipboard(inputOf(block.querySelector("pre")));
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  block.append(button);
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("div.highlight").forEach((block) => {
    if (block.closest(".highlight-text, .highlight-none") === null) addButton(block);
  });
});
