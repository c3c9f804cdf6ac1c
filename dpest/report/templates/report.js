"use strict";
// Sorting and folding. Everything is readable without this script.
const table = document.querySelector("table.summary");
const heads = table ? [...table.tHead.rows[0].cells] : [];
const key = (row, i) => row.cells[i].dataset.sort;
const compare = (a, b) => (isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b);
heads.forEach((head, i) => {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].sort((a, b) => (up ? 1 : -1) * compare(key(a, i), key(b, i)));
    table.tBodies[0].append(...rows);
  });
});
const folds = [...document.querySelectorAll("details.mechanism")];
const tools = document.querySelector(".tools");
if (folds.length > 1) {
  for (const [words, open] of [["Fold all", false], ["Open all", true]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", () => folds.forEach((fold) => { fold.open = open; }));
    tools.append(button, " ");
  }
}
// A link to a folded mechanism opens it; printing opens all.
const unfold = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const fold = target && target.querySelector("details.mechanism");
  if (fold) { fold.open = true; target.scrollIntoView(); }
};
addEventListener("hashchange", unfold);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((fold) => { fold.open = true; }));
unfold();
