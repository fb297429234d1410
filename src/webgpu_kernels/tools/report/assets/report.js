"use strict";
// Everything here adds to a page that can be read without it. Text of results is only ever set as text.
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const by = (id) => document.getElementById(id);
  root.classList.add("js");

  // Storage is refused to some pages that are opened from a disk: the theme then lasts as long as the page.
  const remembered = {
    get() { try { return localStorage.getItem("theme"); } catch { return null; } },
    set(theme) { try { localStorage.setItem("theme", theme); } catch { /* not kept */ } },
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  if (["light", "dark"].includes(remembered.get())) root.dataset.theme = remembered.get();

  function themes() {
    const button = by("theme");
    const show = () => button.setAttribute("aria-pressed", String(isDark()));
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      remembered.set(root.dataset.theme);
      show();
    });
    system.addEventListener("change", show);
    show();
  }

  // ---- filters -----------------------------------------------------------------------------------------------

  function filters() {
    const form = by("filters");
    const items = all("[data-item]").map((element) => ({
      element,
      data: element.dataset,
      cells: element.matches(".matrix tr") ? all("td", element) : null,
      tags: (element.dataset.tags || "").split(" "),
      variants: (element.dataset.variants || "").trim().split(" "),
      text: null,
    }));
    const heads = new Map(all(".matrix").map((table) => [table, all("thead th", table).slice(1).map((head) => head.dataset.v)]));
    for (const item of items) if (item.cells) item.columns = heads.get(item.element.closest("table"));
    const links = all(".plot a[href]");
    let pending = 0;

    const wanted = () => Object.fromEntries(new FormData(form));
    const textOf = (item) => (item.text ??= item.element.textContent.toLowerCase());
    const placed = (item, { run = "", package: name = "" }) =>
      (!run || item.data.run === run) && (!name || item.data.package === undefined || item.data.package === name);
    function matches(item, want) {
      if (!placed(item, want)) return false;
      if ("always" in item.data) return true;
      if (want.text && !textOf(item).includes(want.text.trim().toLowerCase())) return false;
      if (item.cells) return inMatrix(item, want);
      return (!want.outcome || item.tags.includes(want.outcome)) && (!want.variant || item.variants.includes(want.variant));
    }
    function inMatrix(item, { variant, outcome }) {
      let found = false;
      item.cells.forEach((cell, at) => {
        const button = cell.firstElementChild;
        const known = button !== null && button.classList.contains("c");
        const column = !variant || item.columns[at] === variant;
        const fits = known && column && (!outcome || button.classList.contains(outcome));
        found ||= fits;
        if (known) button.classList.toggle("dim", !fits && Boolean(outcome));
        cell.hidden = !column && item.columns[at] !== undefined;
      });
      return found || (!variant && !outcome);
    }
    function apply() {
      pending = 0;
      const want = wanted();
      const on = Object.values(want).some(Boolean);
      const counts = { cases: [0, 0], benchmarks: [0, 0] };
      const shown = new Set();
      for (const item of items) {
        const visible = matches(item, want);
        item.element.hidden = !visible;
        const kind = item.cells ? "cases" : item.element.matches(".bench") ? "benchmarks" : null;
        if (kind) counts[kind][1] += 1;
        if (kind && visible) counts[kind][0] += 1;
        if (kind === "benchmarks" && visible) shown.add(`#${item.element.id}`);
      }
      for (const [table, columns] of heads) {
        all("thead th", table).slice(1).forEach((head, at) => {
          head.hidden = Boolean(want.variant) && columns[at] !== undefined && columns[at] !== want.variant;
        });
        table.closest("[data-block]").hidden = !table.querySelector("tbody tr:not([hidden])");
      }
      for (const link of links) link.style.display = shown.has(link.getAttribute("href")) ? "" : "none";
      for (const list of all(".list")) {
        const none = !list.querySelector(":scope > li:not([hidden])");
        list.hidden = none;
        list.previousElementSibling.hidden = none;
      }
      for (const note of all(".nothing")) note.hidden = Boolean(note.parentElement.querySelector(":is(tr, .bench)[data-item]:not([hidden])"));
      by("shown").textContent = on
        ? Object.entries(counts).filter(([, [, of]]) => of).map(([what, [some, of]]) => `${some.toLocaleString("en")} of ${of.toLocaleString("en")} ${what}`).join(", ")
        : "";
      document.dispatchEvent(new Event("filtered"));
    }
    const soon = () => { pending ||= requestAnimationFrame(apply); };
    form.addEventListener("input", soon);
    form.addEventListener("reset", () => setTimeout(apply));
    form.addEventListener("submit", (event) => event.preventDefault());
    if (matchMedia("(max-width: 40rem)").matches) form.querySelector("details").open = false;
    // A browser that restores a form restores what it filters, too.
    if (Object.values(wanted()).some(Boolean)) apply();
  }

  // ---- order -------------------------------------------------------------------------------------------------

  const names = new Intl.Collator("en", { numeric: true });
  function arrange(body, key, descending) {
    const rows = [...body.rows].map((row, at) => [key(row), at, row]);
    const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : names.compare(String(a), String(b)));
    rows.sort(([a, i], [b, j]) => {
      // What has no value stands last, whichever way.
      if (a === "" || b === "") return (a === "") - (b === "") || i - j;
      return (descending ? -compare(a, b) : compare(a, b)) || i - j;
    });
    body.append(...rows.map(([, , row]) => row));
  }
  function sorting() {
    for (const button of all(".sort")) {
      button.addEventListener("click", () => {
        const head = button.closest("th");
        const descending = head.getAttribute("aria-sort") === "ascending";
        for (const other of all("th", head.parentElement)) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        arrange(head.closest("table").tBodies[0], (row) => {
          const { v } = row.cells[head.cellIndex].dataset;
          return v === undefined ? row.cells[head.cellIndex].textContent.trim() : v === "" ? "" : Number(v);
        }, descending);
      });
    }
    for (const table of all(".matrix")) [...table.tBodies[0].rows].forEach((row, at) => { row.dataset.at = at; });
    by("order")?.addEventListener("change", ({ target }) => {
      const keys = { "": (row) => Number(row.dataset.at), name: (row) => row.cells[0].textContent, rank: (row) => Number(row.dataset.rank) };
      for (const table of all(".matrix")) {
        if (target.value === "rank") arrange(table.tBodies[0], keys[""], false);
        arrange(table.tBodies[0], keys[target.value], false);
      }
      document.dispatchEvent(new Event("filtered"));
    });
  }

  // ---- the matrix: one stop of Tab, arrows inside ----------------------------------------------------------------

  function matrix() {
    for (const table of all(".matrix")) {
      const enter = () => {
        const cells = all("button.c", table);
        const open = (cell) => !cell.closest("tr").hidden && !cell.closest("td").hidden;
        const stop = cells.find((cell) => cell.tabIndex === 0 && open(cell)) ?? cells.find(open);
        for (const cell of cells) cell.tabIndex = cell === stop ? 0 : -1;
      };
      enter();
      document.addEventListener("filtered", enter);
      table.addEventListener("keydown", (event) => {
        const cell = event.target.closest("button.c");
        const next = cell && neighbour(cell, event.key);
        if (!next) return;
        event.preventDefault();
        cell.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      });
      table.addEventListener("click", ({ target }) => {
        const cell = target.closest("button.c");
        if (!cell) return;
        for (const other of all('button.c[tabindex="0"]', table)) other.tabIndex = -1;
        cell.tabIndex = 0;
        tell(cell.dataset.i);
      });
    }
  }
  function neighbour(cell, key) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-1, 0, true], End: [1, 0, true] }[key];
    if (!step) return null;
    const [across, down, far] = step;
    const at = (row, column) => { const found = row?.cells[column]?.querySelector("button.c"); return found && !found.closest("td").hidden ? found : null; };
    let row = cell.closest("tr");
    let column = cell.closest("td").cellIndex;
    let found = null;
    if (across) {
      for (column += across; row.cells[column]; column += across) { found = at(row, column) ?? found; if (found && !far) break; }
      return found;
    }
    do { row = down > 0 ? row.nextElementSibling : row.previousElementSibling; found = row && !row.hidden ? at(row, column) : null; } while (row && !found);
    return found;
  }

  // ---- what a cell knows -----------------------------------------------------------------------------------------

  let data = null;
  function node(tag, text, className = "") {
    const made = document.createElement(tag);
    if (text !== null) made.textContent = text;
    if (className) made.className = className;
    return made;
  }
  function facts(pairs) {
    const list = node("dl", null, "facts");
    for (const [heading, words, code] of pairs) {
      const line = node("div", null);
      const told = node("dd", code ? null : words);
      if (code) told.append(node("code", words));
      line.append(node("dt", heading), told);
      list.append(line);
    }
    return list;
  }
  function tell(index) {
    data ??= JSON.parse(by("data").textContent);
    const [run, name, title, request, variant, chosen, outcome, reason, error, seconds, worst, command] = data.cells[index];
    by("detail-title").textContent = title;
    const known = [
      ["outcome", outcome],
      ["reason", reason],
      ["error of what is allowed", error],
      ["variant", (variant || "none") + (chosen ? ", chosen" : "")],
      ["package", name],
      ["device", data.runs.length > 1 ? data.runs[run] : null],
      ["time", seconds],
      ["request", request, true],
    ].filter(([, words]) => words);
    const body = by("detail-body");
    body.replaceChildren(facts(known));
    if (worst.length) body.append(facts(worst.map(([heading, words], at) => [at ? heading : "worst element", words, true])));
    const line = node("div", null, "command");
    const copy = node("button", "Copy");
    copy.type = "button";
    copy.addEventListener("click", () => copied(copy, line.firstChild, command));
    line.append(node("code", command), copy);
    body.append(line);
    by("detail").showModal();
    by("detail-title").focus();
  }
  async function copied(button, code, text) {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  }

  // ---- small things ----------------------------------------------------------------------------------------------

  function dialogs() {
    const dialog = by("detail");
    by("detail-close").addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  }
  function tips() {
    const tip = by("tip");
    const labelled = (target) => (target instanceof Element ? target.closest('.plot [role="graphics-symbol"][aria-roledescription="bar"], .plot [role="graphics-symbol"][aria-roledescription="point"], .plot a')?.closest("path, a") : null);
    const hide = () => { tip.hidden = true; };
    const show = (event) => {
      const mark = labelled(event.target);
      if (!mark) return hide();
      tip.textContent = (mark.matches("a") ? mark.querySelector("path") : mark).getAttribute("aria-label");
      tip.hidden = false;
      const box = mark.getBoundingClientRect();
      const left = Math.min(Math.max(8, box.left + box.width / 2 - tip.offsetWidth / 2), innerWidth - tip.offsetWidth - 8);
      const above = box.top - tip.offsetHeight - 6;
      tip.style.left = `${left}px`;
      tip.style.top = `${above > 4 ? above : box.bottom + 6}px`;
    };
    document.addEventListener("pointerover", show);
    document.addEventListener("focusin", show);
    document.addEventListener("focusout", hide);
    document.addEventListener("scroll", hide, { passive: true });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  }
  function folding() {
    for (const button of all("[data-unfold]")) {
      button.addEventListener("click", () => { for (const bench of all(".bench")) bench.open = Boolean(button.dataset.unfold); });
    }
    const reveal = () => {
      const target = by(location.hash.slice(1));
      if (!target?.matches("details")) return;
      target.open = true;
      target.scrollIntoView();
    };
    addEventListener("hashchange", reveal);
    // A second click on the same link changes no hash.
    document.addEventListener("click", ({ target }) => { if (target.closest?.('a[href^="#b"]')) setTimeout(reveal); });
    reveal();
    let folded = [];
    addEventListener("beforeprint", () => { folded = all("details:not([open])"); for (const one of folded) one.open = true; });
    addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const start of [themes, filters, sorting, matrix, dialogs, tips, folding]) start();
    root.dataset.ready = "";
  });
})();
