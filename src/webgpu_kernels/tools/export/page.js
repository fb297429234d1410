/* The exported page: shows the program, runs it, and holds what it gives against what is expected. */
"use strict";

(() => {
  const {program, shaders, data} = JSON.parse(document.getElementById("inlined").textContent);
  for (const step of program.passes) step.wgsl = shaders[step.shader];
  const SHOWN_ROWS = 8, SHOWN_COLUMNS = 8;
  const at = (id) => document.getElementById(id);
  let session = null;

  /* ---- building blocks ---- */

  function make(tag, properties = {}, ...children) {
    const {class: name, data: attributes, ...rest} = properties;
    const element = Object.assign(document.createElement(tag), rest);
    if (name) element.className = name;
    for (const [key, value] of Object.entries(attributes ?? {})) element.setAttribute(key, value);
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
  }

  function row(tag, cells, classes = []) {
    return make("tr", {}, cells.map((cell, index) => make(tag, {class: classes[index] ?? ""}, cell)));
  }

  function table(element, headings, rows, classes) {
    element.replaceChildren(
      make("thead", {}, row("th", headings, classes)),
      make("tbody", {}, rows.map((cells) => (cells instanceof Node ? cells : row("td", cells, classes)))),
    );
  }

  function sums(list, entries) {
    list.replaceChildren(...entries.map(([name, value, kind]) =>
      make("div", {class: kind ?? ""}, make("dt", {}, name), make("dd", {}, value))));
  }

  /* Lets a long name break where its words do. */
  function breakable(text) {
    return text.split(/(?<=\.)|(?=[A-Z][a-z])/).flatMap((part, index) => (index ? [make("wbr"), part] : [part]));
  }

  const bytesText = (count) => {
    const units = ["B", "KiB", "MiB", "GiB"];
    let unit = 0;
    while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit++; }
    return `${Number(count.toFixed(count < 100 ? 1 : 0))} ${units[unit]}`;
  };
  const timeText = (ns) => (ns >= 1e6 ? `${digits(ns / 1e6)} ms` : `${digits(ns / 1e3)} µs`);
  const digits = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
  const whole = (count) => count.toLocaleString("en");
  const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
  const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;
  const shapeText = (tensor) => `${tensor.dtype}[${tensor.shape.join(", ")}]`;

  /* Few digits, as for errors and tolerances. */
  function short(value) {
    if (!Number.isFinite(value) || value === 0 || Math.abs(value) >= 1e-3) return String(Number(value.toPrecision(4))).replace("Infinity", "∞");
    return String(Number(value.toPrecision(3)).toExponential());
  }

  function valueText(value) {
    if (typeof value === "bigint" || Number.isInteger(value)) return Object.is(value, -0) ? "-0" : String(value);
    if (!Number.isFinite(value)) return String(value).replace("Infinity", "∞");
    return Math.abs(value) < 1e-4 ? short(value) : String(Number(value.toPrecision(6)));
  }

  /* ---- the program ---- */

  function showProgram() {
    at("operator").replaceChildren(...breakable(program.operator ?? "A kernel"));
    at("variant").textContent = program.variant ?? "program";
    at("request").textContent = program.request ?? "";
    const total = (roles) => program.tensors.filter((one) => roles.includes(one.role)).reduce((sum, one) => sum + one.sizeBytes, 0);
    const scratch = program.scratch.reduce((sum, one) => sum + one.sizeBytes, 0);
    sums(at("sums"), [
      [program.passes.length === 1 ? "pass" : "passes", String(program.passes.length)],
      ["read", bytesText(total(["input", "inout"]))],
      ["written", bytesText(total(["output", "inout"]))],
      ...(scratch ? [["scratch", bytesText(scratch)]] : []),
    ]);
    const made = [program.madeBy && `Written by ${program.madeBy}`, program.package, program.revision].filter(Boolean);
    at("origin").textContent = `${made.join(" · ")}. Everything is in this file: it asks for nothing from any network.`;
    showBuffers();
    at("pass-list").replaceChildren(...program.passes.map(showPass));
    if (!program.passes.length) at("pass-list").append(make("p", {class: "quiet"}, "Every output is empty: nothing runs."));
  }

  function showBuffers() {
    const use = {u4: "two a byte", u8: "one a byte"};
    const rows = program.tensors.map((tensor) => [
      tensor.name, tensor.role === "inout" ? "in place" : tensor.role, shapeText(tensor),
      use[tensor.storedAs] ?? tensor.storedAs, bytesText(tensor.sizeBytes),
    ]);
    rows.push(...program.scratch.map((one) => [one.id, one.zeroInit ? "scratch, cleared" : "scratch", "", "", bytesText(one.sizeBytes)]));
    table(at("buffer-table"), ["name", "role", "elements", "stored as", "size"], rows, ["mono", "", "mono", "mono spare", "number"]);
  }

  function showPass(step, index) {
    const threads = step.grid.concat(step.workgroupSize).reduce((product, one) => product * one, 1);
    const bindings = make("table");
    table(bindings, ["binding", "variable", "type", "buffer", "bytes"], step.bindings.map((binding) => [
      `${binding.binding}  ${binding.type}`,
      binding.variable ?? binding.name,
      binding.wgslType ?? "",
      binding.source === "uniform" ? "uniform" : binding.name,
      binding.offset ? `${whole(binding.offset)} + ${whole(binding.size)}` : whole(binding.size),
    ]), ["mono", "mono", "mono", "mono", "number"]);
    const fields = step.bindings.flatMap((binding) => binding.struct?.fields ?? []).filter((field) => field.value !== undefined);
    const copy = make("button", {type: "button", onclick: () => copyText(step.wgsl, copy)}, "Copy");
    return make("details", {id: `pass-${index}`, open: index === 0 && program.passes.length === 1},
      make("summary", {},
        make("h3", {}, step.id),
        make("span", {class: "quiet"}, `${step.grid.map(whole).join(" × ")} workgroups of ${step.workgroupSize.join(" × ")}, ${plural(threads, "thread")}`),
        make("span", {class: "time"}), make("span", {class: "share"})),
      make("div", {class: "inside"},
        make("h4", {}, "Bind group 0"), make("div", {class: "scroll", tabIndex: 0}, bindings),
        fields.length ? make("h4", {}, "Uniforms") : null,
        fields.length ? make("p", {class: "mono fields"}, fields.map((field) => make("span", {},
          make("span", {class: "quiet"}, `${field.name}: ${field.type} = `), String(field.value)))) : null,
        make("div", {class: "shader-head"}, make("h4", {}, step.shader), copy),
        shaderView(step.wgsl)));
  }

  async function copyText(text, button) {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }

  const KEYWORDS = /^(alias|break|case|const|const_assert|continue|continuing|default|diagnostic|discard|else|enable|false|fn|for|if|let|loop|override|requires|return|struct|switch|true|var|while)$/;
  const TYPES = /^(bool|[fiu](16|32)|vec[234][fiuh]?|mat[234]x[234][fh]?|array|atomic|ptr|storage|uniform|workgroup|private|function|read|write|read_write)$/;

  function shaderView(wgsl) {
    const pattern = /\/\/[^\n]*|\/\*[^]*?\*\/|@\w+|\b(?:0x[0-9a-fA-F]+|\d[\d.]*(?:e[+-]?\d+)?)[iufh]?\b|[A-Za-z_]\w*(?=\s*\()|[A-Za-z_]\w*/g;
    const pre = make("pre", {class: "shader", tabIndex: 0, data: {"aria-label": "WGSL"}});
    let line = make("span", {class: "line"});
    const add = (text, kind) => text.split("\n").forEach((part, index) => {
      if (index) { pre.append(line, ""); line = make("span", {class: "line"}); }
      if (part) line.append(kind ? make("span", {class: `t-${kind}`}, part) : part);
    });
    let done = 0;
    for (const found of wgsl.matchAll(pattern)) {
      const word = found[0];
      add(wgsl.slice(done, found.index));
      done = found.index + word.length;
      const called = /^\s*\(/.test(wgsl.slice(done, done + 8));
      add(word, word.startsWith("//") || word.startsWith("/*") ? "comment" : word.startsWith("@") ? "attribute"
        : /^\d/.test(word) ? "number" : KEYWORDS.test(word) ? "keyword" : TYPES.test(word) ? "type" : called ? "call" : null);
    }
    add(wgsl.slice(done).replace(/\n$/, ""));
    pre.append(line);
    return pre;
  }

  /* ---- the device ---- */

  async function openDevice() {
    if (session && !session.lost) return session;
    session = await WebGPUKernels.open();
    showDevice(session.facts);
    return session;
  }

  function showDevice(facts) {
    const info = facts.adapterInfo;
    const named = [info.description || info.device, info.vendor, info.architecture].filter(Boolean).join(" · ");
    const software = info.isFallbackAdapter ? " (in software)" : "";
    at("device-name").textContent = `${named || "A device that gives no name"}${software}`;
    const has = (name) => facts.features.includes(name);
    const {features, limits, subgroupMinSize} = program.requires;
    const rows = features.map((name) => [name, "needed", has(name) ? "there" : "lacking", has(name)]);
    for (const [name, asked] of Object.entries(limits)) {
      const available = facts.limits[name];
      rows.push([name, whole(asked), available === undefined ? "not said" : whole(available), !(asked > available)]);
    }
    if (subgroupMinSize) {
      const size = info.subgroupMinSize;
      rows.push(["subgroupMinSize", String(subgroupMinSize), String(size ?? "not said"), !(size < subgroupMinSize)]);
    }
    table(at("device-table"), ["feature or limit", "program needs", "device has"], rows.map(([name, asked, there, good]) =>
      row("td", [breakable(name), asked, there], ["mono name", "number", good ? "number" : "number lacking"])), ["", "number", "number"]);
    at("device-features").textContent = `Features that kernels may use: ${facts.features.join(", ") || "none"}.`;
    const lacking = rows.filter((one) => !one.at(-1)).map(([name]) => name);
    at("unfit").hidden = !lacking.length;
    at("unfit").textContent = `This device is not enough for the program: see ${lacking.join(", ")} under Device.`;
    const planned = program.planned?.adapterInfo ?? {};
    const other = ["subgroupMinSize", "subgroupMaxSize"].some((name) => planned[name] && info[name] && planned[name] !== info[name]);
    at("device-note").hidden = !other;
    at("device-note").textContent = `The program was planned for subgroups of ${planned.subgroupMinSize} to ${planned.subgroupMaxSize}; here they have ${info.subgroupMinSize} to ${info.subgroupMaxSize}. A shader that counts on its size may be wrong.`;
  }

  function showAbsent(message) {
    at("absent").replaceChildren(
      make("p", {}, make("strong", {}, `No WebGPU here: ${message}.`)),
      make("ul", {}, [
        "Chrome and Edge from 113 on have it on Windows, macOS and ChromeOS, and from 121 on under Android.",
        "Under Linux, Chrome may want chrome://flags/#enable-unsafe-webgpu, and Vulkan.",
        "Safari has it from version 26 on; Firefox from 141 on, first on Windows.",
        "A page opened from the disk is good enough; one from another machine needs https.",
      ].map((text) => make("li", {}, text))));
    at("absent").hidden = false;
    at("device-name").textContent = "There is none.";
    at("status").textContent = "The passes below can be read all the same.";
  }

  /* ---- data ---- */

  const recorded = () => Object.keys(data).length > 0;

  function showChoices() {
    if (recorded()) at("data").append(make("option", {value: "recorded"}, `In this file: ${program.example.description}`));
    at("data").append(make("option", {value: "drawn"}, "Drawn here, by a seed"));
    const update = () => { at("seed-label").hidden = at("data").value !== "drawn"; };
    at("data").addEventListener("change", update);
    update();
  }

  function inputsOf(choice, seed) {
    const needed = program.tensors.filter((tensor) => tensor.role !== "output");
    if (choice === "recorded") {
      return Object.fromEntries(needed.map((one) => [one.name, WebGPUKernels.fromBase64(data[program.example.inputs[one.name]])]));
    }
    return Object.fromEntries(needed.map((one, index) => [one.name, drawn(one, seed * 1000 + index)]));
  }

  /* Draws elements: normal for floats, within their bounds where they have any. */
  function drawn(tensor, seed) {
    let state = seed >>> 0;
    const uniform = () => {  // mulberry32
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
    const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
    const ranges = {int8: [-128, 127], uint8: [0, 255], int16: [-32768, 32767], bool: [0, 1], int4: [-8, 7], uint4: [0, 15], uint32: [0, 100]};
    const [least, most] = tensor.values ? [tensor.values.least, tensor.values.most] : ranges[tensor.dtype] ?? [-100, 100];
    const integer = () => least + Math.floor(uniform() * (most - least + 1));
    const one = tensor.dtype.startsWith("float") && !tensor.values ? normal : integer;
    return WebGPUKernels.encode(tensor, Array.from({length: WebGPUKernels.sizeOf(tensor)}, one));
  }

  /* ---- comparison ---- */

  function compare(got, expected, tolerance) {
    const result = {worst: 0, index: -1, wrong: [], counted: 0};
    for (let i = 0; i < got.length; i++) {
      const y = Number(got[i]), ref = Number(expected[i]);
      const same = Object.is(y, ref) || y === ref || (Number.isNaN(y) && Number.isNaN(ref));
      const difference = same ? 0 : Math.abs(y - ref);
      const error = Number.isNaN(difference) ? Infinity : difference;
      if (error > result.worst || result.index < 0) Object.assign(result, {worst: error, index: i});
      if (tolerance && error > tolerance.atol + tolerance.rtol * Math.abs(ref)) {
        result.counted++;
        if (result.wrong.length < 4096) result.wrong.push(i);
      }
    }
    return result;
  }

  function indexText(flat, shape) {
    const index = [];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      index.unshift(flat % shape[axis]);
      flat = Math.floor(flat / shape[axis]);
    }
    return `[${index.join(", ")}]`;
  }

  function unwritten(tensor, bytes) {
    if (!["f32", "i32", "u32"].includes(tensor.storedAs) || tensor.role !== "output") return 0;
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, WebGPUKernels.sizeOf(tensor));
    return words.reduce((count, word) => count + (word === WebGPUKernels.POISON), 0);
  }

  /* ---- running ---- */

  async function run() {
    const choice = at("data").value, repeat = Math.max(0, Math.min(1000, at("repeat").valueAsNumber || 0));
    const opened = await openDevice();
    say("Compiling…");
    const kernel = await opened.compile(program);
    say("Running…");
    const inputs = inputsOf(choice, at("seed").valueAsNumber || 0);
    const begin = performance.now();
    const first = await kernel.run(inputs);
    const wall = performance.now() - begin;
    const timed = repeat ? await kernel.run(inputs, {repeat, eachPass: true}) : {times: [], passTimes: {}};
    const verdicts = showOutputs(first.outputs, choice === "recorded" ? program.example?.expected ?? {} : {});
    showResults(verdicts, timed, wall, repeat);
    showTimes(timed.passTimes);
  }

  function showOutputs(outputs, expectedFiles) {
    const verdicts = [];
    at("outputs").replaceChildren(...program.tensors.filter((one) => one.role !== "input").map((tensor) => {
      const got = WebGPUKernels.decode(tensor, outputs[tensor.name]);
      const file = expectedFiles[tensor.name];
      const expected = file ? WebGPUKernels.decode(tensor, WebGPUKernels.fromBase64(data[file])) : null;
      const tolerance = program.example?.tolerance?.[tensor.name];
      const found = expected ? compare(got, expected, tolerance) : null;
      const missing = unwritten(tensor, outputs[tensor.name]);
      const verdict = missing || found?.counted ? "wrong" : found && tolerance ? "right" : null;
      verdicts.push({verdict, found});
      return make("div", {class: "output", data: {"data-output": tensor.name}},
        make("h3", {}, tensor.name, make("span", {class: "mono"}, shapeText(tensor)),
          verdict ? make("span", {class: `badge ${verdict === "right" ? "good" : "alarm"}`}, verdict) : null),
        make("p", {class: "quiet"}, facts(tensor, got, expected, found, tolerance, missing)),
        got.length ? make("div", {class: "scroll", tabIndex: 0}, valueTable(tensor, got, expected, found)) : null);
    }));
    return verdicts;
  }

  function facts(tensor, got, expected, found, tolerance, missing) {
    if (missing) return `${plural(missing, "element")} of ${whole(got.length)} not written.`;
    if (!got.length) return "It has no elements.";
    if (!found) return "No expected values for these data.";
    const place = indexText(found.index, tensor.shape), source = program.example.source ? ` (${program.example.source})` : "";
    if (!found.worst) return `Equal to the expected values${source} everywhere.`;
    const allowed = tolerance ? `; ${short(tolerance.atol)} + ${short(tolerance.rtol)} · |expected| is allowed` : "";
    const wrong = found.counted ? `${whole(found.counted)} of ${plural(got.length, "element")} wrong. ` : "";
    return `${wrong}Max error ${short(found.worst)} at ${place}: got ${valueText(got[found.index])}, expected ${valueText(expected[found.index])}${source}${allowed}.`;
  }

  function valueTable(tensor, got, expected, found) {
    const shape = tensor.shape.length ? tensor.shape : [1];
    const width = shape.at(-1), rows = got.length / width;
    const columns = Math.min(width, SHOWN_COLUMNS), wrong = new Set(found?.wrong);
    const label = (at) => `[${indexText(at * width, shape).slice(1, -1).split(", ").slice(0, -1).concat(":").join(", ")}]`;
    const body = Array.from({length: Math.min(rows, SHOWN_ROWS)}, (_, y) => make("tr", {},
      make("th", {data: {scope: "row"}}, label(y)),
      Array.from({length: columns}, (_, x) => {
        const flat = y * width + x;
        return make("td", {class: wrong.has(flat) ? "wrong" : "", title: expected ? `expected ${valueText(expected[flat])}` : ""}, valueText(got[flat]));
      }),
      width > columns ? make("td", {}, "…") : null));
    if (rows > SHOWN_ROWS) body.push(make("tr", {}, make("th", {}, "⋮")));
    return make("table", {class: "values"}, make("tbody", {}, body));
  }

  function showResults(verdicts, timed, wall, repeat) {
    const judged = verdicts.filter((one) => one.verdict), compared = verdicts.filter((one) => one.found);
    const wrong = judged.some((one) => one.verdict === "wrong");
    const worst = Math.max(...compared.map((one) => one.found.worst));
    const entries = [];
    if (judged.length) entries.push(["outputs", wrong ? "wrong" : "right", wrong ? "alarm" : "good"]);
    if (compared.length) entries.push(["max error", short(worst)]);
    if (timed.times.length) entries.push([`GPU time, median of ${timed.times.length}`, timeText(median(timed.times))]);
    entries.push(["first run, data sent and read", `${digits(wall)} ms`]);
    sums(at("results"), entries);
    at("results").hidden = false;
    const clock = session.facts.features.includes("timestamp-query") || !repeat ? "" : " The device has no timestamp queries, so there is no GPU time.";
    say(`Done.${clock}`);
  }

  function showTimes(passTimes) {
    const medians = program.passes.map((step) => (passTimes[step.id] ? median(passTimes[step.id]) : 0));
    const total = medians.reduce((sum, one) => sum + one, 0);
    program.passes.forEach((_, index) => {
      const head = at(`pass-${index}`).querySelector("summary");
      head.querySelector(".time").textContent = medians[index] ? timeText(medians[index]) : "";
      head.querySelector(".share").style.width = total ? `${(100 * medians[index]) / total}%` : "0";
    });
  }

  function showFailure(error) {
    at("results").hidden = true;
    at("outputs").replaceChildren();
    const messages = error.details?.messages ?? [];
    const index = program.passes.findIndex((step) => step.id === error.details?.pass);
    at("failure").replaceChildren(
      make("p", {}, make("strong", {}, index >= 0 ? `The browser refuses the shader of ${error.details.pass}.` : "It did not run.")),
      make("pre", {}, messages.length ? messages.map((one) => `${one.line}:${one.column} ${one.text}`).join("\n") : error.message));
    at("failure").hidden = false;
    say("Failed.");
    if (index < 0) return;
    at(`pass-${index}`).open = true;
    const lines = at(`pass-${index}`).querySelectorAll(".line");
    for (const message of messages) lines[message.line - 1]?.classList.add("blamed");
  }

  const say = (text) => { at("status").textContent = text; };

  at("controls").addEventListener("submit", async (event) => {
    event.preventDefault();
    if (at("go").disabled) return;
    at("go").disabled = true;
    at("failure").hidden = true;
    document.body.dataset.state = "running";
    try {
      await run();
      document.body.dataset.state = "done";
    } catch (error) {
      showFailure(error);
      document.body.dataset.state = "failed";
    } finally {
      at("go").disabled = false;
      at("go").focus({preventScroll: true});
    }
  });

  /* ---- theme ---- */

  const THEMES = ["auto", "light", "dark"], SIGNS = {auto: "◐", light: "☀", dark: "☾"};
  function setTheme(name) {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    at("theme").textContent = SIGNS[name];
    at("theme").setAttribute("aria-label", `Theme: ${name === "auto" ? "as the system" : name}. Change`);
    at("theme").dataset.name = name;
    try { localStorage.setItem("theme", name); } catch { /* the browser keeps nothing for files */ }
  }
  at("theme").addEventListener("click", () => setTheme(THEMES[(THEMES.indexOf(at("theme").dataset.name) + 1) % THEMES.length]));
  let kept = null;
  try { kept = localStorage.getItem("theme"); } catch { /* as above */ }
  setTheme(THEMES.includes(kept) ? kept : "auto");

  showProgram();
  showChoices();
  document.body.dataset.state = "opening";
  openDevice().then(
    () => { at("go").disabled = false; say("Ready."); document.body.dataset.state = "ready"; },
    (error) => {
      if (error.kind === "absent") showAbsent(error.message);
      else showFailure(error);
      document.body.dataset.state = "absent";
    },
  );
})();
